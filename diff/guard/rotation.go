package guard

import (
	"cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// timely reports whether a change comes with time alone: a token that renews the one
// before it was agreed to with that one, and a rotation that is late ends in a token
// without successor. What the plan calls the change does not count.
func timely(c diff.Change) bool { return c.Do().Timely() }

// renewed adds the rotations that a plan has ready for tokens of which something is held
// back: the token on record must not run out while a person decides. Where nothing of the
// token is held back the declaration is carried out instead.
func renewed(plan diff.Plan, f Facts) diff.Plan {
	ready := plan.Meanwhile
	plan.Meanwhile = nil
	for _, c := range ready {
		if timely(c) && heldBackOf(plan, c) {
			c.Refused = firstRefusal(c, f)
			plan.Changes = append(plan.Changes, c)
		}
	}
	if len(ready) > 0 {
		diff.SortChanges(plan.Changes)
	}
	return plan
}

// heldBackOf reports whether something that a plan would send about a token is refused.
func heldBackOf(plan diff.Plan, token diff.Change) bool {
	for _, c := range plan.Changes {
		if c.Level() == edge.LevelCredential && c.Token == token.Token && c.Sends() && c.Refused != nil {
			return true
		}
	}
	return false
}

// firstRefusal passes a rotation through the guards that may refuse one.
func firstRefusal(c diff.Change, f Facts) *diff.Refusal {
	return cmp.Or(refuseUnknown(c), refuseSenseless(c, f), refuseObserved(c, f), refuseHeld(c, f), refuseShrunk(f))
}
