package ledgertest

import (
	"slices"

	"github.com/seawall-dev/seawall/reconcile"
)

// controlSteps are about [reconcile.Control].
func controlSteps() []step { return slices.Concat(approvalSteps(), rolloutSteps()) }

func approvalSteps() []step {
	override := reconcile.Approval{Digest: "freezes.weekend", Kind: reconcile.Overridden, Who: "kim", Reason: "INC-1", At: noon}
	return []step{
		{
			"approve", approve(said("a", "kim"), said("b", "lee")),
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "kim"), said("b", "lee")}},
		},
		{
			"the first word counts", all(approve(said("a", "kim"), said("a", "lee")), approve(said("a", "max"))),
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "kim")}},
		},
		{
			"an override releases nothing", approve(override, override),
			reconcile.Record{},
		},
		{
			"spend", all(approve(said("a", "kim"), said("b", "kim")), spend("a", "never said")),
			reconcile.Record{Approvals: []reconcile.Approval{said("b", "kim")}},
		},
		{
			"what is spent can be said again", all(
				approve(said("a", "kim")), spend("a"), approve(said("a", "lee")),
			),
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "lee")}},
		},
		{
			"withdraw", all(approve(said("a", "kim"), said("b", "kim")), withdraw("taken back", "b", "never said")),
			reconcile.Record{Approvals: []reconcile.Approval{said("a", "kim")}},
		},
		{
			"what is withdrawn can be said again", all(
				approve(said("a", "kim")), withdraw("expired", "a"), approve(said("a", "kim")),
			),
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
			"roll", roll(set(rolling)),
			reconcile.Record{Rollout: rolling},
		},
		{
			"roll on from what is there", all(roll(set(rolling)), roll(reconcile.Rollout.Resumed)),
			reconcile.Record{Rollout: rolling.Resumed()},
		},
		{
			"a rollout that is through has no zones", all(roll(set(rolling)), roll(set(reconcile.Rollout{Commit: "c2"}))),
			reconcile.Record{Rollout: reconcile.Rollout{Commit: "c2"}},
		},
	}
}
