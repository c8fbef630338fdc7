package reconcile

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
)

// choose fetches and compiles, and decides which commit this run acts on: the
// newest, or, where the order allows falling back, the last good one.
func (r *Reconciler) choose(ctx context.Context, order Order, memory Recollection, report *Report) (desired.State, error) {
	commit, err := r.Source.Fetch(ctx)
	if err != nil {
		err = fmt.Errorf("fetching desired state: %w", err)
		return r.fallBack(ctx, order, report, Held{Reason: err.Error()}, err)
	}
	if r.inForce != nil && commit != "" && commit == r.inForce.Commit {
		return *r.inForce, nil
	}
	if held := r.held; held != nil && held.Commit == commit && commit != "" && order.Trigger == TriggerSync {
		// Compiled before with the same mistakes; a sweep looks again.
		return r.fallBack(ctx, order, report, *held, ErrInvalid)
	}
	r.held = nil
	state, problems, err := r.Compiler.Compile(ctx, commit)
	if err != nil {
		err = fmt.Errorf("compiling desired state: %w", err)
		return r.fallBack(ctx, order, report, Held{Commit: commit, Reason: err.Error()}, err)
	}
	if errs := desired.Errors(problems); len(errs) > 0 {
		r.held = &Held{Commit: commit, Reason: ErrInvalid.Error(), Problems: errs}
		return r.fallBack(ctx, order, report, *r.held, ErrInvalid)
	}
	report.Problems = problems
	if f := facts(order, memory, state); order.FallBack && f.Shrunk() {
		return r.fallBack(ctx, order, report, Held{Commit: commit, Reason: f.ShrinkReason()}, ErrInvalid)
	}
	return state, nil
}

// fallBack returns the state of the last good commit, and reports the one that
// is held; or fails with err where there is none, or nobody wants it.
func (r *Reconciler) fallBack(ctx context.Context, order Order, report *Report, held Held, err error) (desired.State, error) {
	report.Problems = held.Problems
	if !order.FallBack {
		return desired.State{}, err
	}
	state, ok, goodErr := r.lastGood(ctx)
	if goodErr != nil {
		return desired.State{}, fmt.Errorf("%w; and the last good commit: %w", err, goodErr)
	}
	if !ok {
		return desired.State{}, fmt.Errorf("%w; there is no earlier good commit to keep", err)
	}
	report.Held = &held
	report.Problems = nil
	return state, nil
}

func (r *Reconciler) lastGood(ctx context.Context) (desired.State, bool, error) {
	if r.inForce != nil {
		return *r.inForce, true, nil
	}
	if r.Good == nil {
		return desired.State{}, false, nil
	}
	commit, ok, err := r.Good.Good(ctx)
	if err != nil || !ok {
		return desired.State{}, false, err
	}
	state, problems, err := r.Compiler.Compile(ctx, commit)
	if err != nil {
		return desired.State{}, false, err
	}
	if errs := desired.Errors(problems); len(errs) > 0 {
		// A newer Seawall may be stricter than the one that accepted it.
		return desired.State{}, false, fmt.Errorf("%s no longer compiles: %s", commit, errs[0])
	}
	return state, true, nil
}
