package guard

import (
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
)

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
// rotation passes that only renews a token; see timely.
func refuseFrozen(c diff.Change, f Facts) *diff.Refusal {
	if timely(c) {
		return nil
	}
	for _, freeze := range f.Freezes {
		if !f.selects(freeze.Labels, c) || freeze.Strengthening && c.Direction == diff.Strengthens {
			continue
		}
		release := "the end of the window"
		if freeze.Override {
			release += ", or seawall apply --during-freeze REASON"
		}
		return &diff.Refusal{
			Guard: diff.GuardFreeze, Reason: "freezes." + freeze.Name + " allows no change until " + words.Instant(freeze.Until),
			Release: release, Until: freeze.Until,
		}
	}
	return nil
}
