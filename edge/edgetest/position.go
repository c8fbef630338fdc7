package edgetest

import (
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// ruleIsAddedAt holds the places of rules that are added to what they mean: what comes before
// an execute rule may turn it off, and what comes after it does not.
func ruleIsAddedAt(t tester) {
	other := another(t)
	deployment := t.deployment(t.entryPoint(t.Zone)).ID
	for _, step := range []struct {
		at *edge.Position
		to func(rules int) int // the index that the rule then has, of so many
	}{
		{&edge.Position{Before: &deployment}, func(int) int { return 0 }},
		{&edge.Position{Before: new(edge.RuleID(""))}, func(int) int { return 0 }},
		{&edge.Position{After: &deployment}, func(int) int { return 1 }},
		{&edge.Position{After: new(edge.RuleID(""))}, func(n int) int { return n - 1 }},
		{&edge.Position{Index: new(1)}, func(int) int { return 0 }},
		{nil, func(n int) int { return n - 1 }},
	} {
		before := t.entryPoint(t.Zone)
		if before.Rules[0].ID != deployment {
			t.Fatalf("the deployment is not the first of %d rules", len(before.Rules))
		}
		write := edge.AddRule(t.Zone, before.ID, execute(other)).At(step.at)
		if err := t.try(write); err != nil && !passes(err) {
			t.Errorf("trying %+v: %v", step.at, err)
		}
		_, err := t.send(write)
		t.must(err)
		after := t.entryPoint(t.Zone)
		to := step.to(len(after.Rules))
		if len(after.Rules) != len(before.Rules)+1 || !after.Rules[to].Executes(other) {
			t.Fatalf("%+v: got %+v", step.at, after.Rules)
		}
		if _, kept := after.Rules[to].Extra["position"]; kept {
			t.Error("the place is a member of the rule")
		}
		t.same("the other rules", before.Rules, slices.Delete(slices.Clone(after.Rules), to, to+1))
		t.must(t.deleteRule(t.Zone, after, after.Rules[to].ID))
	}
	before := t.entryPoint(t.Zone)
	for _, at := range []edge.Position{{}, {Index: new(0)}, {Index: new(9)}, {Before: new(edge.RuleID(nowhere))}, {Index: new(1), After: &deployment}} {
		write := edge.AddRule(t.Zone, before.ID, execute(other)).At(&at)
		_, err := t.send(write)
		for _, err := range []error{err, t.try(write)} {
			t.wantIs(err, edge.ErrInvalid, edge.ErrOutcomeUnknown, edge.ErrUnavailable)
		}
	}
	t.same("the entry point", before, t.entryPoint(t.Zone))
}

// skipRuleIsRead adds exceptions before the deployment: what they turn off can be told from
// what is read.
func skipRuleIsRead(t tester) {
	last, _ := t.core().Last()
	before := t.entryPoint(t.Zone)
	deployment := t.deployment(before).ID
	for parameters, want := range map[string]edge.Skip{
		`{"ruleset":"current"}`:                                            {Current: true},
		`{"rulesets":["` + string(t.Core) + `"]}`:                          {Rulesets: []edge.RulesetID{t.Core}},
		`{"rules":{"` + string(t.Core) + `":["` + string(last.ID) + `"]}}`: {Rules: map[edge.RulesetID][]edge.RuleID{t.Core: {last.ID}}},
	} {
		rule := edge.Rule{Action: edge.ActionSkip, Expression: `http.request.uri.path eq "/upload"`, ActionParameters: &edge.ActionParameters{}}
		t.must(json.Unmarshal([]byte(parameters), rule.ActionParameters))
		entry := t.entryPoint(t.Zone)
		_, err := t.send(edge.AddRule(t.Zone, entry.ID, rule).At(&edge.Position{Before: &deployment}))
		t.must(err)
		after := t.entryPoint(t.Zone)
		added := after.Rules[len(after.Rules)-len(before.Rules)-1]
		skip, is, err := added.Skip()
		if !is || err != nil || added.Expression != rule.Expression || !added.IsEnabled() || added.Ref == "" {
			t.Fatalf("%s: got %+v, %v", parameters, added, err)
		}
		t.same("what is skipped", want, skip)
		t.must(t.deleteRule(t.Zone, after, added.ID))
	}
	t.same("the rules", before.Rules, t.entryPoint(t.Zone).Rules)
}
