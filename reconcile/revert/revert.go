// Package revert puts back what was written: one run, for a person who waits for it.
//
//	history → restorations → read → plan → guard     the plan is shown
//	        → stop → write and prove → look again    once it is agreed to
//
//	p, err := run.Plan(ctx, revert.Order{Filter: reconcile.HistoryFilter{Commit: "1a2b3c4"}})
//	report := run.Apply(ctx, p)
//
// What comes in are the history and what is live. What goes out is a plan that is the
// inverse of what was written, only where that is still live, and then one report.
//
// The commit may still be on its way into the fleet. So before anything is put back it is
// taken out of force, in one step (stop.go): in the zones that it was written to, which the
// daemon would else write once more, and in those that it gave a declaration and has not
// reached. They are held until git declares them otherwise. A write that was on its way at
// that moment is in the history, so the revert looks again until it knows what came of it
// (again.go).
package revert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Records is what a revert reads and writes.
type Records interface {
	control.Records
	reconcile.History
	reconcile.Reverts
}

// Run is what a revert stands on. Records, Lanes and Now are required.
type Run struct {
	Records Records
	Guards  reconcile.Guards
	// Compile returns what a commit declares, where that is not on record; nil: then
	// nothing can be reverted.
	Compile func(ctx context.Context, commit string) (desired.State, error)

	Lanes    reconcile.Lanes
	Requests reconcile.Requests // nil counts none
	Progress reconcile.Progress // nil shows none
	Now      func() time.Time
	// Pause waits between two looks at writes that are on their way; nil waits by the
	// clock of the machine.
	Pause func(context.Context, time.Duration)
	Log   *slog.Logger // nil discards
}

// Order says what to revert.
type Order struct {
	// Filter selects writes: at least one of Since and Commit is set.
	Filter reconcile.HistoryFilter
	// Approve are digests that whoever gives the order agrees to, and DuringFreeze is why
	// freezes that allow it are overridden; see package once.
	Approve      []string
	DuringFreeze string
	Who          string // gives the order
	// Agreed says that whoever gives the order asks for no plan first: then Plan takes the
	// commit out of force before it reads anything.
	Agreed bool
}

// Planned is a plan with what it was made from.
type Planned struct {
	Plan  diff.Plan
	Order Order
	// Writes is how many writes the history has that the order selects.
	Writes int

	scope
	record     reconcile.Record
	state      desired.State
	declared   func(edge.Scope) string // the fingerprint of a zone's declaration in force
	facts      guard.Facts
	overridden []string
	seen       zone.All
	began      time.Time
	requests   int64
}

// Zones counts the zones that the plan would write.
func (p *Planned) Zones() int { return len(zone.ByZone(p.Plan)) }

// Left names the zones that were written and are not put back: they were changed since, or a
// guard holds them back.
func (p *Planned) Left() (names []string) {
	written := map[edge.Scope]bool{}
	for _, changes := range zone.ByZone(p.Plan) {
		written[changes[0].Scope] = true
	}
	left := map[edge.Scope]string{}
	for _, problem := range p.Plan.Problems {
		left[problem.Scope] = problem.Zone
	}
	for _, change := range p.Plan.Changes {
		if !written[change.Scope] {
			left[change.Scope] = change.Zone
		}
	}
	return slices.Sorted(maps.Values(left))
}

// errNothingInForce: there is no accepted commit, so no zone is known.
var errNothingInForce = errors.New("no commit was accepted yet, so there is nothing to revert")

// Plan says what would be put back. It sends nothing but reads and writes nothing, unless
// the order is agreed to.
func (r *Run) Plan(ctx context.Context, order Order) (*Planned, error) {
	p := &Planned{Order: order, began: r.Now(), requests: r.Requests.Sent()}
	var err error
	if p.record, err = r.Records.Restore(ctx); err != nil {
		return nil, fmt.Errorf("recalling what is in force: %w", err)
	}
	if p.record.PutBack != 0 { // what is in force may be another commit, and so what is to be put back
		return nil, fmt.Errorf("nothing can be reverted yet: %w", reconcile.ErrPutBack)
	}
	if p.state, err = r.inForce(ctx, p.record); err != nil {
		return nil, err
	}
	p.declared = control.Declarations(p.state)
	if p.scope, err = r.scope(ctx, p); err != nil {
		return nil, err
	}
	writes, err := r.writes(ctx, p)
	if err != nil {
		return nil, err
	}
	p.Writes = len(writes)
	p.note(writes)
	if order.Agreed && p.Writes+len(p.pending) > 0 {
		if err := r.stop(ctx, p); err != nil {
			return nil, err
		}
	}
	p.facts, p.overridden = r.facts(p)
	p.Plan = diff.NewPlan(p.state.Commit)
	err = r.plan(ctx, p, writes, func(edge.Scope) bool { return true })
	p.seeSettled(writes, p.began)
	return p, err
}

// plan reads zones, and has the plan say what is to be put back there, in the place of what
// it said of them before.
func (r *Run) plan(ctx context.Context, p *Planned, writes []reconcile.Entry, of func(edge.Scope) bool) error {
	targets, problems := targetsOf(writes, p.state)
	restorations := map[edge.Scope][]diff.Restoration{}
	targets = slices.DeleteFunc(targets, func(t diff.Restoration) bool { return !of(t.ID.Scope) })
	problems = slices.DeleteFunc(problems, func(p diff.Problem) bool { return !of(p.Scope) })
	for _, t := range targets {
		restorations[t.ID.Scope] = append(restorations[t.ID.Scope], t)
	}
	many := zone.Many{
		Lanes: r.Lanes, Now: r.Now, Removable: placesOf(targets),
		Progress: func(done, total int) { r.Progress.Show("observing zones", done, total) },
	}
	var err error
	if p.seen, err = many.Read(ctx, scopeOf(p.state, restorations)); err != nil {
		return err
	}
	found := planner.Restore(targets, p.seen.Live)
	for _, c := range p.Plan.Changes {
		if !of(c.Scope) {
			c.Refused = nil // the guards are asked anew
			found.Changes = append(found.Changes, c)
		}
	}
	for _, problem := range p.Plan.Problems {
		if !of(problem.Scope) {
			problems = append(problems, problem)
		}
	}
	maps.Copy(p.restorations, restorations)
	plan := diff.Gather(p.state.Commit, len(p.restorations), 0, found.Changes, append(found.Problems, problems...))
	plan = guard.Check(plan, p.facts)
	plan.GeneratedAt = r.Now().UTC()
	plan.Requests.Used = r.Requests.Sent() - p.requests
	plan.Requests.Cost = r.Lanes.Cost(plan)
	p.Plan = plan
	return nil
}

// placesOf has what is to be put back of each zone, whether it is declared by now or not.
func placesOf(targets []diff.Restoration) map[edge.Scope]diff.Pruning {
	all := diff.Pruning{}
	for _, t := range targets {
		all[t.ID] = diff.Prunable{}
	}
	return control.PrunableByZone(all)
}

// inForce is what the accepted commit declares.
func (r *Run) inForce(ctx context.Context, record reconcile.Record) (desired.State, error) {
	if record.Accepted.Commit == "" {
		return desired.State{}, errNothingInForce
	}
	state, err := control.DecodeState(record.Accepted.State)
	if err == nil && len(record.Accepted.State) > 0 {
		state.Commit = record.Accepted.Commit
		return state, nil
	}
	if r.Compile == nil {
		return state, errors.Join(errors.New("the declarations of the accepted commit are not in the ledger"), err)
	}
	if state, err = r.Compile(ctx, record.Accepted.Commit); err != nil {
		return state, fmt.Errorf("evaluating the accepted commit: %w", err)
	}
	return state, nil
}

// facts are what guards need to know, and the freezes that the order overrides. Holds that
// an earlier revert has set are not in it: they keep others away.
func (r *Run) facts(p *Planned) (f guard.Facts, overridden []string) {
	now := r.Now()
	record := p.record
	record.Accepted.Earlier = nil // no commit is accepted: all that is in force was there
	f = control.Whole{Record: record, Guards: r.Guards, Before: &p.state, State: p.state, Live: p.seen.Live, Now: now}.Judge().Facts
	f.Before, f.After = guard.Size{}, guard.Size{}
	f.Holds = slices.DeleteFunc(f.Holds, diff.Hold.Reverted)
	for _, digest := range p.Order.Approve {
		f.Approved[digest] = true
	}
	f.Freezes, overridden = reconcile.FreezesAt(r.Guards.Freezes, now, p.Order.DuringFreeze != "")
	return f, overridden
}

// scopeOf cuts a state down to zones.
func scopeOf[T any](state desired.State, zones map[edge.Scope]T) desired.State {
	state = state.Only(func(_ desired.Account, z desired.Zone) bool { _, wanted := zones[z.Scope]; return wanted })
	state.Tokens = nil
	return state
}

func (r *Run) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}
