package edgetest

import (
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
