package reconciletest

import (
	"context"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// Records are in memory, mind their context as a database does, and may fail.
type Records struct {
	reconcile.Forgetful

	mu    sync.Mutex
	Fails func(op string) error // asked before each call; nil: none fails
	Made  []string              // the writing calls that were made
	// Overridden are the approvals that override a freeze.
	Overridden []reconcile.Approval
}

// FailBy has a function say before each call whether it fails, while calls are made.
func (r *Records) FailBy(fails func(op string) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Fails = fails
}

func (r *Records) begin(ctx context.Context, op string) error {
	r.mu.Lock()
	fails := r.Fails
	r.mu.Unlock()
	if fails != nil {
		if err := fails(op); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if op == "restore" {
		return nil
	}
	if ctx.Err() == nil && op != "standing" {
		r.Made = append(r.Made, op)
	}
	return ctx.Err()
}

// Restore implements [reconcile.Records].
func (r *Records) Restore(ctx context.Context) (reconcile.Record, error) {
	if err := r.begin(ctx, "restore"); err != nil {
		return reconcile.Record{}, err
	}
	return r.Forgetful.Restore(ctx)
}

// RestoreSince implements [reconcile.Records].
func (r *Records) RestoreSince(ctx context.Context, _ reconcile.Known) (reconcile.Record, error) {
	return r.Restore(ctx)
}

// Standing implements [reconcile.Records].
func (r *Records) Standing(ctx context.Context) (reconcile.Standing, error) {
	if err := r.begin(ctx, "standing"); err != nil {
		return reconcile.Standing{}, err
	}
	return r.Forgetful.Standing(ctx)
}

// AcceptCommit implements [reconcile.Records].
func (r *Records) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	if err := r.begin(ctx, "accept"); err != nil {
		return err
	}
	return r.Forgetful.AcceptCommit(ctx, a)
}

// SaveState implements [reconcile.Records].
func (r *Records) SaveState(ctx context.Context, commit string, state []reconcile.StatePart) error {
	if err := r.begin(ctx, "save"); err != nil {
		return err
	}
	return r.Forgetful.SaveState(ctx, commit, state)
}

// Prove implements [reconcile.Records].
func (r *Records) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	if err := r.begin(ctx, "prove"); err != nil {
		return err
	}
	return r.Forgetful.Prove(ctx, commit, proofs, settled, results...)
}

// Widen implements [reconcile.Records].
func (r *Records) Widen(ctx context.Context, owned []diff.Settled) error {
	if err := r.begin(ctx, "widen"); err != nil {
		return err
	}
	return r.Forgetful.Widen(ctx, owned)
}

// RecordWrite counts as widening, and as a drift, where that is to be recorded: the history costs
// nothing here.
func (r *Records) RecordWrite(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (int64, error) {
	if write.Heals != nil {
		if err := r.begin(ctx, "drifted"); err != nil {
			return 0, err
		}
	}
	if len(owned) > 0 {
		if err := r.begin(ctx, "widen"); err != nil {
			return 0, err
		}
	}
	return r.Forgetful.RecordWrite(ctx, write, owned)
}

// NonConvergent implements [reconcile.Records].
func (r *Records) NonConvergent(ctx context.Context, id diff.ID, fingerprint string) error {
	if err := r.begin(ctx, "not kept"); err != nil {
		return err
	}
	return r.Forgetful.NonConvergent(ctx, id, fingerprint)
}

// Forget implements [reconcile.Records].
func (r *Records) Forget(ctx context.Context, ids []diff.ID) error {
	if err := r.begin(ctx, "forget"); err != nil {
		return err
	}
	return r.Forgetful.Forget(ctx, ids)
}

// Drifted implements [reconcile.Records].
func (r *Records) Drifted(ctx context.Context, drifts []reconcile.Drift, before time.Time) error {
	if err := r.begin(ctx, "drifted"); err != nil {
		return err
	}
	return r.Forgetful.Drifted(ctx, drifts, before)
}

// Approve implements [reconcile.Control].
func (r *Records) Approve(ctx context.Context, approvals []reconcile.Approval) error {
	if err := r.begin(ctx, "approve"); err != nil {
		return err
	}
	for _, a := range approvals {
		if a.Kind == reconcile.Overridden {
			r.Overridden = append(r.Overridden, a)
		}
	}
	return r.Forgetful.Approve(ctx, approvals)
}

// Swept implements [reconcile.Records].
func (r *Records) Swept(ctx context.Context, until time.Time) error {
	if err := r.begin(ctx, "swept"); err != nil {
		return err
	}
	return r.Forgetful.Swept(ctx, until)
}

// Spend implements [reconcile.Control].
func (r *Records) Spend(ctx context.Context, digests []string) error {
	if err := r.begin(ctx, "spend"); err != nil {
		return err
	}
	return r.Forgetful.Spend(ctx, digests)
}

// Roll implements [reconcile.Control].
func (r *Records) Roll(ctx context.Context, change func(reconcile.Rollout) reconcile.Rollout) error {
	if err := r.begin(ctx, "roll"); err != nil {
		return err
	}
	return r.Forgetful.Roll(ctx, change)
}
