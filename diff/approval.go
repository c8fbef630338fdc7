package diff

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// ApprovalDigest is what people approve: it stands for all that a plan would do
// and for what it has seen. Unlike Digest it does not depend on what is refused,
// nor on the clock; and it leaves out which commit asks, and on which line, so
// that an approval can itself be a commit, and one made on a pull request holds
// for the merge. The versions of the entry points are in it: after a write by
// somebody else it is another one.
func (p Plan) ApprovalDigest() string {
	type seen struct {
		Zone    edge.Scope
		Version string
	}
	versions := []seen{}
	for _, c := range p.Changes {
		if c.Sends() && c.Level() != edge.LevelCredential {
			versions = append(versions, seen{c.Scope, c.Operation.Seen()})
		}
	}
	slices.SortFunc(versions, func(a, b seen) int { return cmp.Or(a.Zone.Compare(b.Zone), cmp.Compare(a.Version, b.Version)) })
	return "sha256:" + words.Digest(struct {
		Changes string
		Seen    []seen
		Leaving []string `json:",omitempty"`
	}{ApprovalDigest(slices.DeleteFunc(slices.Clone(p.Changes), func(c Change) bool { return c.Do().Standby() })), slices.Compact(versions), p.departures()})
}

// departures are the digests of what leaves settings of the configuration.
func (p Plan) departures() (digests []string) {
	for _, l := range p.Leaving {
		digests = append(digests, l.Digest)
	}
	slices.Sort(digests)
	return digests
}

// ApprovalDigest stands for one change: what it is about, what it would send, and
// what that alters. It is what an approval of more than one change comes down to
// once some of them are applied.
func (c Change) ApprovalDigest() string { return ApprovalDigest([]Change{c}) }

// ApprovalDigest stands for changes together, in any order.
func ApprovalDigest(changes []Change) string {
	type operation struct {
		ID    ChangeID
		Print string
		Sink  *desired.Sink `json:",omitempty"` // of a creation: to whom the secret goes is what is agreed to
	}
	operations := []operation{}
	for _, c := range changes {
		if c.Sends() {
			operations = append(operations, operation{c.Key(), c.Fingerprint(), c.Operation.Agreed(c.Scope).Sink})
		}
	}
	slices.SortFunc(operations, func(a, b operation) int { return cmp.Compare(a.Print, b.Print) })
	return "sha256:" + words.Digest(operations)
}

// ChangeID tells the changes of one plan apart.
type ChangeID struct {
	Kind       desired.KindName
	Account    string
	Scope      edge.Scope `json:"ZoneID"` // as approvals have it
	Deployment string
	Token      string
	Action     Action
	Path       string
}

// Key tells a change from the others of its plan.
func (c Change) Key() ChangeID {
	path := ""
	if r := c.agreedOrNil(); r != nil {
		path = r.Path
	}
	return ChangeID{c.Kind, c.Account, c.Scope, c.Deployment, c.Token, c.Action(), path}
}
