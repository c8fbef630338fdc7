package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Approve says which changes need somebody's approval.
type Approve string

// What may need an approval; empty is nothing. A rotation never does: it was
// agreed to with the declaration.
const (
	ApproveWeakening Approve = "weakening"
	ApproveAll       Approve = "all"
)

func (a Approve) needs(c Change) bool {
	switch {
	case c.timely():
		return false
	case a == ApproveAll:
		return true
	}
	return a == ApproveWeakening && c.Direction == Weakens
}

// unapproved returns, of each rule that asks for approvals, the changes that need
// one.
func (f Facts) unapproved(changes []Change) (without []heldBack) {
	for _, rule := range f.Rules {
		var need []Change
		for _, c := range changes {
			if rule.Approve.needs(c) && f.selects(rule.Labels, c) {
				need = append(need, c)
			}
		}
		if len(need) == 0 {
			continue
		}
		h := holdBack(need)
		what := "every change"
		if rule.Approve == ApproveWeakening {
			what = "changes that weaken"
		}
		h.refusal.Guard = "approval"
		h.refusal.Reason = "guards." + rule.Name + " requires approval of " + what + ", and this change is not approved"
		h.refusal.Release = "seawall apply --approve " + h.refusal.Digest
		without = append(without, h)
	}
	return without
}

// heldBack are the changes that one rule refuses together, and its refusal. A
// person who approves its digest has agreed to these changes, and to no others.
type heldBack struct {
	refusal Refusal
	changes map[changeID]bool
}

func holdBack(changes []Change) heldBack {
	h := heldBack{Refusal{Digest: approvalDigest(changes)}, map[changeID]bool{}}
	for _, c := range changes {
		h.changes[c.id()] = true
	}
	return h
}

// heldBackBy is the guard that refuses what is held back, by the first that does.
func heldBackBy(all []heldBack) func(Change) *Refusal {
	return func(c Change) *Refusal {
		for _, h := range all {
			if h.changes[c.id()] {
				refusal := h.refusal
				return &refusal
			}
		}
		return nil
	}
}

// asked returns what the rules hold back of the changes that would be sent and
// were not granted: limits first.
func (f Facts) asked(plan Plan, granted map[changeID]bool) []heldBack {
	if len(f.Rules) == 0 {
		return nil
	}
	var open []Change
	for _, c := range plan.Changes {
		if c.Applies() && !granted[c.id()] {
			open = append(open, c)
		}
	}
	return append(f.exceeded(open), f.unapproved(open)...)
}

// granted returns the changes that people have agreed to: with the whole plan, one
// by one, or together with all that a rule held back; and the digests by which
// they have. Agreed is agreed: an approval that one rule asked for counts for all
// of them.
func (f Facts) granted(plan Plan) (granted map[changeID]bool, by []string) {
	granted = map[changeID]bool{}
	if len(f.Approved) == 0 {
		return granted, nil
	}
	agree := func(digest string) bool {
		if !f.Approved[digest] {
			return false
		}
		by = append(by, digest)
		return true
	}
	whole := agree(plan.ApprovalDigest())
	for _, c := range plan.Changes {
		if agree(c.ApprovalDigest()) || whole {
			granted[c.id()] = true
		}
	}
	for more := true; more; {
		more = false
		for _, h := range f.asked(plan, granted) {
			if agree(h.refusal.Digest) {
				more = true
				maps.Copy(granted, h.changes)
			}
		}
	}
	slices.Sort(by)
	return granted, slices.Compact(by)
}

// Worsened refuses a change that was planned anew, from what is live by now, and
// that weakens where the change that passed the guards did not, wherever a rule
// minds weakening: the next run judges it as a whole.
func (f Facts) Worsened(planned, now Change) *Refusal {
	if now.Direction != Weakens || planned.Direction == Weakens {
		return nil
	}
	for _, rule := range f.Rules {
		if (rule.Weakening != nil || rule.Approve != "") && f.selects(rule.Labels, now) {
			return &Refusal{
				Guard:   "approval",
				Reason:  "the live state has changed since the plan was made, and the change would now weaken; guards." + rule.Name + " applies to that",
				Release: "the next run, which makes a new plan",
			}
		}
	}
	return nil
}

// ApprovalDigest is what people approve: it stands for all that a plan would do
// and for what it has seen. Unlike Digest it does not depend on what is refused,
// nor on the clock; and it leaves out which commit asks, and on which line, so
// that an approval can itself be a commit, and one made on a pull request holds
// for the merge. The versions of the entry points are in it: after a write by
// somebody else it is another one.
func (p Plan) ApprovalDigest() string {
	type seen struct {
		Zone    edge.ZoneID
		Version string
	}
	versions := []seen{}
	for _, c := range p.Changes {
		if c.Request != nil && c.Kind == KindDeployment {
			versions = append(versions, seen{c.ZoneID, c.Target.Version})
		}
	}
	slices.SortFunc(versions, func(a, b seen) int { return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Version, b.Version)) })
	return "sha256:" + fingerprint(struct {
		Changes string
		Seen    []seen
	}{approvalDigest(p.Changes), slices.Compact(versions)})
}

// ApprovalDigest stands for one change: what it is about, what it would send, and
// what that alters. It is what an approval of more than one change comes down to
// once some of them are applied.
func (c Change) ApprovalDigest() string { return approvalDigest([]Change{c}) }

func approvalDigest(changes []Change) string {
	type operation struct {
		ID    changeID
		Print string
		Sink  *desired.Sink `json:",omitempty"` // of a creation: to whom the secret goes is what is agreed to
	}
	operations := []operation{}
	for _, c := range changes {
		if c.Request != nil {
			o := operation{ID: c.id(), Print: c.Fingerprint()}
			if c.Creation != nil {
				o.Sink = c.Creation.Sink
			}
			operations = append(operations, o)
		}
	}
	slices.SortFunc(operations, func(a, b operation) int { return cmp.Compare(a.Print, b.Print) })
	return "sha256:" + fingerprint(operations)
}

// changeID tells the changes of one plan apart.
type changeID struct {
	Kind       Kind
	Account    string
	ZoneID     edge.ZoneID
	Deployment string
	Token      string
	Action     Action
	Path       string
}

func (c Change) id() changeID {
	id := changeID{c.Kind, c.Account, c.ZoneID, c.Deployment, c.Token, c.Action, ""}
	if c.Request != nil {
		id.Path = c.Request.Path
	}
	return id
}
