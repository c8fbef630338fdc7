package controller

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// sweepCost is what a sweep of a generation takes: it costs a look at each zone.
type sweepCost struct {
	of       *control.Generation
	requests int64
	overload *diff.Overload
}

// costOf is that of what is in force; the caller holds the lock.
func (r *reports) costOf(g *control.Generation) sweepCost {
	if g != r.sweep.of {
		r.sweep = sweepCost{
			g, reconcile.SweepRequests(g.State) + r.looking.Requests(g.State, r.interval), r.lanes.of.Overload(g.State, r.looking, r.interval),
		}
	}
	return r.sweep
}

// adopted has what is told later hold a generation that was adopted, and not the values before.
func (r *reports) adopted(g *control.Generation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range []**control.Generation{&r.commit.whole, &r.turn.whole, &r.sweep.of} {
		if (*of).Same(g) {
			*of = g
		}
	}
}

// newTurn is the sweep from its beginning.
func (r *reports) newTurn() group {
	g := r.control.Current()
	if g == nil {
		return group{}
	}
	turn := wholeGroup(g, r.withTokens)
	r.onlyOurs(&turn, g)
	return turn
}

// sum is the report of a group: what the latest look at each of its zones has found. Zones of
// the lanes that are missing were not read, and those of another process are that one's to tell of.
func (r *reports) sum(g group, trigger reconcile.Trigger, missing map[*lane]string) reconcile.Report {
	plan, in := diff.NewPlan(g.commit), r.control.Current() // without a digest: no one approves it
	all, size, count := found{changes: plan.Changes, problems: plan.Problems}, [3]int{}, 0
	for id := range r.oursOf(g, in) {
		count++
		f := r.zones[id]
		size[0], size[1], size[2] = size[0]+len(f.changes)+f.made, size[1]+len(f.problems), size[2]+len(f.results)
	}
	all.changes, all.problems, all.results = slices.Grow(all.changes, size[0]), slices.Grow(all.problems, size[1]), slices.Grow(all.results, size[2])
	for id := range r.oursOf(g, in) {
		f := r.zones[id]
		if g.left[id] {
			if reason := missing[r.lanes.at(in, id)]; reason != "" {
				t, _ := in.Task(id)
				f = unread(t, reason)
			}
		}
		all.add(f)
	}
	tokens := 0
	if g.whole != nil {
		all.add(r.tokens.found)
		tokens = len(r.inForceState().Tokens)
	}
	plan.Changes, plan.Problems = all.changes, all.problems
	plan.Summary.Zones, plan.Summary.Tokens = count, tokens
	diff.SortChanges(plan.Changes)
	plan = plan.Counted()
	if g.whole != nil {
		plan.Deprecations, plan.Findings, plan.Expiries = r.tokens.plan.Deprecations, r.tokens.plan.Findings, r.tokens.plan.Expiries
	}
	report := reconcile.Report{
		Trigger: trigger, Started: g.began, Finished: time.Now(), Plan: plan, Results: all.results,
		Scope: reconcile.Scope{Full: g.whole != nil, Sum: true}, Busy: g.busy, Requests: g.request,
	}
	if g.whole != nil {
		report.Acceptances = reconcile.AcceptancesEnd(r.inForceState())
	}
	if r.held != nil {
		held := *r.held
		held.Again = true
		report.Held = &held
	}
	return report
}

// oursOf are the zones of a group without those that another process works on.
func (r *reports) oursOf(of group, g *control.Generation) iter.Seq[edge.Scope] {
	ours, all := r.lanes.ours()
	if all {
		return of.zones()
	}
	return func(yield func(edge.Scope) bool) {
		for id := range of.zones() {
			if lane := r.lanes.at(g, id); lane != nil && !ours[lane] {
				continue
			}
			if !yield(id) {
				return
			}
		}
	}
}

// askEvery is how often it is asked whether groups wait for lanes that are away.
const askEvery = 5 * time.Second

// soFar tells of groups that wait for nothing but lanes that are away: a credential that is
// rejected must not keep what has become of the others from being told. Each zone that was
// not read is unknown there. A commit is told of once more when all its zones were read.
func (r *reports) soFar(ctx context.Context, now time.Time) {
	if len(r.lanes.all) == 1 || now.Sub(r.asked) < askEvery {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = now
	in := r.control.Current()
	if missing := r.commit.missing(r.lanes, in, now); missing != nil {
		r.commit.early = true
		r.tellCommit(ctx, missing)
	}
	if missing := r.turn.missing(r.lanes, in, now); missing != nil {
		r.tellTurn(ctx, missing)
	}
}

// tellCommit tells of the zones of a commit; if they are all that there are, the sweep has
// come to every zone with them. The caller holds the lock.
func (r *reports) tellCommit(ctx context.Context, missing map[*lane]string) {
	g := r.commit
	if g.whole != nil {
		r.turn = r.newTurn()
	}
	r.send(ctx, r.sum(g, g.trigger(), missing))
}

// tellTurn tells of a sweep, and begins the next; the caller holds the lock.
func (r *reports) tellTurn(ctx context.Context, missing map[*lane]string) {
	g := r.turn
	r.turn = r.newTurn()
	if ours, all := r.lanes.ours(); !all && len(ours) == 0 && !r.lanes.tokensOurs() {
		return // other processes do all the work, and this one has nothing to tell
	}
	r.send(ctx, r.sum(g, reconcile.TriggerSweep, missing))
}

// complete tells of groups that are; the caller holds the lock.
func (r *reports) complete(ctx context.Context) {
	if r.commit.done() {
		r.commit.open = false
		r.tellCommit(ctx, nil)
		r.lanes.sweepOn(true)
	}
	if r.turn.done() {
		r.tellTurn(ctx, nil)
	}
}
