package ledgertest

import (
	"context"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// call is what is done to a store. Below are those of [Store], each without what it is done
// to.
type call func(ctx context.Context, s Store) error

func all(calls ...call) call {
	return func(ctx context.Context, s Store) (err error) {
		for _, do := range calls {
			err = errors.Join(err, do(ctx, s))
		}
		return err
	}
}

func accept(commits ...reconcile.Acceptance) call {
	return func(ctx context.Context, s Store) (err error) {
		for _, a := range commits {
			err = errors.Join(err, s.AcceptCommit(ctx, a))
		}
		return err
	}
}

func prove(commit string, proofs []reconcile.Proof, settled []diff.Settled) call {
	return func(ctx context.Context, s Store) error { return s.Prove(ctx, commit, proofs, settled) }
}

func widen(owned []diff.Settled) call {
	return func(ctx context.Context, s Store) error { return s.Widen(ctx, owned) }
}

func nonConvergent(id diff.DeploymentID, fingerprint string) call {
	return func(ctx context.Context, s Store) error { return s.NonConvergent(ctx, id, fingerprint) }
}

func try(id diff.DeploymentID, t diff.Try) call {
	return func(ctx context.Context, s Store) error { return s.Tried(ctx, id, t) }
}

func forget(ids []diff.DeploymentID) call {
	return func(ctx context.Context, s Store) error { return s.Forget(ctx, ids) }
}

func drifted(drifts []reconcile.Drift, before time.Time) call {
	return func(ctx context.Context, s Store) error { return s.Drifted(ctx, drifts, before) }
}

func approve(approvals ...reconcile.Approval) call {
	return func(ctx context.Context, s Store) error { return s.Approve(ctx, approvals) }
}

func spend(digests ...string) call {
	return func(ctx context.Context, s Store) error { return s.Spend(ctx, digests) }
}

func withdraw(reason string, digests ...string) call {
	return func(ctx context.Context, s Store) error { return s.Withdraw(ctx, digests, reason) }
}

func roll(change func(reconcile.Rollout) reconcile.Rollout) call {
	return func(ctx context.Context, s Store) error { return s.Roll(ctx, change) }
}
