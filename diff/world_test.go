package diff

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// A small world for tests: one account, one zone, one managed ruleset.

const (
	testAccount edge.AccountID = "0123456789abcdef0123456789abcdef"
	testZone    edge.ZoneID    = "000000000000000000000000000000a1"
	testCore    edge.RulesetID = "c04e0000000000000000000000000001"
	testEntry   edge.RulesetID = "e0000000000000000000000000000001"
	testRule    edge.RuleID    = "d0000000000000000000000000000001"
)

func ptr[T any](v T) *T { return &v }

func ruleID(i int) edge.RuleID { return edge.RuleID(fmt.Sprintf("%032x", 0xabc000+i)) }

// testManaged has two rules at each paranoia level, with two more tags spread
// over them, one rule that is off by default, and a scoring last rule.
func testManaged() edge.Ruleset {
	r := edge.Ruleset{
		ID: testCore, Name: "Core Ruleset", Kind: edge.KindManaged,
		Phase: edge.PhaseFirewallManaged, Version: "7",
	}
	for i := range 8 {
		r.Rules = append(r.Rules, edge.Rule{
			ID: ruleID(i), Ref: fmt.Sprintf("ref-%d", i), Action: edge.ActionBlock,
			Categories: []string{edge.ParanoiaTag(i/2 + 1), []string{"sqli", "xss", "php"}[i%3]},
			Enabled:    ptr(i != 5),
		})
	}
	r.Rules = append(r.Rules, edge.Rule{
		ID: ruleID(8), Ref: "score", Description: ptr("Anomaly score"), Action: edge.ActionBlock,
		ScoreThreshold: ptr(40), Enabled: ptr(true),
	})
	return r
}

func testExecute(o *edge.Overrides) edge.Rule {
	return edge.Rule{
		ID: testRule, Version: "3", Action: edge.ActionExecute, Expression: "true", Enabled: ptr(true), Ref: "deploy-core",
		Description: ptr("hand made"),
		ActionParameters: &edge.ActionParameters{
			ID: testCore, Version: "latest", Overrides: o,
			Extra: map[string]json.RawMessage{"matched_data": json.RawMessage(`{"public_key":"k"}`)},
		},
		Extra: map[string]json.RawMessage{"logging": json.RawMessage(`{"enabled":true}`)},
	}
}

func testLive(rules ...edge.Rule) Live {
	return Live{
		Accounts: map[edge.AccountID]AccountLive{testAccount: {
			Listed:  Observed[[]edge.Ruleset]{Value: []edge.Ruleset{testManaged()}},
			Managed: map[edge.RulesetID]Observed[edge.Ruleset]{testCore: {Value: testManaged()}},
		}},
		EntryPoints: map[edge.ZoneID]Observed[edge.Ruleset]{testZone: {Value: edge.Ruleset{
			ID: testEntry, Kind: edge.KindZone, Phase: edge.PhaseFirewallManaged, Version: "11", Rules: rules,
		}}},
	}
}

func at(line int) desired.Origin {
	return desired.Origin{Commit: "c0ffee", File: "zones/shop.cue", Line: line, Column: 2}
}

func declared[T any](line int, v T) *desired.Declared[T] {
	return &desired.Declared[T]{Value: v, Origin: at(line)}
}

func testState(d desired.Deployment) desired.State {
	d.Ruleset, d.Origin = "core", at(4)
	return desired.State{Commit: "c0ffee", Accounts: []desired.Account{{
		Key: "prod", ID: testAccount,
		Rulesets: []desired.RulesetRef{{Key: "core", Name: "Core Ruleset"}},
		Zones:    []desired.Zone{{Key: "shop.example", ID: testZone, Origin: at(3), Deployments: []desired.Deployment{d}}},
	}}}
}

func enabledDeployment() desired.Deployment {
	return desired.Deployment{Enabled: desired.Declared[bool]{Value: true}}
}

func mustChange(t testing.TB, p Plan) Change {
	t.Helper()
	if len(p.Changes) != 1 || len(p.Problems) != 0 {
		t.Fatalf("want one change and no problem, got %+v", p)
	}
	return p.Changes[0]
}

// Generators for laws.

func genDeployment(t *rapid.T) desired.Deployment {
	d := enabledDeployment()
	d.Enabled.Value = rapid.Bool().Draw(t, "enabled")
	if rapid.Bool().Draw(t, "has expression") {
		d.Expression = declared(5, rapid.SampledFrom([]string{"true", `http.host eq "a"`}).Draw(t, "expression"))
	}
	if rapid.Bool().Draw(t, "has paranoia") {
		d.Paranoia = declared(6, rapid.IntRange(1, 4).Draw(t, "paranoia"))
	}
	if rapid.Bool().Draw(t, "has threshold") {
		d.Threshold = &desired.Threshold{
			Score:  *declared(7, rapid.IntRange(1, 99).Draw(t, "score")),
			Action: *declared(8, rapid.SampledFrom([]edge.Action{"block", "log", "challenge"}).Draw(t, "action")),
		}
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 7), 0, 3, rapid.ID).Draw(t, "disabled rules") {
		d.Disable.Rules = append(d.Disable.Rules, *declared(9, desired.RuleRef{ID: ruleID(i)}))
	}
	for _, tag := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"sqli", "xss", "php"}), 0, 2, rapid.ID).Draw(t, "disabled tags") {
		d.Disable.Tags = append(d.Disable.Tags, *declared(10, tag))
	}
	return d
}

func genOverrides(t *rapid.T) *edge.Overrides {
	maybeBool := rapid.Ptr(rapid.Bool(), true)
	maybeAction := rapid.Ptr(rapid.SampledFrom([]edge.Action{"block", "log"}), true)
	o := edge.Overrides{}
	if rapid.IntRange(0, 5).Draw(t, "wide") == 0 {
		o.Enabled, o.Action = maybeBool.Draw(t, "wide enabled"), maybeAction.Draw(t, "wide action")
	}
	tags := []string{"paranoia-level-1", "paranoia-level-2", "paranoia-level-3", "paranoia-level-4", "sqli", "xss", "gone"}
	for _, tag := range rapid.SliceOfN(rapid.SampledFrom(tags), 0, 5).Draw(t, "live tags") {
		c := edge.CategoryOverride{Category: tag, Enabled: maybeBool.Draw(t, "tag enabled"), Action: maybeAction.Draw(t, "tag action")}
		if !categoryEntry(c).isEmpty() {
			o.Categories = append(o.Categories, c)
		}
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 10), 0, 4, rapid.ID).Draw(t, "live rules") {
		r := edge.RuleOverride{ID: ruleID(i), Enabled: maybeBool.Draw(t, "rule enabled"), Action: maybeAction.Draw(t, "rule action")}
		if i == 8 {
			r.ScoreThreshold = rapid.Ptr(rapid.IntRange(1, 99), true).Draw(t, "live score")
		}
		if rapid.IntRange(0, 3).Draw(t, "extra") == 0 {
			r.Extra = map[string]json.RawMessage{"x_future": json.RawMessage(`{"a":1}`)}
		}
		if !ruleEntry(r).isEmpty() {
			o.Rules = append(o.Rules, r)
		}
	}
	return nonEmpty(o)
}
