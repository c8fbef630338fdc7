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

// ByZone splits the changes of a plan that are to be applied into those of each zone, in the
// order in which the plan first names the zones. Those of a zone that stand together in the plan,
// as in all plans that are sorted, are not copied.
func ByZone(p diff.Plan) (zones [][]diff.Change) {
	index := map[edge.Scope]int{}
	first := 0 // of the last zone, in the plan
	for i, c := range p.Changes {
		if !c.Applies() || !diff.Counts(c.Level()) {
			continue
		}
		switch n, known := index[c.Scope]; {
		case !known:
			index[c.Scope], first = len(zones), i
			zones = append(zones, p.Changes[i:i+1:i+1])
		case n == len(zones)-1 && first+len(zones[n]) == i:
			zones[n] = p.Changes[first : i+1 : i+1]
		default:
			zones[n] = append(zones[n], c)
		}
	}
	return zones
}

// ManyWriter applies plans of many zones at once, for who has planned a whole state. All
// fields are required but Documented, Brief and Made.
type ManyWriter struct {
	Lanes      reconcile.Lanes
	Documented bool  // see [diff.AccountLive]
	Names      Names // nil: [Declared]
	Gate       Gate
	Now        func() time.Time
	// Brief drops what it took to send a change once it is made, also from the plans that are
	// applied: see [diff.Change.Sent]. What was approved stays whole.
	Brief bool
	// Made is called with the results of each zone when it is done, by one goroutine at a
	// time.
	Made func([]reconcile.Result)
}

// Apply applies changes as [ByZone] parts them, the zones of all credentials side by side, one
// change at a time within a zone. seen is what they were planned from, of which it drops what it
// has worked on; task is called by several goroutines. A credential that the
// platform rejects stops its own zones alone; the error is that it rejects all that were needed.
// It returns the results of all, by account, zone and deployment.
func (m ManyWriter) Apply(ctx context.Context, seen All, zones [][]diff.Change, task func(edge.Scope) Task) ([]reconcile.Result, error) {
	parts, n := map[int][][]diff.Change{}, 0
	for _, changes := range zones {
		if lane := m.Lanes.Index(changes[0].Account); lane >= 0 {
			parts[lane] = append(parts[lane], changes)
			n += len(changes)
		}
	}
	run := manyWrites{ManyWriter: m, seen: seen, task: task, indexes: &diff.Indexes{}, results: make([]reconcile.Result, 0, n)}
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() { run.apply(ctx, m.Lanes.All[i], part) })
	}
	all.Wait()
	slices.SortStableFunc(run.results, func(a, b reconcile.Result) int {
		return cmp.Or(cmp.Compare(a.Change.Account, b.Change.Account), cmp.Compare(a.Change.Zone, b.Change.Zone),
			cmp.Compare(a.Change.Deployment, b.Change.Deployment))
	})
	if len(run.rejections) > 0 && len(run.rejections) == len(parts) {
		return run.results, run.rejections[0]
	}
	return run.results, nil
}

// manyWrites is one call of [ManyWriter.Apply].
type manyWrites struct {
	ManyWriter
	task    func(edge.Scope) Task
	indexes *diff.Indexes

	mu         sync.Mutex
	seen       All
	results    []reconcile.Result
	rejections []error // at most one of each credential
}

// apply applies the changes of one credential, until it is rejected.
func (w *manyWrites) apply(ctx context.Context, lane reconcile.Lane, zones [][]diff.Change) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	accounts := NewAccounts(lane.Reader, w.Now)
	accounts.Documented = w.Documented
	worker := &Worker{Reader: lane.Reader, Writer: lane.Writer, Accounts: accounts, Gate: w.Gate, Indexes: w.indexes, Names: w.Names, Now: w.Now, Patient: true}
	rejected := false
	_ = sideBySide(ctx, lane.Workers(), len(zones), func(ctx context.Context, i int) error {
		t := w.task(zones[i][0].Scope)
		ended, _ := worker.Apply(ctx, t, w.sightOf(t), diff.Plan{Changes: zones[i]})
		w.mu.Lock()
		defer w.mu.Unlock()
		w.seen.drop(t.Zone().Scope, ended)
		if w.Brief {
			shorten(zones[i], ended)
		}
		w.results = append(w.results, ended...)
		for _, result := range ended {
			if errors.Is(result.Err, edge.ErrUnauthenticated) && !rejected {
				rejected = true
				w.rejections = append(w.rejections, Rejected(lane, result.Err))
				stop()
			}
		}
		if w.Made != nil {
			w.Made(ended)
		}
		return nil
	})
}

// shorten drops what it took to send the changes of a zone, unless one of them was approved: the
// digest of what was sent is spent with that.
func shorten(planned []diff.Change, made []reconcile.Result) {
	if slices.ContainsFunc(planned, func(c diff.Change) bool { return c.Approved }) {
		return
	}
	for i := range planned {
		planned[i] = planned[i].Sent()
	}
	for i := range made {
		c := &made[i].Change
		if j := slices.IndexFunc(planned, func(p diff.Change) bool { return p.ID() == c.ID() && p.Action() == c.Action() }); j >= 0 {
			c.Operation = planned[j].Operation // says the same
		} else {
			*c = c.Sent()
		}
	}
}

func (w *manyWrites) sightOf(t Task) Sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.sightOf(t.Account().ID, t.Zone(), t.Prunable)
}

// sideBySide calls do for 0 to n-1 until one fails, so many at once: a goroutine for each zone
// would first grow its stack to what HTTP and JSON need.
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
