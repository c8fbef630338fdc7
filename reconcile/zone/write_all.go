package zone

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// ByZone splits a plan into one for each zone that has changes to be applied, in the order in which the plan first names the zones.
func ByZone(p diff.Plan) (zones []diff.Plan) {
	index := map[edge.Scope]int{}
	for _, c := range p.Changes {
		if !c.Applies() || !diff.Counts(c.Level()) {
			continue
		}
		i, ok := index[c.Scope]
		if !ok {
			i = len(zones)
			index[c.Scope] = i
			zones = append(zones, diff.Plan{})
		}
		zones[i].Changes = append(zones[i].Changes, c)
	}
	return zones
}

// ManyWriter applies plans of many zones at once, for who has planned a whole state. All
// fields are required but Documented and Made.
type ManyWriter struct {
	Lanes      reconcile.Lanes
	Documented bool  // see [diff.AccountLive]
	Names      Names // nil: [Declared]
	Gate       Gate
	Now        func() time.Time
	// Made is called with the results of each zone when it is done, by one goroutine at a
	// time.
	Made func([]reconcile.Result)
}

// Apply applies plans as [ByZone] makes them, the zones of all credentials side by side,
// one change at a time within a zone. seen is what they were planned from. A credential
// that the platform rejects stops its own zones alone; the error is that it rejects all
// that were needed. It returns the results of all, by account, zone and deployment.
func (m ManyWriter) Apply(ctx context.Context, seen All, plans []diff.Plan, tasks map[edge.Scope]Task) (results []reconcile.Result, err error) {
	parts := map[int][]diff.Plan{}
	for _, plan := range plans {
		if lane := m.Lanes.Index(plan.Changes[0].Account); lane >= 0 {
			parts[lane] = append(parts[lane], plan)
		}
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var rejections []error
	indexes := &diff.Indexes{}
	for i, part := range parts {
		all.Go(func() {
			w := laneWriter{ManyWriter: m, lane: m.Lanes.All[i]}
			made, rejected := w.apply(ctx, indexes, seen, part, tasks, &mu)
			mu.Lock()
			defer mu.Unlock()
			results = append(results, made...)
			if rejected != nil {
				rejections = append(rejections, rejected)
			}
		})
	}
	all.Wait()
	slices.SortStableFunc(results, func(a, b reconcile.Result) int {
		return cmp.Or(cmp.Compare(a.Change.Account, b.Change.Account), cmp.Compare(a.Change.Zone, b.Change.Zone),
			cmp.Compare(a.Change.Deployment, b.Change.Deployment))
	})
	if len(rejections) > 0 && len(rejections) == len(parts) {
		err = rejections[0]
	}
	return results, err
}

// laneWriter applies the plans of one credential.
type laneWriter struct {
	ManyWriter
	lane reconcile.Lane
}

// apply applies plans until the credential is rejected, which it returns. mu is held for
// Made.
func (w laneWriter) apply(
	ctx context.Context, indexes *diff.Indexes, seen All, plans []diff.Plan, tasks map[edge.Scope]Task, mu *sync.Mutex,
) (results []reconcile.Result, rejected error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	accounts := NewAccounts(w.lane.Reader, w.Now)
	accounts.Documented = w.Documented
	worker := &Worker{Reader: w.lane.Reader, Writer: w.lane.Writer, Accounts: accounts, Gate: w.Gate, Indexes: indexes, Names: w.Names, Now: w.Now, Patient: true}
	_ = sideBySide(ctx, w.lane.AtOnce(), len(plans), func(ctx context.Context, i int) error {
		plan := plans[i]
		t := tasks[plan.Changes[0].Scope]
		sight := seen.sightOf(t.Account().ID, t.Zone(), t.Prunable)
		ended, _ := worker.Apply(ctx, t, sight, plan)
		mu.Lock()
		defer mu.Unlock()
		results = append(results, ended...)
		for _, result := range ended {
			if errors.Is(result.Err, edge.ErrUnauthenticated) && rejected == nil {
				rejected = Rejected(w.lane, result.Err)
				stop()
			}
		}
		if w.Made != nil {
			w.Made(ended)
		}
		return nil
	})
	return results, rejected
}

// sideBySide calls do for 0 to n-1 until one fails, as many at once as there are requests at a
// time: a goroutine for each zone would first grow its stack to what HTTP and JSON need.
func sideBySide(ctx context.Context, atOnce, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(atOnce, n) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
