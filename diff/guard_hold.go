package diff

import (
	"slices"
	"time"
)

// Hold keeps hands off a zone for a while: what differs is shown and not written.
type Hold struct {
	Zone   string    `json:"zone"` // its key, in any account
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
}

// String tells a hold to a person.
func (h Hold) String() string { return "held until " + instant(h.Until) + ": " + h.Reason }

// Active returns the holds that are not over.
func Active(holds []Hold, now time.Time) []Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return !now.Before(h.Until) })
}

func refuseHeld(c Change, f Facts) *Refusal {
	if c.Kind != KindDeployment {
		return nil
	}
	for _, h := range f.Holds {
		if h.Zone == c.Zone {
			return &Refusal{Guard: "hold", Reason: "the zone is " + h.String(), Release: "seawall hold release zone " + h.Zone, Until: h.Until}
		}
	}
	return nil
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
