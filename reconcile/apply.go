package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

const (
	// freshFor is how long an observing read may stand as the check before a write.
	freshFor = 60 * time.Second
	// grace is how long a write in flight, and its proof, may go on after the run
	// was told to stop.
	grace = 20 * time.Second
)

// applier carries one apply stage.
type applier struct {
	*Reconciler
	state   desired.State
	seen    observation
	applied diff.Applied
	stop    context.CancelCauseFunc
}

// apply writes the changes that no guard refused, those that strengthen first,
// one at a time within a zone, and proves each by reading it back.
func (r *Reconciler) apply(ctx context.Context, state desired.State, seen observation, p diff.Plan, applied diff.Applied) ([]Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a := &applier{Reconciler: r, state: state, seen: seen, applied: applied, stop: stop}

	zones := byZone(p)
	var mu sync.Mutex
	var results []Result
	total := 0
	for _, changes := range zones {
		total += len(changes)
	}
	var group errgroup.Group
	group.SetLimit(r.concurrency())
	for _, changes := range zones {
		group.Go(func() error {
			a.zone(ctx, changes, func(result Result) {
				mu.Lock()
				defer mu.Unlock()
				results = append(results, result)
				r.progress("applying changes", len(results), total)
			})
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails: results carry the errors
	slices.SortStableFunc(results, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Change.Account, b.Change.Account), cmp.Compare(a.Change.Zone, b.Change.Zone),
			cmp.Compare(a.Change.Deployment, b.Change.Deployment))
	})
	if cause := context.Cause(ctx); cause != nil {
		return results, cause
	}
	return results, nil
}

// byZone groups the changes to apply by zone. Zones that were weakened, whose
// changes strengthen, come first.
func byZone(p diff.Plan) [][]diff.Change {
	index := map[edge.ZoneID]int{}
	var zones [][]diff.Change
	for _, c := range p.Changes {
		if !c.Applies() {
			continue
		}
		i, ok := index[c.ZoneID]
		if !ok {
			i = len(zones)
			index[c.ZoneID] = i
			zones = append(zones, nil)
		}
		zones[i] = append(zones[i], c)
	}
	slices.SortStableFunc(zones, func(a, b []diff.Change) int { return cmp.Compare(order(a), order(b)) })
	return zones
}

func order(changes []diff.Change) int {
	if slices.ContainsFunc(changes, func(c diff.Change) bool { return c.Direction == diff.Strengthens }) {
		return 0
	}
	return 1
}

// zone applies the changes of one zone in turn. Each proof is also the fresh
// observation for the next change, because a write moves the version.
func (a *applier) zone(ctx context.Context, changes []diff.Change, emit func(Result)) {
	for i, c := range changes {
		if ctx.Err() != nil {
			emit(Result{Change: c, Outcome: NotStarted, Err: context.Cause(ctx)})
			continue
		}
		result := a.change(ctx, c, i == 0)
		if stops(result.Err) {
			a.stop(rejected(result.Err))
		}
		emit(result)
	}
}

// change makes one write and proves it. Once begun it is finished even when the
// run is told to stop.
func (a *applier) change(ctx context.Context, c diff.Change, observed bool) Result {
	ctx, cancel := lingering(ctx, grace)
	defer cancel()
	if !observed || a.Now().Sub(a.seen.at[c.ZoneID]) > freshFor {
		fresh, result := a.again(ctx, c)
		if result != nil {
			return *result
		}
		c = fresh
	}
	updated, err := a.write(ctx, &c)
	if err != nil {
		return Result{Change: c, Outcome: Failed, Err: err}
	}
	result := a.prove(ctx, c)
	result.Concurrent = updated != nil && updated.Version != next(c.Target.Version)
	return result
}

// write sends the change. A write of unknown outcome is looked at before it is
// sent once more; one that turns out to have taken effect is not.
func (a *applier) write(ctx context.Context, c *diff.Change) (*edge.Ruleset, error) {
	updated, err := a.Writer.UpdateRule(ctx, c.ZoneID, c.Target.EntryPoint, c.Target.Rule, c.Request.Body)
	if !errors.Is(err, edge.ErrOutcomeUnknown) {
		return updated, err
	}
	fresh, result := a.again(ctx, *c)
	switch {
	case result == nil:
		*c = fresh
		return a.Writer.UpdateRule(ctx, c.ZoneID, c.Target.EntryPoint, c.Target.Rule, c.Request.Body)
	case result.Outcome == Converged:
		return nil, nil
	}
	return nil, errors.Join(err, result.Err)
}

// prove reads the zone back and plans it again: nothing may be left to change.
func (a *applier) prove(ctx context.Context, c diff.Change) Result {
	left, result := a.again(ctx, c)
	if result != nil {
		if result.Outcome == Converged {
			if err := a.settle(ctx, a.state.Commit, []diff.Settled{{ID: c.ID(), Owned: c.Target.Owned}}); err != nil {
				result.Err = err
			}
		}
		return *result
	}
	failed := Result{Change: c, Outcome: NonConvergent, Left: left.Fields}
	if a.Memory != nil {
		failed.Err = a.Memory.NonConvergent(ctx, c.ID(), left.Fingerprint())
	}
	return failed
}

// again reads the zone of a change and plans it anew. It returns the change that
// is still to be made, or, where there is none, the result that says why.
func (a *applier) again(ctx context.Context, c diff.Change) (diff.Change, *Result) {
	live := a.seen.live
	entryPoint, err := a.Reader.EntryPoint(ctx, c.ZoneID)
	if err != nil {
		return c, &Result{Change: c, Outcome: Failed, Err: fmt.Errorf("reading the zone back: %w", err)}
	}
	live.EntryPoints = map[edge.ZoneID]diff.Observed[edge.Ruleset]{c.ZoneID: {Value: entryPoint}}
	p := plan(withZones(a.state, func(z desired.Zone) bool { return z.ID == c.ZoneID }), live, a.applied, diff.Facts{})
	for _, fresh := range p.Changes {
		if fresh.ID() == c.ID() {
			if fresh.Refused != nil {
				return c, &Result{Change: fresh, Outcome: Failed, Err: errors.New(fresh.Refused.Reason)}
			}
			return fresh, nil
		}
	}
	for _, problem := range p.Problems {
		if problem.ZoneID == c.ZoneID && problem.Deployment == c.Deployment {
			return c, &Result{Change: c, Outcome: Failed, Err: fmt.Errorf("reading the zone back: %s", problem.Reason)}
		}
	}
	return c, &Result{Change: c, Outcome: Converged}
}

// lingering returns a context that outlives ctx by d, so that what was begun can
// be finished.
func lingering(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return long, func() { stop(); cancel() }
}

// next is the version after a write: versions are decimal numbers in text.
func next(version string) string {
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return version
	}
	return strconv.FormatUint(n+1, 10)
}
