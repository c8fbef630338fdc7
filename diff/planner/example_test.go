package planner_test

import (
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

const (
	account edge.AccountID = "0123456789abcdef0123456789abcdef"
	core    edge.RulesetID = "c04e0000000000000000000000000001"
)

var shop = edge.ZoneScope("000000000000000000000000000000a1")

// coreRuleset is a managed ruleset with one rule.
func coreRuleset() edge.Ruleset {
	on := true
	return edge.Ruleset{
		ID: core, Name: "Core Ruleset", Kind: edge.KindManaged, Phase: edge.PhaseFirewallManaged, Version: "7",
		Rules: []edge.Rule{{
			ID: "abc00000000000000000000000000001", Ref: "ref-1", Action: edge.ActionBlock,
			Categories: []string{"wordpress"}, Enabled: &on,
		}},
	}
}

// live is a zone that deploys the ruleset, as it was read from the platform.
func live() diff.Live {
	on := true
	return diff.Live{
		Accounts: map[edge.AccountID]diff.AccountLive{account: {
			Listed:  diff.Observed[[]edge.Ruleset]{Value: []edge.Ruleset{coreRuleset()}},
			Managed: map[edge.RulesetID]diff.Observed[edge.Ruleset]{core: {Value: coreRuleset()}},
		}},
		EntryPoints: map[edge.Place]diff.Observed[edge.Ruleset]{shop.At(edge.PhaseFirewallManaged): {Value: edge.Ruleset{
			ID: "e0000000000000000000000000000001", Kind: edge.KindZone, Phase: edge.PhaseFirewallManaged, Version: "11",
			Rules: []edge.Rule{{
				ID: "d0000000000000000000000000000001", Action: edge.ActionExecute, Expression: "true", Enabled: &on,
				ActionParameters: &edge.ActionParameters{ID: core, Version: "latest"},
			}},
		}}},
	}
}

// declared is a state that disables the tag wordpress in the zone.
func declared() desired.State {
	line := desired.Origin{File: "zones/shop.cue", Line: 4, Column: 2}
	waf := desired.Deployment{Ruleset: "core", Origin: line, Enabled: desired.Declared[bool]{Value: true, Origin: line}}
	waf.Disable.Tags = []desired.Declared[string]{{Value: "wordpress", Origin: line}}
	return desired.State{Commit: "c0ffee", Accounts: []desired.Account{{
		Key: "prod", ID: account,
		Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}},
		Zones:    []desired.Zone{{Key: "shop.example", Scope: shop, Origin: line, Deployments: []desired.Deployment{waf}}},
	}}}
}

func ExampleMake() {
	plan := planner.Make(planner.Input{State: declared(), Live: live()})
	for _, change := range plan.Changes {
		request, _ := change.Request()
		fmt.Println(change.Zone, change.Action(), change.Direction, request.Method)
		for _, field := range change.Fields {
			fmt.Println(field.Path)
		}
	}
	// Output:
	// shop.example update weakens PATCH
	// overrides.categories["wordpress"].enabled
}
