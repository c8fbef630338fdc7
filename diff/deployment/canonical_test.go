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
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// canonical is what of an execute rule is compared: sets as maps, so that order
// does not count, and members that were never said as nil, so that absent is
// not false. The order of categories does count, but only where it changes how
// a rule behaves; compare sees to that.
type canonical struct {
	Enabled    bool
	Expression string
	Version    string // of the managed ruleset that is run
	Overrides  canonicalOverrides
}

type canonicalOverrides struct {
	Action           *edge.Action
	Enabled          *bool
	SensitivityLevel *string
	Categories       map[string]canonicalEntry
	Rules            map[string]canonicalEntry
	Extra            map[string]rawText
}

// rawText is the JSON text of a member nobody here knows.
type rawText string

type canonicalEntry struct {
	Action           *edge.Action
	Enabled          *bool
	ScoreThreshold   *int
	SensitivityLevel *string
	Extra            map[string]rawText
}

// canonicalise returns the canonical form of an execute rule.
func canonicalise(rule edge.Rule) canonical {
	c := canonical{Enabled: rule.IsEnabled(), Expression: rule.Expression, Version: rulesets.VersionOf(rule)}
	c.Overrides.Extra = extraText(nil)
	if rule.ActionParameters == nil || rule.ActionParameters.Overrides == nil {
		return c
	}
	o := rule.ActionParameters.Overrides
	c.Overrides = canonicalOverrides{
		Action: o.Action, Enabled: o.Enabled, SensitivityLevel: o.SensitivityLevel,
		Categories: canonicalEntries(categorySlots(o)),
		Rules:      canonicalEntries(ruleSlots(o)),
		Extra:      extraText(o.Extra),
	}
	return c
}

func canonicalEntries(slots []slot) map[string]canonicalEntry {
	entries := make(map[string]canonicalEntry, len(slots))
	for _, s := range slots {
		entries[s.key] = canonicalEntry{
			Action: s.live.Action, Enabled: s.live.Enabled, ScoreThreshold: s.live.ScoreThreshold,
			SensitivityLevel: s.live.SensitivityLevel, Extra: extraText(s.live.Extra),
		}
	}
	return entries
}

// align returns the entries of a and b. Each side has every key of
// the other, with an entry that says nothing, so that an entry that came or went
// is compared member by member.
func align(a, b map[string]canonicalEntry) (left, right map[string]canonicalEntry) {
	nothing := canonicalEntry{Extra: extraText(nil)}
	left, right = map[string]canonicalEntry{}, map[string]canonicalEntry{}
	for key, entry := range a {
		other, both := b[key]
		switch {
		case !both:
			left[key], right[key] = entry, nothing
		default:
			left[key], right[key] = entry, other
		}
	}
	for key, entry := range b {
		if _, both := a[key]; !both {
			left[key], right[key] = nothing, entry
		}
	}
	return left, right
}

// extraText is never nil: go-cmp compares a nil map as a whole, not member by
// member.
func extraText(extra map[string]json.RawMessage) map[string]rawText {
	text := make(map[string]rawText, len(extra))
	for name, value := range extra {
		text[name] = rawText(value)
	}
	return text
}

// longCompare is compare by canonical forms and go-cmp.
func longCompare(live, want edge.Rule, m *managed) []diff.Field {
	a, b := canonicalise(live), canonicalise(want)
	a.Overrides.Categories, b.Overrides.Categories = align(a.Overrides.Categories, b.Overrides.Categories)
	a.Overrides.Rules, b.Overrides.Rules = align(a.Overrides.Rules, b.Overrides.Rules)
	var r reporter
	gocmp.Equal(a, b, gocmp.Reporter(&r))
	fields := append(r.fields, order(live, want, m)...)
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
	return fields
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
