package guard

import "github.com/seawall-dev/seawall/diff"

// refuseHeld refuses every change to a zone that is held.
func refuseHeld(c diff.Change, f Facts) *diff.Refusal {
	if c.Kind() != diff.KindDeployment {
		return nil
	}
	h, held := diff.HoldOn(f.Holds, c.Zone, c.ZoneID)
	if !held {
		return nil
	}
	release := "seawall hold release zone " + h.Zone
	if h.Reverted() {
		release = "a commit that changes the zone, or " + release
	}
	return &diff.Refusal{Guard: diff.GuardHold, Reason: "the zone is " + h.String(), Release: release, Until: h.Until}
}
