package ledgertest

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// pruneSteps are about deployments that may be removed once nothing declares them.
func pruneSteps() []step {
	mark := diff.Prunable{Account: "prod", Zone: "ü \"<&", Deployment: "core", Rule: "rule"}
	other := mark
	other.Rule = "another"
	prunable := func(id diff.DeploymentID, p diff.Prunable, members ...diff.Member) []diff.Settled {
		return []diff.Settled{{ID: id, Owned: members, Prune: &p}}
	}
	removed := []diff.Settled{{ID: first, Removed: true}}
	return []step{
		{
			"it is on record with what is owned", all(prove("c1", nil, prunable(first, mark, "a")), prove("c1", nil, prunable(second, other))),
			reconcile.Record{Applied: diff.Applied{first: {"a"}, second: {}}, Prunable: diff.Pruning{first: mark, second: other}},
		},
		{
			"a write that begins changes nothing of it", all(prove("c1", nil, prunable(first, mark, "a")), widen(owns(first, "b")), widen(prunable(second, mark))),
			reconcile.Record{Applied: diff.Applied{first: {"a", "b"}, second: {}}, Prunable: diff.Pruning{first: mark}},
		},
		{
			"the last proof counts", all(
				prove("c1", nil, prunable(first, mark)), prove("c1", nil, prunable(first, other)),
				prove("c1", nil, prunable(second, mark)), prove("c1", nil, owns(second)),
			),
			reconcile.Record{Applied: diff.Applied{first: {}, second: {}}, Prunable: diff.Pruning{first: other}},
		},
		{
			"what was removed is forgotten", all(prove("c1", nil, prunable(first, mark, "a")), nonConvergent(first, "n"), prove("c1", nil, removed)),
			reconcile.Record{},
		},
		{
			"so is what left the zone, and the zone", all(
				prove("c1", nil, append(prunable(first, mark), prunable(second, mark)...)),
				forget([]diff.DeploymentID{first}), accept(reconcile.Acceptance{Commit: "c2", Gone: []edge.Scope{edge.ZoneScope("z2")}}),
			),
			reconcile.Record{Accepted: accepted("c2")},
		},
		{
			"a commit that keeps it is enough", all(
				prove("c1", nil, append(prunable(first, mark, "a"), prunable(second, mark)...)),
				accept(reconcile.Acceptance{Commit: "c2", Keep: []diff.DeploymentID{first, sibling}}),
			),
			reconcile.Record{Accepted: accepted("c2"), Applied: diff.Applied{first: {"a"}, second: {}}, Prunable: diff.Pruning{second: mark}},
		},
		{
			"a late proof leaves it as it is", all(
				prove("c1", nil, append(prunable(first, mark, "a"), owns(second, "a")...)),
				accept(reconcile.Acceptance{Commit: "c2"}),
				prove("c1", nil, append(owns(first, "b"), prunable(second, mark, "b")...)),
			),
			reconcile.Record{Accepted: accepted("c2"), Applied: diff.Applied{first: {"b"}, second: {"b"}}, Prunable: diff.Pruning{first: mark}},
		},
	}
}
