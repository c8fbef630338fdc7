package once

import (
	"context"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/reconcile"
)

// recordRulesets records the versions of managed rulesets that were read. What cannot be
// recorded does not keep the run from going on: the log says so.
func (r *Run) recordRulesets(ctx context.Context, p *planned) {
	radar := reconcile.Radar{Memory: r.Rulesets, Log: r.log()}
	for _, account := range p.state.Accounts {
		live := p.seen.Live.Accounts[account.ID]
		for _, id := range slices.Sorted(maps.Keys(live.Managed)) {
			read := live.Managed[id]
			if read.Err != nil {
				continue // the plan says so
			}
			if err := radar.Saw(ctx, account, live.Listed.Value, read.Value, r.Now(), false); err != nil {
				r.log().WarnContext(ctx, "a version of a managed ruleset cannot be recorded", "account", account.Key, "error", err.Error())
			}
		}
	}
}
