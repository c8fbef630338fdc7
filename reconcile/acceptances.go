package reconcile

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// AcceptancesEnd says when the acceptances of skip rules end that a state declares, and what is
// declared until a day, the soonest first: each after its last day, by UTC. Those without an end
// are not among them, and one that many zones share, as from a tier, is one.
func AcceptancesEnd(s desired.State) (ends []time.Time) {
	type acceptance struct {
		origin desired.Origin
		rule   string
	}
	seen := map[acceptance]bool{}
	add := func(origin desired.Origin, rule string, end time.Time) {
		if key := (acceptance{origin, rule}); !seen[key] {
			seen[key], ends = true, append(ends, end)
		}
	}
	for _, z := range s.EachZone() {
		for _, d := range z.Deployments {
			for _, a := range d.Accepted {
				if last, err := time.Parse(time.DateOnly, a.Until); err == nil {
					add(a.Origin, a.Rule, last.AddDate(0, 0, 1))
				}
			}
		}
		for _, o := range z.Others {
			if end, has := o.Ends(); has {
				add(o.Origin, o.Key, end)
			}
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends
}
