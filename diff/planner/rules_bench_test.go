package planner

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// ruled are zones with so many custom rules each, all in sync, every second one behind the one
// before it, and every third one of others.
func ruled(t testing.TB, zones, rules int) Input {
	t.Helper()
	var declared []desired.Other
	entry := edge.Ruleset{ID: "e", Version: "1", Kind: edge.KindZone, Phase: edge.PhaseFirewallCustom}
	previous := ""
	for i := range rules {
		ref, expression := fmt.Sprintf("rule-%04d", i), fmt.Sprintf("http.request.uri.path contains \"/admin/%d\"", i)
		entry.Rules = append(entry.Rules, edge.Rule{ID: edge.RuleID("id-" + ref), Ref: ref, Action: edge.ActionBlock, Expression: expression, Enabled: new(true)})
		if i%3 == 2 {
			continue
		}
		values := map[string]any{"action": "block", "expression": expression, "enabled": true}
		if previous != "" && i%2 == 1 {
			values["order"] = map[string]any{"after": previous}
		}
		o, err := desired.NewOther(desired.CustomRule, ref, desired.Origin{File: "edge.cue", Line: i + 1, Column: 1}, values)
		must.Do(t, err)
		declared, previous = append(declared, o), ref
	}
	account := desired.Account{Key: "prod", ID: difftest.Account}
	in := Input{Applied: diff.Applied{}, Live: diff.Live{EntryPoints: map[edge.Place]diff.Observed[edge.Ruleset]{}}}
	for i := range zones {
		zone := desired.Zone{Key: fmt.Sprintf("zone-%05d.example", i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%032x", i+1))), Others: declared}
		account.Zones = append(account.Zones, zone)
		in.Live.EntryPoints[zone.Scope.At(edge.PhaseFirewallCustom)] = diff.Observed[edge.Ruleset]{Value: entry}
		for _, o := range declared {
			in.Applied[diff.ID{Kind: desired.CustomRule, Scope: zone.Scope, Ref: o.Key}] = []diff.Member{"action"}
		}
	}
	in.State.Accounts = []desired.Account{account}
	return in
}

// BenchmarkMakeRules plans zones with 20 rules, and one zone with as many as a zone can have.
func BenchmarkMakeRules(b *testing.B) {
	for _, size := range [][2]int{{100, 20}, {1000, 20}, {1, 100}, {1, 1000}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) { benchmarkMake(b, ruled(b, size[0], size[1]), 0) })
	}
}

// BenchmarkMakeRulesRemembered is the next sweep over the same zones at rest.
func BenchmarkMakeRulesRemembered(b *testing.B) {
	for _, size := range [][2]int{{1000, 20}, {1, 1000}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			in := ruled(b, size[0], size[1])
			in.Memory = in.Memory.Renew()
			Make(in)
			benchmarkMake(b, in, 0)
		})
	}
}
