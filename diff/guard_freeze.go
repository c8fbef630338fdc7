package diff

import "time"

// Freeze is a window in which nothing may change, seen from within.
type Freeze struct {
	Name   string
	Labels Labels // none: every zone, and tokens too
	// Until is the end of the window, or of the row of windows that it begins.
	Until time.Time
	// Strengthening lets changes pass that strengthen.
	Strengthening bool
	// Override says that a person may pass it, with a reason.
	Override bool
}

// refuseFrozen refuses changes to what is frozen, whatever asks for them. A
// rotation passes: it comes with time and not with a decision, and one that is
// held back ends in a token without successor.
func refuseFrozen(c Change, f Facts) *Refusal {
	if c.timely() {
		return nil
	}
	for _, freeze := range f.Freezes {
		if !f.selects(freeze.Labels, c) || freeze.Strengthening && c.Direction == Strengthens {
			continue
		}
		release := "the end of the window"
		if freeze.Override {
			release += ", or seawall apply --during-freeze REASON"
		}
		return &Refusal{
			Guard: "freeze", Reason: "freezes." + freeze.Name + " allows no change until " + instant(freeze.Until),
			Release: release, Until: freeze.Until,
		}
	}
	return nil
}
