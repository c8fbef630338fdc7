package review

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
)

// keepingZones is keeping where the platform can be asked what a zone can deploy: that
// serves where the credential may not list the account's rulesets, as in a plan.
type keepingZones struct {
	keeping
	Zones edge.RulesetReader
}

// over returns keeping over a reader, with the calls on zones where the reader has them.
func (k keeping) over(reader edge.Reader) edge.Reader {
	k.Reader = reader
	if zones, offered := reader.(edge.RulesetReader); offered {
		return keepingZones{k, zones}
	}
	return k
}

// ZoneRulesets implements [edge.RulesetReader].
func (k keepingZones) ZoneRulesets(ctx context.Context, zone edge.ZoneID) ([]edge.Ruleset, error) {
	return keep(ctx, k.keeping, readOf{zone: zone, list: true}, func() ([]edge.Ruleset, error) { return k.Zones.ZoneRulesets(ctx, zone) })
}

// ZoneRuleset implements [edge.RulesetReader].
func (k keepingZones) ZoneRuleset(ctx context.Context, zone edge.ZoneID, id edge.RulesetID) (edge.Ruleset, error) {
	return keep(ctx, k.keeping, readOf{zone: zone, ruleset: id}, func() (edge.Ruleset, error) { return k.Zones.ZoneRuleset(ctx, zone, id) })
}

// ZoneRulesetVersion implements [edge.RulesetReader].
func (k keepingZones) ZoneRulesetVersion(ctx context.Context, zone edge.ZoneID, id edge.RulesetID, version string) (edge.Ruleset, error) {
	return keep(ctx, k.keeping, readOf{zone: zone, ruleset: id, version: version}, func() (edge.Ruleset, error) {
		return k.Zones.ZoneRulesetVersion(ctx, zone, id, version)
	})
}
