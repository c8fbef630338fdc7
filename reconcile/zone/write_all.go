package zone

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// ByZone splits a plan into one for each zone that has changes of deployments to be
// applied, in the order in which the plan first names the zones.
func ByZone(p diff.Plan) (zones []diff.Plan) {
	index := map[edge.ZoneID]int{}
	for _, c := range p.Changes {
		if !c.Applies() || c.Kind() != diff.KindDeployment {
			continue
		}
		i, ok := index[c.ZoneID]
		if !ok {
			i = len(zones)
			index[c.ZoneID] = i
			zones = append(zones, diff.Plan{})
		}
		zones[i].Changes = append(zones[i].Changes, c)
	}
	return zones
}

// ApplyAll applies plans as [ByZone] makes them, so many at once, one change at a time
// within a zone. seen is what they were planned from. made is called with the results of
// each zone when it is done, by one goroutine at a time. It returns the results of all, by
// account, zone and deployment.
func (w *Worker) ApplyAll(
	ctx context.Context, concurrency int, seen All, plans []diff.Plan, tasks map[edge.ZoneID]Task, made func([]reconcile.Result),
) (results []reconcile.Result) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(concurrency)
	for _, plan := range plans {
		group.Go(func() error {
			id := plan.Changes[0].ZoneID
			t := tasks[id]
			sight := Sight{Account: seen.Live.Accounts[t.Account().ID], EntryPoint: seen.Live.EntryPoints[id], At: seen.At[id]}
			ended, _ := w.Apply(ctx, t, sight, plan)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, ended...)
			made(ended)
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails: results carry the errors
	slices.SortStableFunc(results, func(a, b reconcile.Result) int {
		return cmp.Or(cmp.Compare(a.Change.Account, b.Change.Account), cmp.Compare(a.Change.Zone, b.Change.Zone),
			cmp.Compare(a.Change.Deployment, b.Change.Deployment))
	})
	return results
}
