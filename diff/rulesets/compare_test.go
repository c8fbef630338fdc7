package rulesets_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// A version compared with itself differs in nothing, whatever the order of rules and tags; in
// the other direction what came went.
func TestCompareIsItsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := difftest.GenVersion(t), difftest.GenVersion(t)
		shuffled := a
		n := len(a.Rules) - 1
		shuffled.Rules = append(rapid.Permutation(a.Rules[:n]).Draw(t, "order"), a.Rules[n])
		if c := rulesets.Compare(a, shuffled); !c.IsZero() {
			t.Fatalf("a version and itself: %+v", c)
		}
		there, back := rulesets.Compare(a, b), rulesets.Compare(b, a)
		mirrored := rulesets.Comparison{Removed: back.Added, Added: back.Removed, Revised: back.Revised}
		for _, c := range back.Changed {
			members := slices.Clone(c.Members)
			for i, m := range members {
				members[i].Old, members[i].New = m.New, m.Old
			}
			mirrored.Changed = append(mirrored.Changed, rulesets.RuleChange{Before: c.After, After: c.Before, Members: members})
		}
		if back.Last != nil {
			mirrored.Last = &rulesets.LastChange{Before: back.Last.After, After: back.Last.Before}
		}
		anyOrder := cmpopts.SortSlices(func(a, b rulesets.RuleChange) bool { return a.Before.ID < b.Before.ID })
		if d := cmp.Diff(there, mirrored, anyOrder, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("there and back (-there +back):\n%s", d)
		}
	})
}

// What is left of a ruleset for the record says the same.
func TestFactsSayTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := difftest.GenVersion(t)
		if c := rulesets.Compare(a, rulesets.Facts(a)); !c.IsZero() {
			t.Fatalf("the facts differ: %+v", c)
		}
	})
}

func TestCompare(t *testing.T) {
	changing := difftest.Changing
	for name, c := range map[string]struct {
		change func(*edge.Ruleset)
		want   string
	}{
		"the version alone": {func(*edge.Ruleset) {}, "no rule differs, by what the platform shows of them"},
		"gone":              {difftest.Without(0, 3), "2 removed"},
		"new":               {difftest.With(edge.Rule{ID: difftest.RuleID(20), Action: edge.ActionLog}), "1 added"},
		"not said is on":    {changing(1, func(r *edge.Rule) { r.Enabled = nil }), "no rule differs, by what the platform shows of them"},
		"another id":        {changing(1, func(r *edge.Rule) { r.ID = difftest.RuleID(30) }), "1 changed"},
		"another last rule": {changing(8, func(r *edge.Rule) { r.ID, r.Ref = difftest.RuleID(30), "other" }), "another last rule"},
		"the last rule moves": {func(r *edge.Ruleset) {
			r.Rules[7], r.Rules[8] = r.Rules[8], r.Rules[7]
		}, "another last rule"},
		"revised": {changing(1, func(r *edge.Rule) { r.Version = "9" }), "1 revised without a difference that the platform shows"},
		"two rules with one ref are not told apart by it": {func(r *edge.Ruleset) {
			r.Rules[1].ID, r.Rules[2].ID, r.Rules[2].Ref = difftest.RuleID(30), difftest.RuleID(31), r.Rules[1].Ref
		}, "2 removed, 2 added"},
	} {
		t.Run(name, func(t *testing.T) {
			before := difftest.Managed()
			if got := rulesets.Compare(before, difftest.Next(before, c.change)).String(); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

// Each member that decides what a rule does, or what it is called, is compared.
func TestComparedMembers(t *testing.T) {
	after := difftest.Next(difftest.Managed(), difftest.Changing(1, func(r *edge.Rule) {
		*r = edge.Rule{ID: r.ID, Action: edge.ActionLog, Enabled: new(false), Categories: []string{"b", "a"}, Ref: "x", Description: new("d"), ScoreThreshold: new(3)}
	}))
	c := rulesets.Compare(difftest.Managed(), after)
	var paths []string
	for _, m := range c.Changed[0].Members {
		paths = append(paths, m.Path)
	}
	if got := strings.Join(paths, " "); got != "ref description enabled action tags score_threshold" {
		t.Errorf("compared are %s", got)
	}
}
