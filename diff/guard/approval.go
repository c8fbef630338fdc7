package guard

import (
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
)

// Approve says which changes need somebody's approval.
type Approve string

// What may need an approval; empty is nothing. A rotation that only renews a token
// never does: it was agreed to with that token.
const (
	ApproveWeakening Approve = "weakening"
	ApproveAll       Approve = "all"
)

func (a Approve) needs(c diff.Change) bool {
	switch {
	case timely(c):
		return false
	case a == ApproveAll:
		return true
	}
	return a == ApproveWeakening && c.Direction == diff.Weakens
}

// unapproved returns, of each rule that asks for approvals, the changes that need
// one.
func (f Facts) unapproved(changes []diff.Change) (without []heldBack) {
	for _, rule := range f.Rules {
		var need []diff.Change
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
		h.refusal.Guard = diff.GuardApproval
		h.refusal.Reason = "guards." + rule.Name + " requires approval of " + what + ", and this change is not approved"
		h.refusal.Release = "seawall apply --approve " + h.refusal.Digest
		without = append(without, h)
	}
	return without
}

// heldBack are the changes that one rule refuses together, and its refusal. A
// person who approves its digest has agreed to these changes, and to no others.
type heldBack struct {
	refusal diff.Refusal
	changes map[diff.ChangeID]bool
}

func holdBack(changes []diff.Change) heldBack {
	h := heldBack{diff.Refusal{Digest: diff.ApprovalDigest(changes)}, map[diff.ChangeID]bool{}}
	for _, c := range changes {
		h.changes[c.Key()] = true
	}
	return h
}

// heldBackBy is the guard that refuses what is held back, by the first that does.
func heldBackBy(all []heldBack) func(diff.Change) *diff.Refusal {
	return func(c diff.Change) *diff.Refusal {
		for _, h := range all {
			if h.changes[c.Key()] {
				refusal := h.refusal
				return &refusal
			}
		}
		return nil
	}
}

// asked returns what the rules hold back of the changes that would be sent and
// were not granted: limits first.
func (f Facts) asked(plan diff.Plan, granted map[diff.ChangeID]bool) []heldBack {
	if len(f.Rules) == 0 {
		return nil
	}
	var open []diff.Change
	for _, c := range plan.Changes {
		if c.Applies() && (len(granted) == 0 || !granted[c.Key()]) {
			open = append(open, c)
		}
	}
	return append(f.exceeded(open), f.unapproved(open)...)
}

// granted returns the changes that people have agreed to: with the whole plan, one
// by one, or together with all that a rule held back; and the digests by which
// they have. Agreed is agreed: an approval that one rule asked for counts for all
// of them.
func (f Facts) granted(plan diff.Plan) (granted map[diff.ChangeID]bool, by []string) {
	granted = map[diff.ChangeID]bool{}
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
	for _, l := range plan.Leaving {
		agree(l.Digest)
	}
	for _, c := range plan.Changes {
		if agree(c.ApprovalDigest()) || whole {
			granted[c.Key()] = true
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

// agreed is what leaves settings in a plan, with whether people have agreed to that: to the
// whole plan, or one by one.
func (f Facts) agreed(plan diff.Plan) []diff.Leaving {
	if len(plan.Leaving) == 0 || len(f.Approved) == 0 {
		return plan.Leaving
	}
	whole := f.Approved[plan.ApprovalDigest()]
	leaving := slices.Clone(plan.Leaving)
	for i, l := range leaving {
		leaving[i].Approved = whole || f.Approved[l.Digest]
	}
	return leaving
}

// Released are the facts once what was approved to leave settings has left them.
func (f Facts) Released(plan diff.Plan) Facts {
	cloned := false
	for _, l := range plan.Leaving {
		switch {
		case !l.Approved:
		case l.Scope.IsZero():
			f.Accounts = f.Accounts.rebound(l.Account)
		default:
			if !cloned {
				f.LabelsBefore, cloned = maps.Clone(f.LabelsBefore), true
			}
			delete(f.LabelsBefore, l.Scope)
		}
	}
	return f
}

// Worsened refuses a change that was planned anew, from what is live by now, and
// that weakens where the change that passed the guards did not, wherever a rule
// minds weakening: the next run judges it as a whole.
func (f Facts) Worsened(planned, now diff.Change) *diff.Refusal {
	if now.Direction != diff.Weakens || planned.Direction == diff.Weakens {
		return nil
	}
	for _, rule := range f.Rules {
		if (rule.Weakening != nil || rule.Approve != "") && f.selects(rule.Labels, now) {
			return &diff.Refusal{
				Guard:   diff.GuardApproval,
				Reason:  "the live state has changed since the plan was made, and the change would now weaken; guards." + rule.Name + " applies to that",
				Release: "the next run, which makes a new plan",
			}
		}
	}
	return nil
}
