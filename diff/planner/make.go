// Package planner makes plans. Desired and live state go in ([Input]), a [diff.Plan]
// comes out that has passed no guard yet. It only joins what diff/deployment and
// diff/token find. It must not import diff/guard, diff/render or diff/planfile: a
// plan does not depend on what is done with it.
package planner

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/deployment"
	"github.com/seawall-dev/seawall/diff/token"
	"github.com/seawall-dev/seawall/edge"
)

// Input is all a plan is made from.
type Input struct {
	State   desired.State
	Live    diff.Live
	Applied diff.Applied
	// Reports says that unmanaged members which are new are only reported; see
	// [deployment.Input].
	Reports bool
	// Prunable are the deployments that are removed where nothing declares them.
	Prunable diff.Pruning
	// Memory spares deployments that were planned before and have not changed since;
	// nil spares none.
	Memory *deployment.Memory
	// Indexes spares the indexing of managed rulesets that were planned with before;
	// nil indexes them anew.
	Indexes *deployment.Indexes
	// Merges says that the platform was seen to keep what an update leaves out; see
	// [deployment.Input].
	Merges bool
	// Part says that State has only part of the tokens that are declared: none is an
	// orphan for not being in it.
	Part bool
	// Undigested leaves out [diff.Plan.Digest], which takes longer than the rest of a plan of
	// one zone that is not shown.
	Undigested bool
	// Now decides which tokens are due for a successor, and which are over. With
	// the zero time none is.
	Now time.Time
	// Rotate is a token to be rotated now; see [token.Input].
	Rotate edge.TokenID
	// NameSuffix goes behind the names of tokens that are created.
	NameSuffix diff.NameSuffix
	// Creates says which permission groups have the right to create tokens; nil is
	// CreatesTokens(nil).
	Creates func(desired.PermissionGroup) bool
}

// Make plans everything in.State declares against in.Live. Zones whose entry
// point was not read are left out. The plan is sorted by account, zone and
// deployment and has passed no guard yet; see diff/guard.
func Make(in Input) diff.Plan {
	deployments := deployment.Plan(deployment.Input{
		Accounts: in.State.Accounts, Live: in.Live, Applied: in.Applied, Reports: in.Reports, Prunable: in.Prunable, Merges: in.Merges,
		Memory: in.Memory, Indexes: in.Indexes,
	})
	tokens := token.Plan(token.Input{
		Tokens: in.State.Tokens, Live: in.Live.Tokens, Part: in.Part,
		Now: in.Now, Rotate: in.Rotate, NameSuffix: in.NameSuffix, Creates: in.Creates,
	})
	p := diff.NewPlan(in.State.Commit)
	p.Changes = append(append(p.Changes, deployments.Changes...), tokens.Changes...)
	p.Problems = append(append(p.Problems, deployments.Problems...), tokens.Problems...)
	p.Settled, p.SettledTokens = deployments.Settled, tokens.Settled
	p.Kept, p.Meanwhile = deployments.Kept, tokens.Meanwhile
	p.Findings, p.Expiries = tokens.Findings, tokens.Expiries
	p.Summary.Zones, p.Summary.Tokens = deployments.Zones, len(in.State.Tokens)
	diff.SortChanges(p.Changes)
	if in.Undigested {
		return p.Counted()
	}
	return p.Sealed()
}
