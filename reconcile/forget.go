package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// forget drops what is remembered of deployments that the accepted state no
// longer declares. One that comes back later begins anew: what is live by then
// may be somebody's hand work and must not pass for "once ours".
func (r *Reconciler) forget(ctx context.Context, memory Recollection, state desired.State, live diff.Live) error {
	if r.Memory == nil {
		return nil
	}
	ids := obsolete(memory, state, live)
	if len(ids) == 0 {
		return nil
	}
	if err := r.Memory.Forget(ctx, ids); err != nil {
		return fmt.Errorf("forgetting deployments that left the repository: %w", err)
	}
	return nil
}

// obsolete returns the remembered deployments that a state does not declare,
// sorted. Where a zone's rulesets cannot be told, all of the zone stays.
func obsolete(memory Recollection, state desired.State, live diff.Live) []diff.DeploymentID {
	declared, unsure := declarations(state, live)
	gone := map[diff.DeploymentID]bool{}
	note := func(id diff.DeploymentID) {
		if !declared[id] && !unsure[id.Zone] {
			gone[id] = true
		}
	}
	for id := range memory.Applied {
		note(id)
	}
	for id := range memory.NonConvergent {
		note(id)
	}
	return slices.SortedFunc(maps.Keys(gone), func(a, b diff.DeploymentID) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Ruleset, b.Ruleset))
	})
}

// declarations names every deployment of a state the way the platform does. A
// zone is unsure when one of its rulesets was not found, or not looked for.
func declarations(state desired.State, live diff.Live) (declared map[diff.DeploymentID]bool, unsure map[edge.ZoneID]bool) {
	declared, unsure = map[diff.DeploymentID]bool{}, map[edge.ZoneID]bool{}
	for _, account := range state.Accounts {
		ids := map[string]edge.RulesetID{}
		listed := live.Accounts[account.ID].Listed
		for _, ref := range account.Rulesets {
			if found, err := diff.FindRuleset(ref, listed.Value); listed.Err == nil && err == nil {
				ids[ref.Key] = found.ID
			}
		}
		for _, zone := range account.Zones {
			for _, d := range zone.Deployments {
				id, ok := ids[d.Ruleset]
				declared[diff.DeploymentID{Zone: zone.ID, Ruleset: id}] = true
				unsure[zone.ID] = unsure[zone.ID] || !ok
			}
		}
	}
	return declared, unsure
}
