package diff_test

import (
	"fmt"
	"os"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

const (
	account edge.AccountID = "0123456789abcdef0123456789abcdef"
	shop    edge.ZoneID    = "000000000000000000000000000000a1"
	core    edge.RulesetID = "c04e0000000000000000000000000001"
)

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
		EntryPoints: map[edge.ZoneID]diff.Observed[edge.Ruleset]{shop: {Value: edge.Ruleset{
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
		Zones:    []desired.Zone{{Key: "shop.example", ID: shop, Origin: line, Deployments: []desired.Deployment{waf}}},
	}}}
}

func ExampleMake() {
	plan := diff.Make(diff.Input{State: declared(), Live: live()})
	for _, change := range plan.Changes {
		fmt.Println(change.Zone, change.Action, change.Direction, change.Request.Method)
		for _, field := range change.Fields {
			fmt.Println(field.Path)
		}
	}
	// Output:
	// shop.example update weakens PATCH
	// overrides.categories["wordpress"].enabled
}

func ExamplePlan_Text() {
	plan := diff.Make(diff.Input{State: declared(), Live: live()})
	if err := plan.Text(os.Stdout, false); err != nil {
		panic(err)
	}
	// Output:
	// ~ prod / shop.example / core  weakens  zones/shop.cue:4:2
	//     tag wordpress enabled  unset → false  weakens
	//
	// commit c0ffee, 1 zone: 1 to change, 1 of them weakening
	// 0 requests used, 2 to apply
}

// What could not be read is unknown, and never an empty zone.
func ExampleObserved() {
	observed := live()
	observed.EntryPoints[shop] = diff.Observed[edge.Ruleset]{Err: edge.ErrForbidden}
	plan := diff.Make(diff.Input{State: declared(), Live: observed})
	fmt.Println(len(plan.Changes), "changes,", len(plan.Problems), "problem:", plan.Problems[0].State)
	// Output:
	// 0 changes, 1 problem: forbidden
}
