package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
)

// compiled is what the compiler made of a commit that is not in force.
type compiled struct {
	commit   string
	state    desired.State
	problems []desired.Problem
}

// choose fetches and compiles, and decides which commit this run acts on: the
// newest, or, where the order allows falling back, the last good one.
func (r *Reconciler) choose(ctx context.Context, order Order, memory Recollection, report *Report) (desired.State, error) {
	commit, err := r.Source.Fetch(ctx)
	if err != nil {
		err = fmt.Errorf("fetching desired state: %w", err)
		return r.fallBack(ctx, order, report, Held{Commit: commit, Reason: err.Error()}, err)
	}
	if r.inForce != nil && commit != "" && commit == r.inForce.Commit {
		return *r.inForce, nil
	}
	newest, err := r.compile(ctx, commit, order)
	if err != nil {
		err = fmt.Errorf("compiling desired state: %w", err)
		return r.fallBack(ctx, order, report, Held{Commit: commit, Reason: err.Error()}, err)
	}
	if errs := desired.Errors(newest.problems); len(errs) > 0 {
		return r.fallBack(ctx, order, report, Held{Commit: commit, Reason: ErrInvalid.Error(), Problems: errs}, ErrInvalid)
	}
	if f := r.sizes(order, memory, newest.state); order.FallBack && f.Shrunk() {
		err := fmt.Errorf("%w: %s", ErrShrunk, f.ShrinkReason())
		return r.fallBack(ctx, order, report, Held{Commit: commit, Reason: f.ShrinkReason()}, err)
	}
	report.Problems = newest.problems
	return newest.state, nil
}

// compile compiles a commit. A sync that meets the newest commit again takes
// what was made of it before; any other run looks again.
func (r *Reconciler) compile(ctx context.Context, commit string, order Order) (compiled, error) {
	if known := r.newest; known != nil && known.commit == commit && commit != "" && order.Trigger == TriggerSync {
		return *known, nil
	}
	r.newest = nil
	state, problems, err := r.Compiler.Compile(ctx, commit)
	if err != nil {
		return compiled{}, err
	}
	r.newest = &compiled{commit, state, problems}
	return *r.newest, nil
}

// fallBack returns the state of the last good commit, and reports the one that
// is held; or fails with err where there is none, or nobody wants it.
func (r *Reconciler) fallBack(ctx context.Context, order Order, report *Report, held Held, err error) (desired.State, error) {
	if ctx.Err() != nil {
		return desired.State{}, context.Cause(ctx)
	}
	if !order.FallBack {
		report.Problems = held.Problems
		return desired.State{}, err
	}
	state, goodErr := r.lastGood(ctx)
	if goodErr != nil {
		report.Problems = held.Problems
		return desired.State{}, fmt.Errorf("%w; %w", err, goodErr)
	}
	report.Held = &held
	return state, nil
}

var errNoGood = errors.New("there is no earlier good commit to keep")

// lastGood returns the state to fall back to: the one in force, unless another
// process has accepted one since, or this one is new and has none.
func (r *Reconciler) lastGood(ctx context.Context) (desired.State, error) {
	if r.inForce != nil && !r.overtaken(ctx) {
		return *r.inForce, nil
	}
	state, err := r.goodOnRecord(ctx)
	if err != nil && r.inForce != nil {
		return *r.inForce, nil
	}
	return state, err
}

// goodOnRecord returns what the commit remembered as good compiles to.
func (r *Reconciler) goodOnRecord(ctx context.Context) (desired.State, error) {
	if r.Good == nil {
		return desired.State{}, errNoGood
	}
	commit, ok, err := r.Good.Good(ctx)
	if err != nil {
		return desired.State{}, fmt.Errorf("finding the last good commit: %w", err)
	}
	if !ok {
		return desired.State{}, errNoGood
	}
	state, problems, err := r.Compiler.Compile(ctx, commit)
	if err != nil {
		return desired.State{}, fmt.Errorf("compiling the last good commit %s: %w", commit, err)
	}
	if errs := desired.Errors(problems); len(errs) > 0 {
		// A newer Seawall may be stricter than the one that accepted it.
		return desired.State{}, fmt.Errorf("the last good commit %s no longer compiles: %s", commit, errs[0])
	}
	return state, nil
}
