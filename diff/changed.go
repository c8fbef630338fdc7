package diff

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// ChangedZones returns the zones of after whose declaration is new or says
// something else than in before. Where a value was declared does not count. A
// ruleset reference that changed changes every zone of its account.
func ChangedZones(before, after desired.State) map[edge.Scope]bool {
	if replaced, ok := desired.Replaced(before, after); ok {
		return Changed(before, after, replaced)
	}
	type known struct {
		account edge.AccountID
		zone    *desired.Zone
	}
	zones := make(map[edge.Scope]known, before.Zones())
	rulesets := map[edge.AccountID][]desired.RulesetRef{}
	for _, account := range before.Accounts {
		rulesets[account.ID] = account.Rulesets
		for i, zone := range account.Zones {
			zones[zone.Scope] = known{account.ID, &account.Zones[i]}
		}
	}
	changed := map[edge.Scope]bool{}
	for _, account := range after.Accounts {
		sameRulesets := desired.SameRulesets(rulesets[account.ID], account.Rulesets)
		for _, zone := range account.Zones {
			old, ok := zones[zone.Scope]
			if !ok || !sameRulesets || old.account != account.ID || !old.zone.SameAs(zone) {
				changed[zone.Scope] = true
			}
		}
	}
	return changed
}

// Changed is [ChangedZones] where it is known which zones were replaced; see [desired.Replaced].
func Changed(before, after desired.State, replaced []desired.Index) map[edge.Scope]bool {
	changed := map[edge.Scope]bool{}
	for _, at := range replaced {
		if z := after.Accounts[at.Account].Zones[at.Zone]; !z.SameAs(before.Accounts[at.Account].Zones[at.Zone]) {
			changed[z.Scope] = true
		}
	}
	return changed
}
