package diff

import (
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// ChangedZones returns the zones of after whose declaration is new or says
// something else than in before. Where a value was declared does not count. A
// ruleset reference that changed changes every zone of its account.
func ChangedZones(before, after desired.State) map[edge.ZoneID]bool {
	ignoreOrigin := gocmp.Options{cmpopts.IgnoreTypes(desired.Origin{}), cmpopts.EquateEmpty()}
	type known struct {
		account edge.AccountID
		zone    desired.Zone
	}
	zones := make(map[edge.ZoneID]known, before.Zones())
	rulesets := map[edge.AccountID][]desired.RulesetRef{}
	for _, account := range before.Accounts {
		rulesets[account.ID] = account.Rulesets
		for _, zone := range account.Zones {
			zones[zone.ID] = known{account.ID, zone}
		}
	}
	changed := map[edge.ZoneID]bool{}
	for _, account := range after.Accounts {
		sameRulesets := gocmp.Equal(rulesets[account.ID], account.Rulesets, ignoreOrigin)
		for _, zone := range account.Zones {
			old, ok := zones[zone.ID]
			if !ok || !sameRulesets || old.account != account.ID || !gocmp.Equal(old.zone, zone, ignoreOrigin) {
				changed[zone.ID] = true
			}
		}
	}
	return changed
}
