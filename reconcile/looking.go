package reconcile

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Looking says where skip rules are looked for that may turn deployments off, beside the entry
// points that are read anyway and what accounts have. The zero value looks nowhere.
type Looking struct {
	Phases []edge.Phase // of zones
	// Every is how often the daemon looks at them in a zone; zero is with each sweep. Plan and
	// apply look each time.
	Every time.Duration
}

// At are the phases that are looked at in a zone: where it declares no deployment nothing can
// be turned off, and of what an account deploys itself the account's own are known.
func (l Looking) At(zone desired.Zone) []edge.Phase {
	if zone.Scope.Level == edge.LevelAccount || len(zone.Deployments) == 0 {
		return nil
	}
	return l.Phases
}

// PerSweep is the part of all looks that is made in a sweep of an interval.
func (l Looking) PerSweep(interval time.Duration) float64 {
	if interval <= 0 || interval >= l.Every {
		return 1
	}
	return float64(interval) / float64(l.Every)
}

// Requests is how many requests that adds to a sweep of a state, on average.
func (l Looking) Requests(state desired.State, interval time.Duration) int64 {
	if len(l.Phases) == 0 {
		return 0
	}
	n := 0
	for _, zone := range state.EachZone() {
		n += len(l.At(zone))
	}
	return int64(float64(n)*l.PerSweep(interval) + 0.5)
}
