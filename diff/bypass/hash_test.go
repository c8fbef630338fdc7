package bypass

import (
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

func TestHash(t *testing.T) {
	rule := func(parameters string) edge.Rule { return skip(t, "s", "ssl", parameters) }
	base := rule(`{"rulesets":["a","b"],"phases":["c"]}`)
	with := func(change func(*edge.Rule)) edge.Rule {
		r := base
		change(&r)
		return r
	}
	text, yes := "why", true
	for name, same := range map[string]edge.Rule{
		"order of lists":         rule(`{"rulesets":["b","a"],"phases":["c"]}`),
		"order of members":       rule(`{"phases":["c"],"rulesets":["a", "b"]}`),
		"a parameter of nothing": rule(`{"rulesets":["a","b"],"phases":["c"],"products":null}`),
		"a description":          with(func(r *edge.Rule) { r.Description = &text }),
		"id, ref, version":       with(func(r *edge.Rule) { r.ID, r.Ref, r.Version = "other", "ref", "2" }),
		"enabled in words":       with(func(r *edge.Rule) { r.Enabled = &yes }),
	} {
		if Hash(same) != Hash(base) {
			t.Errorf("%s: another hash", name)
		}
	}
	seen := map[string]string{Hash(base): "base"}
	for name, other := range map[string]edge.Rule{
		"expression":           with(func(r *edge.Rule) { r.Expression = "not ssl" }),
		"action":               with(func(r *edge.Rule) { r.Action = edge.ActionLog }),
		"disabled":             disabled(base),
		"fewer rulesets":       rule(`{"rulesets":["a"],"phases":["c"]}`),
		"another member":       rule(`{"products":["a","b"],"phases":["c"]}`),
		"another form":         rule(`{"rulesets":"a","phases":["c"]}`),
		"a parameter more":     rule(`{"rulesets":["a","b"],"phases":["c"],"ruleset":"current"}`),
		"no parameters":        rule(``),
		"rules":                rule(`{"rules":{"a":["b","c"]}}`),
		"rules of another":     rule(`{"rules":{"b":["a","c"]}}`),
		"a number":             rule(`{"new":12345678901234567890}`),
		"a number like it":     rule(`{"new":12345678901234567891}`),
		"a list of numbers":    rule(`{"new":[1,2]}`),
		"a list the other way": rule(`{"new":[2,1]}`),
	} {
		if len(Hash(other)) != hashDigits {
			t.Errorf("%s: %q", name, Hash(other))
		}
		if twin, taken := seen[Hash(other)]; taken {
			t.Errorf("%s has the hash of %s", name, twin)
		}
		seen[Hash(other)] = name
	}
	if Hash(rule(``)) != Hash(rule(`{}`)) || Hash(rule(``)) != Hash(rule(`{"ruleset":null}`)) {
		t.Error("parameters that say nothing are not none")
	}
	// It is on record: another form of it would take each rule for a changed one.
	if got := Hash(base); got != "e1856077259d" {
		t.Errorf("%s: the form has changed", got)
	}
}
