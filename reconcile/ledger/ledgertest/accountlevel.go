package ledgertest

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// anAccount deploys one ruleset several times.
var anAccount = edge.AccountScope("a1")

var (
	eu, us = diff.DeploymentID{Scope: anAccount, Ruleset: "r", Ref: "eu"}, diff.DeploymentID{Scope: anAccount, Ruleset: "r", Ref: "a/b c"}

	severalAtAccountLevel = step{
		"several deployments of one ruleset at account level", all(
			prove("c1", nil, append(owns(eu, "a"), owns(us, "b")...)), widen(owns(us, "c")),
			nonConvergent(eu, "n"), nonConvergent(us, "m"), forget([]diff.DeploymentID{eu}),
		),
		reconcile.Record{
			Applied:       diff.Applied{us: {"b", "c"}},
			NonConvergent: map[diff.DeploymentID]string{us: "m"},
		},
	}
)
