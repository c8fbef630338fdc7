package ledgertest

import (
	"context"
	"errors"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// anAccount deploys one ruleset several times.
var anAccount = edge.AccountScope("a1")

var severalAtAccountLevel = step{
	"several deployments of one ruleset at account level", func(ctx context.Context, s Store) error {
		eu, us := diff.DeploymentID{Scope: anAccount, Ruleset: "r", Ref: "eu"}, diff.DeploymentID{Scope: anAccount, Ruleset: "r", Ref: "a/b c"}
		return errors.Join(
			s.Prove(ctx, "c1", nil, append(owns(eu, "a"), owns(us, "b")...)), s.Widen(ctx, owns(us, "c")),
			s.NonConvergent(ctx, eu, "n"), s.NonConvergent(ctx, us, "m"), s.Forget(ctx, []diff.DeploymentID{eu}))
	},
	reconcile.Record{
		Applied:       diff.Applied{{Scope: anAccount, Ruleset: "r", Ref: "a/b c"}: {"b", "c"}},
		NonConvergent: map[diff.DeploymentID]string{{Scope: anAccount, Ruleset: "r", Ref: "a/b c"}: "m"},
	},
}
