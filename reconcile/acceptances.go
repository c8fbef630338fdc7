package reconcile

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// AcceptancesEnd says when the acceptances of skip rules end that a state declares, the soonest
// first: each after its last day, by UTC. Those without an end are not among them, and one that
// many zones share, as from a tier, is one.
func AcceptancesEnd(s desired.State) (ends []time.Time) {
	type acceptance struct {
		origin desired.Origin
		rule   string
	}
	seen := map[acceptance]bool{}
	for _, z := range s.EachZone() {
		for _, d := range z.Deployments {
			for _, a := range d.Accepted {
				key := acceptance{a.Origin, a.Rule}
				last, err := time.Parse(time.DateOnly, a.Until)
				if err != nil || seen[key] {
					continue
				}
				seen[key] = true
				ends = append(ends, last.AddDate(0, 0, 1))
			}
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends
}
