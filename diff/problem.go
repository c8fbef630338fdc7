package diff

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Problem is a zone, deployment or token about which no change can be planned, or a
// deployment that is not in sync beside its changes: a declaration that has no effect,
// or live members on which the declaration does not decide.
type Problem struct {
	Account    string           `json:"account,omitempty"`
	Zone       string           `json:"zone,omitempty"`
	Scope      edge.Scope       `json:"zone_id,omitzero"`
	Kind       desired.KindName `json:"kind,omitempty"` // as in [ID]
	Deployment string           `json:"deployment,omitempty"`
	Token      string           `json:"token,omitempty"`
	State      ProblemState     `json:"state"`
	Reason     string           `json:"reason"`
	Hint       string           `json:"hint,omitempty"`
	Unmanaged  []Leftover       `json:"unmanaged,omitempty"` // live members on which nothing decides, where it is about them
	Origin     desired.Origin   `json:"origin"`

	// Lasts says that no other try helps: a person must act.
	Lasts bool `json:"-"`
	// Unfit says that the managed ruleset does not have what is declared. Another version may, which comes
	// by itself.
	Unfit bool `json:"-"`
	// Err is why something is unknown or forbidden, nil otherwise.
	Err error `json:"-"`
}

// ProblemState is the reason class of a [Problem].
type ProblemState string

// The states of a problem.
const (
	Unknown     ProblemState = "unknown"      // could not be read
	Forbidden   ProblemState = "forbidden"    // the credential may not read it: this zone, or its account
	NotDeployed ProblemState = "not_deployed" // the zone does not run the managed ruleset, and it is not to be deployed
	Blocked     ProblemState = "blocked"      // the declaration cannot be honoured by what is live
	Undecided   ProblemState = "undecided"    // live has what nothing declares; it stays until the declaration decides
	Bypassed    ProblemState = "bypassed"     // a skip rule keeps requests from a deployment, and nobody has accepted that
	Refused     ProblemState = "refused"      // a guard holds the whole plan back
	Quarantined ProblemState = "quarantined"  // a token may exist whose secret was lost
	NotRead     ProblemState = "not_read"     // a pull request names a zone that may not be read for it
	Undelivered ProblemState = "undelivered"  // a token exists and its secret waits for its sink
	// ChangedSince: what a revert would put back is not what was written any more.
	ChangedSince ProblemState = "changed_since"
)

// Words is the state as people say it.
func (s ProblemState) Words() string { return strings.ReplaceAll(string(s), "_", " ") }

// Unread reports whether what is live could not be read. Nothing may be concluded
// then, and another try may help: Seawall does not learn when a permission is given.
func (s ProblemState) Unread() bool { return s == Unknown || s == Forbidden }

// Unread reports whether it says that something could not be read.
func (p Problem) Unread() bool { return p.State.Unread() }

// About says what a problem is about.
func (p Problem) About() string {
	return cmp.Or(NameOf(p.Account, p.Zone, Called(p.Kind, p.Deployment), p.Token), "this commit")
}

// mostMembers is how many members a line names.
const mostMembers = 5

// Line is the reason in one line, with the names of the first members that it is about and
// without their values.
func (p Problem) Line() string {
	if len(p.Unmanaged) == 0 {
		return p.Reason
	}
	var names []string
	for _, l := range p.Unmanaged[:min(len(p.Unmanaged), mostMembers)] {
		if strings.Contains(p.Reason, string(l.Path)+" =") {
			continue
		}
		name := l.Path.Subject()
		if l.Note != "" {
			name += " (" + l.Note + ")"
		}
		names = append(names, name)
	}
	text := p.Reason
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	if more := len(p.Unmanaged) - mostMembers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// HintForeign is what a person can do about a refusal that is not the platform's own.
const HintForeign = "the answer is not the platform's: check platform.base_url, and the proxies and firewalls between Seawall and the platform"

// HintFor is what a person can do about a platform that did not answer.
func HintFor(err error) string {
	answer, ok := errors.AsType[*edge.Error](err)
	switch {
	case ok && answer.Foreign():
		return HintForeign
	case errors.Is(err, edge.ErrNotOffered):
		return "check platform.base_url, or --base-url: it is the part of the URL before the paths of the API"
	case errors.Is(err, edge.ErrForbidden):
		return "check what the credential may do, and from which addresses"
	case errors.Is(err, edge.ErrNotFound):
		return "check the id, and that the credential may see it"
	}
	return ""
}
