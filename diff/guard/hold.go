package guard

import "github.com/seawall-dev/seawall/diff"

// refuseHeld refuses every change to a zone that is held.
func refuseHeld(c diff.Change, f Facts) *diff.Refusal {
	if !diff.Counts(c.Level()) {
		return refuseUnknown(c)
	}
	h, held := diff.HoldOn(f.Holds, c.Zone, c.Scope)
	if !held {
		return nil
	}
	owner := "the zone"
	if _, account := c.Scope.Account(); account {
		owner = "the account"
	}
	guard, release := diff.GuardHold, "seawall hold release zone "+h.Zone
	if h.Reverted() {
		guard, release = diff.GuardReverted, "a commit that changes the zone, or "+release
	}
	return &diff.Refusal{Guard: guard, Reason: owner + " is " + h.String(), Release: release, Until: h.Until}
}
