package deployment

import (
	"encoding/json"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// oneDifference lists the ways in which two execute rules can differ in one
// thing, and one in which they do not.
var oneDifference = map[string]func(*edge.Rule, *edge.Overrides){
	"none":              func(*edge.Rule, *edge.Overrides) {},
	"order":             func(_ *edge.Rule, o *edge.Overrides) { slices.Reverse(o.Rules) },
	"enabled":           func(r *edge.Rule, _ *edge.Overrides) { r.Enabled = new(!r.IsEnabled()) },
	"expression":        func(r *edge.Rule, _ *edge.Overrides) { r.Expression += " and false" },
	"ruleset's action":  func(_ *edge.Rule, o *edge.Overrides) { o.Action = new(edge.Action("another")) },
	"ruleset's enabled": func(_ *edge.Rule, o *edge.Overrides) { o.Enabled = new(o.Enabled == nil || !*o.Enabled) },
	"sensitivity":       func(_ *edge.Rule, o *edge.Overrides) { o.SensitivityLevel = new("another") },
	"member nobody knows": func(_ *edge.Rule, o *edge.Overrides) {
		o.Extra = map[string]json.RawMessage{"another": json.RawMessage("1")}
	},
	"category": func(_ *edge.Rule, o *edge.Overrides) {
		o.Categories = append(slices.Clone(o.Categories), edge.CategoryOverride{Category: "another", Enabled: &off})
	},
	"rule": func(_ *edge.Rule, o *edge.Overrides) {
		o.Rules = append(slices.Clone(o.Rules), edge.RuleOverride{ID: difftest.RuleID(77), Enabled: &off})
	},
}

// Sparing go-cmp the rules that are alike spares it no difference: the two judge
// any two rules the same.
func TestEqualIsWhatGoCmpSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		overrides := difftest.GenOverrides(t)
		live := difftest.Execute(overrides)
		if overrides == nil {
			overrides = &edge.Overrides{}
		}
		other := *overrides
		other.Rules = slices.Clone(other.Rules)
		want := difftest.Execute(&other)
		difference := rapid.SampledFrom(sortedKeys(oneDifference)).Draw(t, "difference")
		oneDifference[difference](&want, &other)
		a, b := canonicalise(live), canonicalise(want)
		a.Overrides.Categories, b.Overrides.Categories = align(a.Overrides.Categories, b.Overrides.Categories)
		a.Overrides.Rules, b.Overrides.Rules = align(a.Overrides.Rules, b.Overrides.Rules)
		if got, says := a.equal(b), gocmp.Equal(a, b); got != says {
			t.Fatalf("equal says %v, go-cmp %v, of\n%+v\n%+v", got, says, a, b)
		}
	})
}
