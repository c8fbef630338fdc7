package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Run makes one run and reports it. The report is complete in every case: what
// failed is in Report.Err, in the plan's problems, or in a result.
func (r *Reconciler) Run(ctx context.Context, order Order) Report {
	report := Report{Trigger: order.Trigger, Slice: order.slice != nil, Started: r.Now(), Plan: diff.Plan{Version: diff.PlanVersion}}
	before := r.requests()
	report.Err = r.run(ctx, order, &report)
	if order.slice == nil {
		r.noteHeld(report.Held)
	}
	report.Finished = r.Now()
	report.Requests = r.requests() - before
	report.Plan.GeneratedAt = report.Finished.UTC()
	report.Plan.Requests.Used = report.Requests
	report.Plan.Requests.Cost = r.Budget.Cost(report.Plan.Requests.ToApply)
	report.Plan.Requests.Overload = r.Budget.Overload(report.Declared, report.Sweep, r.Interval)
	return report
}

func (r *Reconciler) run(ctx context.Context, order Order, report *Report) error {
	memory, err := r.recall(ctx)
	if err != nil {
		return fmt.Errorf("recalling earlier runs: %w", err)
	}
	state, err := r.stateFor(ctx, order, memory, report) // 1 fetch, 2 compile
	if err != nil {
		return err
	}
	report.Commit = state.Commit
	report.Declared, report.Sweep = state.Zones(), sweepRequests(state)
	if order.slice == nil {
		memory = r.hear(ctx, order, memory, state.Commit)
	}
	rollout := r.rollout(ctx, memory, state)
	facts := r.facts(order, memory, state)
	facts.Rollout = rollout.facts(r.Guards.Waves, r.Now())
	report.Rollout = facts.Rollout
	_, report.Overridden = r.frozen(order, facts.Now)
	scoped, err := r.scope(ctx, state, order, memory, facts)
	if err != nil {
		return err
	}
	report.Full = scoped.all()
	r.log().DebugContext(ctx, "run begins", "trigger", string(order.Trigger), "commit", state.Commit,
		"zones", scoped.Zones(), "held", report.Held != nil)
	seen, err := r.observe(ctx, scoped.State, order.listedSince()) // 3 observe
	if err != nil {
		return err
	}
	writes := r.Writer != nil && !order.PlanOnly
	var tokensErr error
	if len(scoped.Tokens) > 0 || scoped.tokens {
		seen.live.Tokens, tokensErr = r.recallTokens(ctx, scoped.Tokens, scopeOf(scoped.Tokens, scoped.tokens), writes)
		if tokensErr != nil && !stops(tokensErr) {
			return fmt.Errorf("recalling tokens: %w", tokensErr)
		}
		report.Tokens, report.tokens = scoped.tokens, tokenKeys(scoped.State)
	}
	report.Plan = r.plan(scoped, order, seen.live, memory.Applied, facts) // 4 diff, 5 guard
	if order.slice != nil {
		again, err := r.refresh(ctx, scoped.State, seen.live, report.Plan)
		if err != nil {
			return err
		}
		if again {
			report.Plan = r.plan(scoped, order, seen.live, memory.Applied, facts)
		}
	}
	if scoped.tokens && (scoped.zones || order.slice != nil) && r.Deprecations != nil {
		report.Plan.Deprecations = append(report.Plan.Deprecations, r.Deprecations(state, facts.Now)...)
	}
	if order.Expect != nil {
		if err := order.Expect(report.Plan); err != nil {
			return err
		}
	}
	if !writes {
		return tokensErr
	}
	accepts := order.slice == nil && !facts.Shrunk()
	if accepts {
		r.announce(ctx, state.Commit)
		if err := r.begin(ctx, rollout); err != nil {
			return err
		}
		if err := r.accept(ctx, memory, state, facts, seen.live); err != nil {
			return err
		}
	}
	if err := r.recordWords(ctx, order, memory, report); err != nil {
		return fmt.Errorf("recording approvals: %w", err)
	}
	err = r.apply(ctx, scoped.State, seen, report, memory, facts, order) // 6 apply, 7 verify
	report.looked = err == nil
	if ctx.Err() == nil {
		err = errors.Join(err, tokensErr, r.applyTokens(ctx, seen.live.Tokens, report))
	}
	r.postpone(report, state, scoped.State, order.ChangedOnly)
	r.delayed = r.delayedAfter(report, state, scoped.State, facts)
	if accepts && !order.narrow() {
		r.actedOn = &state // what it did not come to is on the list of what waits
	}
	return errors.Join(err, r.conclude(ctx, state, scoped.State, report))
}

// conclude remembers what a run has come to, even one that was told to stop.
func (r *Reconciler) conclude(ctx context.Context, state, scoped desired.State, report *Report) error {
	if report.Full {
		r.forgetRulesets()
		r.wholeRun(!report.looked)
	}
	report.Unfinished = r.unfinished()
	stopped := ctx.Err() != nil
	ctx, cancel := lingering(ctx, grace)
	defer cancel()
	err := errors.Join(r.settle(ctx, state.Commit, report.Plan.Settled), r.follow(ctx, state.Commit, scoped, report), r.spend(ctx, report))
	if !report.Slice { // a slice is not over before it is passed
		err = errors.Join(err, r.keepCursor(ctx, stopped))
	}
	return err
}

// unfinished counts what a later run tries again, or comes to.
func (r *Reconciler) unfinished() int {
	n := len(r.pending) + len(r.pendingTokens) + r.delayed.timely()
	if r.Sweep != nil && !r.sweep.caughtUp {
		n++ // what an earlier process did not come to, nobody knows of how many zones
	}
	return n
}

// stateFor returns what a run is about: that of git, or, of a slice, the state in
// force.
func (r *Reconciler) stateFor(ctx context.Context, order Order, memory Recollection, report *Report) (desired.State, error) {
	if order.slice != nil {
		return *r.inForce, nil
	}
	r.progress("fetching and compiling", 0, 0)
	return r.choose(ctx, order, memory, report)
}

// listedSince is since when a list of rulesets is new enough: for a slice, since
// its sweep has begun; for any other run it never is.
func (o Order) listedSince() time.Time {
	if o.slice == nil {
		return time.Time{}
	}
	return o.slice.begun
}

// noteHeld tells a commit that is still held from one that is held anew.
func (r *Reconciler) noteHeld(held *Held) {
	before := r.held
	if r.held = held; held != nil {
		held.Again = before != nil && before.Commit == held.Commit && before.Reason == held.Reason
	}
}

func (r *Reconciler) recall(ctx context.Context) (Recollection, error) {
	if r.Memory == nil {
		return Recollection{}, nil
	}
	return r.Memory.Recall(ctx)
}

func (r *Reconciler) settle(ctx context.Context, commit string, settled []diff.Settled) error {
	if r.Memory == nil || len(settled) == 0 {
		return nil
	}
	if err := r.Memory.Settle(ctx, commit, settled); err != nil {
		return fmt.Errorf("remembering what is in sync: %w", err)
	}
	return nil
}

// accept makes a commit the one in force: the one to fall back to.
func (r *Reconciler) accept(ctx context.Context, memory Recollection, state desired.State, facts diff.Facts, live diff.Live) error {
	if err := errors.Join(r.openCursor(ctx, state.Commit), r.remember(ctx, memory, state, facts, live)); err != nil {
		return err
	}
	r.inForce = &state
	r.shown.Store(&state)
	if r.newest != nil && r.newest.commit == state.Commit {
		r.newest = nil
	}
	return nil
}

// remember writes down an accepted commit where it is not the one in force
// already. The size comes first: a crash in between must not leave a good commit
// that would itself be held as shrunk.
func (r *Reconciler) remember(ctx context.Context, memory Recollection, state desired.State, facts diff.Facts, live diff.Live) error {
	known := r.inForce != nil && r.inForce.Commit == state.Commit
	if r.Memory != nil && !(known && memory.Size == facts.After) {
		if err := r.Memory.Accept(ctx, state.Commit, facts.After); err != nil {
			return fmt.Errorf("remembering the accepted commit: %w", err)
		}
	}
	if r.Good != nil && state.Commit != "" && (!known || r.overtaken(ctx)) {
		if err := r.Good.SetGood(ctx, state.Commit); err != nil {
			return fmt.Errorf("remembering the good commit: %w", err)
		}
	}
	return r.forget(ctx, memory, state, live)
}

func (r *Reconciler) plan(scoped scoped, order Order, live diff.Live, applied diff.Applied, facts diff.Facts) diff.Plan {
	if scoped.zones || r.settled == nil || order.slice != nil && order.slice.first {
		r.settled = r.settled.Renew()
	}
	return diff.Guard(diff.Make(diff.Input{
		State: scoped.State, Live: live, Applied: applied, Memory: r.settled, Part: !scoped.tokens,
		Now: facts.Now, NameSuffix: r.NameSuffix, Creates: r.CreatesTokens,
	}), facts)
}

// stops reports whether an error means that nothing else can work either.
func stops(err error) bool { return errors.Is(err, edge.ErrUnauthenticated) }

// rejected is the one message for a credential that the platform does not take.
func rejected(err error) error {
	return fmt.Errorf("%w; check credentials.rulesets: %w", edge.ErrUnauthenticated, err)
}
