package ledgertest

import (
	"context"
	"errors"
	"slices"

	"github.com/seawall-dev/seawall/reconcile"
)

// controlSteps are about [reconcile.Control].
func controlSteps() []step { return slices.Concat(approvalSteps(), rolloutSteps()) }

func approvalSteps() []step {
	override := reconcile.Approval{Digest: "freezes.weekend", Kind: reconcile.Overridden, Who: "kim", Reason: "INC-1", At: noon}
	return []step{
		{
			"approve", func(ctx context.Context, s Store) error {
				return s.Approve(ctx, []reconcile.Approval{said("a", "kim"), said("b", "lee")})
			},
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "kim"), said("b", "lee")}},
		},
		{
			"the first word counts", func(ctx context.Context, s Store) error {
				return errors.Join(s.Approve(ctx, []reconcile.Approval{said("a", "kim"), said("a", "lee")}), s.Approve(ctx, []reconcile.Approval{said("a", "max")}))
			},
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "kim")}},
		},
		{
			"an override releases nothing", func(ctx context.Context, s Store) error {
				return s.Approve(ctx, []reconcile.Approval{override, override})
			},
			reconcile.Record{},
		},
		{
			"spend", func(ctx context.Context, s Store) error {
				return errors.Join(s.Approve(ctx, []reconcile.Approval{said("a", "kim"), said("b", "kim")}), s.Spend(ctx, []string{"a", "never said"}))
			},
			reconcile.Record{Approvals: []reconcile.Approval{said("b", "kim")}},
		},
		{
			"what is spent can be said again", func(ctx context.Context, s Store) error {
				return errors.Join(s.Approve(ctx, []reconcile.Approval{said("a", "kim")}), s.Spend(ctx, []string{"a"}), s.Approve(ctx, []reconcile.Approval{said("a", "lee")}))
			},
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "lee")}},
		},
		{
			"withdraw", func(ctx context.Context, s Store) error {
				return errors.Join(s.Approve(ctx, []reconcile.Approval{said("a", "kim"), said("b", "kim")}), s.Withdraw(ctx, []string{"b", "never said"}, "taken back"))
			},
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "kim")}},
		},
		{
			"what is withdrawn can be said again", func(ctx context.Context, s Store) error {
				return errors.Join(s.Approve(ctx, []reconcile.Approval{said("a", "kim")}), s.Withdraw(ctx, []string{"a"}, "expired"), s.Approve(ctx, []reconcile.Approval{said("a", "kim")}))
			},
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "kim")}},
		},
	}
}

func rolloutSteps() []step {
	set := func(o reconcile.Rollout) func(reconcile.Rollout) reconcile.Rollout {
		return func(reconcile.Rollout) reconcile.Rollout { return o }
	}
	return []step{
		{
			"roll", func(ctx context.Context, s Store) error { return s.Roll(ctx, set(rolling)) },
			reconcile.Record{Rollout: rolling},
		},
		{
			"roll on from what is there", func(ctx context.Context, s Store) error {
				return errors.Join(s.Roll(ctx, set(rolling)), s.Roll(ctx, reconcile.Rollout.Resumed))
			},
			reconcile.Record{Rollout: rolling.Resumed()},
		},
		{
			"a rollout that is through has no zones", func(ctx context.Context, s Store) error {
				return errors.Join(s.Roll(ctx, set(rolling)), s.Roll(ctx, set(reconcile.Rollout{Commit: "c2"})))
			},
			reconcile.Record{Rollout: reconcile.Rollout{Commit: "c2"}},
		},
	}
}
