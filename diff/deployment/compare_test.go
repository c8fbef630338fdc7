package deployment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

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

// Member by member is what canonical forms and go-cmp say.
func TestCompareIsTheLongWay(t *testing.T) {
	m := index(difftest.Managed())
	rapid.Check(t, func(t *rapid.T) {
		overrides := difftest.GenOverrides(t)
		live := difftest.Execute(overrides)
		if rapid.Bool().Draw(t, "another") {
			overrides = difftest.GenOverrides(t)
		}
		if overrides == nil {
			overrides = &edge.Overrides{}
		}
		other := *overrides
		other.Rules = slices.Clone(other.Rules)
		want := difftest.Execute(&other)
		difference := rapid.SampledFrom(sortedKeys(oneDifference)).Draw(t, "difference")
		oneDifference[difference](&want, &other)
		if rapid.Bool().Draw(t, "taken away") {
			live, want = want, live
		}
		got, long := compare(live, want, m), longCompare(live, want, m)
		if len(got)+len(long) > 0 && !reflect.DeepEqual(got, long) {
			t.Fatalf("%+v, and the long way %+v, of\n%+v\n%+v", got, long, live, want)
		}
	})
}

// One key or many, each listed once or more: it counts once, where it stands last.
func TestUniqueSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, rapid.SampledFrom([]int{2, 40, 1000}).Draw(t, "keys")), 0, 50).Draw(t, "listed")
		slots := uniqueSlots(len(keys), func(i int) (string, entry) { return fmt.Sprint(keys[i]), entry{ScoreThreshold: &i} })
		last := map[string]int{}
		for i, key := range keys {
			last[fmt.Sprint(key)] = i
		}
		before := -1
		for _, s := range slots {
			if *s.live.ScoreThreshold != last[s.key] || last[s.key] <= before {
				t.Fatalf("%v became %+v", keys, slots)
			}
			before = last[s.key]
		}
		if len(slots) != len(last) {
			t.Fatalf("%v became %+v", keys, slots)
		}
	})
}
