package deployment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// compare returns the fields in which two execute rules differ, sorted by path,
// without direction and origin. It is empty when they are canonically equal and
// make every managed rule behave alike.
func compare(live, want edge.Rule, m *managed) []diff.Field {
	a, b := canonicalise(live), canonicalise(want)
	a.Overrides.Categories, b.Overrides.Categories = align(a.Overrides.Categories, b.Overrides.Categories)
	a.Overrides.Rules, b.Overrides.Rules = align(a.Overrides.Rules, b.Overrides.Rules)

	var r reporter
	if !a.equal(b) {
		gocmp.Equal(a, b, gocmp.Reporter(&r))
	}
	fields := append(r.fields, order(live, want, m)...)
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
	return fields
}

// order finds the one difference that canonical forms are blind to: categories
// that hit the same rule, listed the other way round.
func order(live, want edge.Rule, m *managed) []diff.Field {
	a, b := overridesOf(live), overridesOf(want)
	if a == nil || b == nil || slices.Equal(tagOrder(a), tagOrder(b)) {
		return nil
	}
	once := *a // as canonical forms see it
	once.Categories = nil
	for _, s := range categorySlots(a) {
		once.Categories = append(once.Categories, s.live.category(s.key))
	}
	asListed := *b
	asListed.Categories = orderedLike(b.Categories, once.Categories)
	if m.sameEffects(a, &once) && m.sameEffects(&asListed, b) {
		return nil
	}
	return []diff.Field{{Path: "overrides.categories", Old: tagOrder(a), New: tagOrder(b), Note: "order"}}
}

// orderedLike returns categories in the order in which model lists them; those
// it does not list come last.
func orderedLike(categories, model []edge.CategoryOverride) []edge.CategoryOverride {
	place := make(map[string]int, len(model))
	for i, c := range model {
		place[c.Category] = i - len(model)
	}
	categories = slices.Clone(categories)
	slices.SortStableFunc(categories, func(a, b edge.CategoryOverride) int {
		return cmp.Compare(place[a.Category], place[b.Category])
	})
	return categories
}

func overridesOf(rule edge.Rule) *edge.Overrides {
	if rule.ActionParameters == nil {
		return nil
	}
	return rule.ActionParameters.Overrides
}

func tagOrder(o *edge.Overrides) []string {
	tags := make([]string, len(o.Categories))
	for i, c := range o.Categories {
		tags[i] = c.Category
	}
	return tags
}

// reporter collects the leaves in which go-cmp found a difference.
type reporter struct {
	path   gocmp.Path
	fields []diff.Field
}

func (r *reporter) PushStep(step gocmp.PathStep) { r.path = append(r.path, step) }
func (r *reporter) PopStep()                     { r.path = r.path[:len(r.path)-1] }

func (r *reporter) Report(result gocmp.Result) {
	if result.Equal() {
		return
	}
	old, wanted := r.path.Last().Values()
	r.fields = append(r.fields, diff.Field{Path: memberOf(r.path), Old: leaf(old), New: leaf(wanted)})
}

// memberOf writes a go-cmp path in the reference's names.
func memberOf(path gocmp.Path) diff.Member {
	var b strings.Builder
	inExtra := false
	for _, step := range path {
		switch s := step.(type) {
		case gocmp.StructField:
			if inExtra = s.Name() == "Extra"; !inExtra {
				b.WriteString("." + memberNames[s.Name()])
			}
		case gocmp.MapIndex:
			if inExtra {
				b.WriteString("." + s.Key().String())
			} else {
				fmt.Fprintf(&b, "[%q]", s.Key().String())
			}
		}
	}
	return diff.Member(strings.TrimPrefix(b.String(), "."))
}

var memberNames = map[string]string{
	"Enabled": "enabled", "Expression": "expression", "Version": "version", "Overrides": "overrides", "Action": "action",
	"ScoreThreshold": "score_threshold", "SensitivityLevel": "sensitivity_level",
	"Categories": "categories", "Rules": "rules",
}

// leaf returns the value go-cmp stopped at, nil where there is none.
func leaf(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if text, ok := v.Interface().(rawText); ok {
		return json.RawMessage(text)
	}
	return v.Interface()
}
