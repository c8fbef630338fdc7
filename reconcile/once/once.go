// Package once is plan and apply: one run over all that is asked for, for a person who
// waits for it.
//
//	state → read → plan → guard                    a plan ends here
//	      → accept → write and prove → record      an apply goes on
//
//	report := run.Plan(ctx, once.Order{})
//	report := run.Apply(ctx, once.Order{Who: "alice", Approve: digests})
//
// What comes in are an [Order] and the parts that the daemon works with, too: the
// source, the worker of zones, the worker of tokens, the records. What goes out is one
// report. Everything that is asked for is read before anything is written, so that
// limits and approvals are about the whole. The daemon does not use this package.
package once

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/token"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Run is what a plan or an apply stands on. Source, Records, Lanes and Now are
// required.
type Run struct {
	Source  *source.Source
	Good    reconcile.GoodCommit // nil: nothing keeps the accepted commit
	Records control.Records      // of a plan, open for reading
	Guards  reconcile.Guards

	// Lanes have the budgets of the daemon, and Interval is its own: what it costs to
	// apply a plan, and whether its sweep holds, is said by them.
	Lanes  reconcile.Lanes
	Tokens *token.Worker    // nil: tokens are unknown
	Names  *directory.Names // finds the ids of zones; nil: all must be declared
	// DryRuns asks the platform about what is planned: for a plan, and for an apply of a
	// saved one.
	DryRuns zone.DryRuns
	// Rulesets keeps the versions of managed rulesets that an apply reads; nil keeps none.
	Rulesets reconcile.RulesetMemory

	Deprecations reconcile.Deprecations
	Interval     time.Duration
	Requests     reconcile.Requests // nil counts none
	Progress     reconcile.Progress // nil shows none
	Now          func() time.Time
	Log          *slog.Logger // nil discards
}

// Order asks for a plan or an apply.
type Order struct {
	// Zones and Tokens limit it to those of these keys; none of both is all. All of them
	// must be declared.
	Zones, Tokens []string
	// Rotate is a token whose successor is made now, with that of the declaration in Tokens;
	// empty is none. It passes the guards as one that is due.
	Rotate edge.TokenID
	// AllowShrink accepts a commit that declares far less than the last one.
	AllowShrink bool
	// Approve are digests that whoever gives the order agrees to; see
	// [guard.Facts.Approved].
	Approve []string
	// DuringFreeze is why freezes that allow that are overridden; empty keeps them.
	DuringFreeze string
	// Who gives the order, for the record of Approve and DuringFreeze.
	Who string
	// Brief leaves out of the plan what text does not show: its digest, and of what was made
	// what was sent.
	Brief bool
	// Expect is shown the plan before anything is sent; with an error nothing is. Nil
	// expects nothing, and an apply then tries once more what the platform did not keep
	// before: a plan refuses that, and so does an apply that must do what a plan said.
	Expect func(diff.Plan) error
	// Confirm is shown the plan of an apply once more, after Expect; with an error
	// nothing is sent. It may wait for a person. Nil goes on.
	Confirm func(diff.Plan) error
}

// narrow reports whether an order names what it wants.
func (o Order) narrow() bool { return len(o.Zones) > 0 || len(o.Tokens) > 0 }

// Plan says what an apply would do. It sends nothing but reads and writes nothing.
func (r *Run) Plan(ctx context.Context, order Order) reconcile.Report {
	return r.report(ctx, func(report *reconcile.Report) error {
		_, err := r.plan(ctx, order, report, false)
		return err
	})
}

// Apply does what is asked for. The report is complete in every case: what failed is
// in its Err, in the plan's problems, or in a result.
func (r *Run) Apply(ctx context.Context, order Order) reconcile.Report {
	return r.report(ctx, func(report *reconcile.Report) error {
		p, err := r.plan(ctx, order, report, true)
		if err != nil && (p == nil || !errors.Is(err, errTokens)) {
			return err
		}
		if order.Confirm != nil {
			shown := p.plan
			shown.Requests.Used, shown.Requests.Cost = r.Requests.Sent(), r.Lanes.Cost(shown)
			if err := order.Confirm(shown); err != nil {
				return err
			}
		}
		return errors.Join(err, r.apply(ctx, p, report))
	})
}

// errTokens: the platform does not accept the credential for tokens. It says nothing
// about zones.
var errTokens = errors.New("tokens are unknown")

func (r *Run) report(_ context.Context, do func(*reconcile.Report) error) reconcile.Report {
	report := reconcile.Report{Trigger: reconcile.TriggerManual, Started: r.Now(), Plan: diff.Plan{Version: diff.PlanVersion}}
	before := r.Requests.Sent()
	report.Err = withoutMark(do(&report))
	report.Finished = r.Now()
	report.Requests = r.Requests.Sent() - before
	report.Plan.GeneratedAt = report.Finished.UTC()
	report.Plan.Requests.Used = report.Requests
	report.Plan.Requests.Cost = r.Lanes.Cost(report.Plan)
	report.Plan.Requests.Overload = report.Overload
	return report
}

// planned is a plan with all that it was made from.
type planned struct {
	order   Order
	record  reconcile.Record
	before  *desired.State    // what the accepted commit declares; nil where that is not at hand
	open    []reconcile.Entry // writes of earlier processes without a result
	state   desired.State     // all that is declared
	author  string            // of its commit
	message string            // and the first line of its message
	scope   desired.State     // the part that is asked for
	tokens  bool              // all tokens are
	facts   guard.Facts
	rollout reconcile.Rollout
	seen    zone.All
	words   []reconcile.Approval // that the commit carries
	judged  control.Judged
	plan    diff.Plan

	overridden []string // freezes
	spent      []string // approvals of several changes, once each change has its own
}

// recall takes what earlier runs have recorded.
func (r *Run) recall(ctx context.Context, order Order, writes bool) (*planned, error) {
	record, err := r.Records.Restore(ctx)
	if err != nil {
		return nil, fmt.Errorf("recalling earlier runs: %w", err)
	}
	p := &planned{order: order, record: record}
	if writes { // before the zones are read
		if p.open, err = r.Records.Unfinished(ctx); err != nil {
			return nil, fmt.Errorf("recalling writes without a result: %w", err)
		}
	}
	return p, nil
}

// plan is the run up to the plan. Where only the tokens' credential is not accepted it
// returns the plan beside the error.
func (r *Run) plan(ctx context.Context, order Order, report *reconcile.Report, writes bool) (*planned, error) {
	p, err := r.recall(ctx, order, writes)
	if err != nil {
		return nil, err
	}
	if err := r.choose(ctx, p, report); err != nil {
		return nil, err
	}
	record := p.record
	p.before = p.accepted(writes)
	if err := r.observe(ctx, p, writes); err != nil {
		return nil, err
	}
	if writes && r.Rulesets != nil {
		r.recordRulesets(ctx, p)
	}
	p.rollout = control.RolloutOf(record, r.Guards.Waves, p.state)
	p.facts, p.overridden = r.facts(p)
	p.facts.PutBack = !writes && record.PutBack != 0 // who writes has looked at git, and says so
	asPlan := !writes || order.Expect != nil
	if asPlan {
		p.facts.NonConvergent, p.facts.Tries = record.NonConvergent, record.Tries
	}
	report.Commit = p.state.Commit
	report.Fleet = reconcile.Fleet{
		Declared: p.state.Zones(), Sweep: reconcile.SweepRequests(p.state) + r.Guards.Looking.Requests(p.state, r.Interval),
		Overload: r.Lanes.Overload(p.state, r.Guards.Looking, r.Interval),
	}
	report.Rollout = p.facts.Rollout
	report.Full = !order.narrow()
	tokensErr := r.lookAtTokens(ctx, p, writes)
	if tokensErr != nil && !errors.Is(tokensErr, errTokens) {
		return nil, tokensErr
	}
	p.plan = r.guarded(ctx, p, asPlan)
	p.before = nil // it is as large as the state
	if report.Full && r.Deprecations != nil {
		p.plan.Deprecations = append(p.plan.Deprecations, r.Deprecations(p.state, p.facts.Now)...)
	}
	report.Plan = p.plan
	if order.Expect != nil {
		if err := order.Expect(p.plan); err != nil {
			return nil, err
		}
	}
	return p, tokensErr
}

// guarded makes the plan and passes it through the guards, and has the platform tried
// where that is asked for.
func (r *Run) guarded(ctx context.Context, p *planned, try bool) diff.Plan {
	plan := planner.Make(r.input(p))
	plan.Leaving, plan.NotLookedAt = leavingWithin(p.judged.Leaving, p.scope), p.seen.Live.NotLookedAt(p.scope)
	plan.Requests.Looks = int64(p.seen.Looked)
	plan = r.named(guard.Check(plan, p.facts), p)
	if !p.order.Brief {
		plan = plan.Sealed()
	}
	p.facts = p.facts.Released(plan)
	if !try {
		return plan
	}
	return r.DryRuns.Check(ctx, plan, p.seen.Live)
}

// named adds what the commit renames, and what the platform calls the zones.
func (r *Run) named(plan diff.Plan, p *planned) diff.Plan {
	var before desired.State // nothing is known to be renamed, and ids are shown
	if p.before != nil {
		before = *p.before
	}
	if r.Names == nil {
		return plan.Named(before, p.state, nil)
	}
	return plan.Named(before, p.state, r.Names.Shown)
}

// choose takes the commit that git has now.
func (r *Run) choose(ctx context.Context, p *planned, report *reconcile.Report) error {
	r.Progress.Show("fetching and compiling", 0, 0)
	proposal := r.Source.Look(ctx, "")
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case proposal.Err != nil:
		return proposal.Err
	}
	report.Problems = proposal.Problems
	if errs := desired.Errors(proposal.Problems); len(errs) > 0 {
		report.Problems = errs
		return reconcile.ErrInvalid
	}
	p.state, p.author, p.message = proposal.State, proposal.Author, proposal.Message
	if proposal.Commit != p.record.Accepted.Commit { // an approval is spent with its change: the commit must not renew it
		p.words = proposal.Approvals
	}
	return nil
}

// lookAtTokens adds what is known of tokens.
func (r *Run) lookAtTokens(ctx context.Context, p *planned, writes bool) error {
	if len(p.scope.Tokens) == 0 && !p.tokens {
		return nil
	}
	worker := r.Tokens
	if worker == nil {
		worker = token.New(token.Config{Now: r.Now, Log: r.Log})
	}
	scope := token.Scope{Commit: p.state.Commit, Tokens: p.scope.Tokens, Accounts: p.state.Accounts, Part: !p.tokens}
	look := worker.Look
	if writes {
		look = worker.Prepare
	}
	var err error
	p.seen.Live.Tokens, err = look(ctx, scope)
	switch {
	case errors.Is(err, edge.ErrUnauthenticated) && p.scope.Zones() > 0:
		return nil // the tokens are unknown, and the zones go on
	case errors.Is(err, edge.ErrUnauthenticated):
		return errors.Join(errTokens, err)
	case err != nil:
		return fmt.Errorf("recalling tokens: %w", err)
	}
	return nil
}

// withoutMark takes the mark off an error about tokens: it is for this package alone.
func withoutMark(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || !errors.Is(err, errTokens) {
		return err
	}
	var others []error
	for _, e := range joined.Unwrap() {
		if e = withoutMark(e); !errors.Is(e, errTokens) {
			others = append(others, e)
		}
	}
	return errors.Join(others...)
}

// input is what a plan is made from.
func (r *Run) input(p *planned) planner.Input {
	in := planner.Input{State: p.scope, Live: p.seen.Live, Applied: p.record.Applied, Reports: r.Guards.ReportUnmanaged, Prunable: p.record.Prunable, Part: !p.tokens, Now: p.facts.Now, Rotate: p.order.Rotate, Undigested: true}
	if r.Tokens != nil {
		in.NameSuffix, in.CreatingGroups = r.Tokens.NameSuffix, r.Tokens.CreatingGroups
	}
	return in
}

func (r *Run) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}
