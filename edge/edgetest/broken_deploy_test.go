package edgetest_test

import (
	"context"
	"encoding/json"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// brokenDeployments are platforms with one mistake each in the calls beyond the
// reference.
var brokenDeployments = map[string]mistake{
	"a creation overwrites":                  {foundBy: "an entry point is not overwritten", platform: func(p *mem.Platform) both { return overwriter{p} }},
	"a dry run writes":                       {foundBy: "a dry run writes nothing", platform: func(p *mem.Platform) both { return wet{p} }},
	"a version is the latest one":            {foundBy: "versions of the past are readable", platform: func(p *mem.Platform) both { return forgetful{p} }},
	"a name is not looked at":                {foundBy: "zones are found by name", platform: func(p *mem.Platform) both { return blind{p} }},
	"a deletion takes all rules":             {foundBy: "a rule is deleted and the others stay", platform: func(p *mem.Platform) both { return thorough{p} }},
	"a caller is not asked before a request": {foundBy: "a deployment that is held back is not sent", platform: func(p *mem.Platform) both { return hasty{p} }},
}

type overwriter struct{ *mem.Platform }

func (o overwriter) CreateEntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase, rules []edge.Rule) (*edge.Ruleset, error) {
	body, err := json.Marshal(map[string]any{"rules": rules})
	if err != nil {
		return nil, err
	}
	return o.In(zone, false).ReplaceEntryPoint(ctx, edge.PhaseFirewallManaged, body)
}

type wet struct{ *mem.Platform }

func (w wet) TryAddRule(ctx context.Context, zone edge.Scope, entry edge.RulesetID, body edge.Rule) error {
	_, err := w.AddRule(ctx, zone, entry, body)
	return err
}

type forgetful struct{ *mem.Platform }

func (f forgetful) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, _ string) (edge.Ruleset, error) {
	return f.Ruleset(ctx, scope, id)
}

type blind struct{ *mem.Platform }

func (b blind) Zones(ctx context.Context, _ edge.ZoneFilter) ([]edge.Zone, error) {
	return b.Platform.Zones(ctx, edge.ZoneFilter{})
}

type thorough struct{ *mem.Platform }

func (o thorough) DeleteRule(ctx context.Context, zone edge.Scope, entry edge.RulesetID, rule edge.RuleID) (*edge.Ruleset, error) {
	answer, err := o.Platform.DeleteRule(ctx, zone, entry, rule)
	for err == nil && answer != nil && len(answer.Rules) > 0 {
		answer, err = o.Platform.DeleteRule(ctx, zone, entry, answer.Rules[0].ID)
	}
	return answer, err
}

type hasty struct{ *mem.Platform }

func (h hasty) AddRule(ctx context.Context, zone edge.Scope, entry edge.RulesetID, body edge.Rule) (*edge.Ruleset, error) {
	return h.Platform.AddRule(context.Background(), zone, entry, body)
}
