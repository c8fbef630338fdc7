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
	"a place is not looked at":               {foundBy: "a rule is added where it is said", platform: func(p *mem.Platform) both { return appender{p} }},
	"a deletion takes all rules":             {foundBy: "a rule is deleted and the others stay", platform: func(p *mem.Platform) both { return thorough{p} }},
	"a caller is not asked before a request": {foundBy: "a deployment that is held back is not sent", platform: func(p *mem.Platform) both { return hasty{p} }},
}

type overwriter struct{ *mem.Platform }

func (o overwriter) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	body, err := json.Marshal(map[string]any{"rules": w.Rules})
	if err != nil || w.Call != edge.CallCreateEntryPoint {
		return o.Platform.Send(ctx, w)
	}
	return o.In(w.Scope, false).ReplaceEntryPoint(ctx, edge.PhaseFirewallManaged, body)
}

type wet struct{ *mem.Platform }

func (p wet) Try(ctx context.Context, w edge.Write) error {
	_, err := p.Send(ctx, w)
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

func (o thorough) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	answer, err := o.Platform.Send(ctx, w)
	for w.Call == edge.CallDeleteRule && err == nil && answer != nil && len(answer.Rules) > 0 {
		w.Rule = answer.Rules[0].ID
		answer, err = o.Platform.Send(ctx, w)
	}
	return answer, err
}

type hasty struct{ *mem.Platform }

func (h hasty) Send(_ context.Context, w edge.Write) (*edge.Ruleset, error) {
	return h.Platform.Send(context.Background(), w)
}

type appender struct{ *mem.Platform }

func (a appender) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	return a.Platform.Send(ctx, w.At(nil))
}
