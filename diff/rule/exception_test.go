package rule

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// An exception that was changed and then removed comes back as it was before both, in front of what it
// stood in front of.
func TestAnExceptionThatWasChangedAndRemoved(t *testing.T) {
	value := func(text string) json.RawMessage { return json.RawMessage(text) }
	r := diff.Restoration{ID: Exception.id(difftest.Zone, "office"), AccountID: difftest.Account, Deployment: "office", Members: []diff.Restored{
		{Path: "skip", Before: value(`{"rulesets":["c04e0000000000000000000000000001"]}`), Written: value(`{"ruleset":"current"}`)},
		{Path: "action", Before: value(`"skip"`)},
		{Path: "action_parameters", Before: value(`{"ruleset":"current"}`)},
		{Path: "expression", Before: value(`"true"`)},
		{Path: "logging", Before: value(`{"enabled":true}`)},
		{Path: "order", Before: value(`"first"`)},
		{Path: "ref", Before: value(`"office"`)},
	}}
	c, problem := Exception.Restore(r, diff.Input{Live: difftest.Live(difftest.Execute(nil))})
	if problem != nil || c.Direction != diff.Weakens {
		t.Fatalf("%+v, %+v", c, problem)
	}
	o := c.Operation.(diff.RuleOperation)
	body, err := bodyOf(o.Body)
	want := tree{
		"ref": "office", "action": "skip", "expression": "true", "logging": map[string]any{"enabled": true},
		"action_parameters": map[string]any{"rulesets": []any{"c04e0000000000000000000000000001"}},
	}
	if d := cmp.Diff(want, body); err != nil || d != "" || o.Do != diff.ActionDeploy || o.Position == nil || *o.Position.Before != "" {
		t.Errorf("%+v: %s", o, d)
	}
}

// What a rule turns off is compared by what it means, and what cannot be told weakens.
func TestWidening(t *testing.T) {
	const core, other = string(difftest.Core), "c04e0000000000000000000000000002"
	rules := func(ids ...any) any { return map[string]any{"rules": map[string]any{core: ids}} }
	all, whole, unknown := any(map[string]any{"ruleset": "current"}), any(map[string]any{"rulesets": []any{core}}), any(map[string]any{"x": "y"})
	for _, c := range []struct {
		old, new any
		want     diff.Direction
	}{
		{all, whole, diff.Strengthens},
		{whole, all, diff.Weakens},
		{whole, rules("a"), diff.Strengthens},
		{rules("a", "b"), rules("b"), diff.Strengthens},
		{rules("a"), rules("b"), diff.Weakens},
		{rules("a"), rules("b", "a"), diff.Weakens},
		{rules("a"), whole, diff.Weakens},
		{map[string]any{"rulesets": []any{core, other}}, whole, diff.Strengthens},
		{map[string]any{"phases": []any{"http_ratelimit"}, "ruleset": "current"}, whole, diff.Weakens},
		{map[string]any{"products": []any{"waf"}, "ruleset": "current"}, all, diff.Strengthens},
		{all, map[string]any{"products": []any{"waf"}, "ruleset": "current"}, diff.Weakens},
		{unknown, whole, diff.Weakens},
		{whole, unknown, diff.Weakens},
		{nil, whole, diff.Weakens},
	} {
		if got := widening(change{c.old, c.new, nil, tree{"enabled": true}}); got != c.want {
			t.Errorf("%v → %v: %s, want %s", c.old, c.new, got, c.want)
		}
		if got := widening(change{c.old, c.new, nil, tree{"enabled": false}}); got != diff.Neutral {
			t.Errorf("%v → %v of what is off: %s", c.old, c.new, got)
		}
	}
}

// Only what certainly matches no other requests strengthens.
func TestMatching(t *testing.T) {
	const login = `http.request.uri.path eq "/login"`
	for _, c := range []struct {
		old, new string
		want     diff.Direction
	}{
		{login, login + ` and http.host eq "a"`, diff.Strengthens},
		{"true", login, diff.Strengthens},
		{"ip.src in {192.0.2.0/24}", "ip.src eq 192.0.2.7", diff.Strengthens},
		{login, "false", diff.Strengthens},
		{login, "true", diff.Weakens},
		{login, login + ` or http.host eq "a"`, diff.Weakens},
		{"ip.src in $offices", "ip.src in $all", diff.Weakens},
		{"", login, diff.Weakens},
	} {
		if got := narrowing(change{c.old, c.new, nil, tree{"enabled": true}}); got != c.want {
			t.Errorf("%s → %s: %s, want %s", c.old, c.new, got, c.want)
		}
	}
}

// What no declaration can say stays a skip rule of others: after an import a plan is empty.
func TestDeclareException(t *testing.T) {
	const core, other = string(difftest.Core), "c04e0000000000000000000000000002"
	execute := func(id string) string {
		return `{"action": "execute", "expression": "true", "ref": "x-` + id + `", "action_parameters": {"id": "` + id + `"}}`
	}
	for parameters, want := range map[string]string{
		`{"ruleset": "current"}`:                               `"all"`,
		`{"rulesets": ["` + core + `"]}`:                       `"ruleset"`,
		`{"ruleset": "current", "products": ["waf"]}`:          "",
		`{"phase": "current", "products": ["waf"]}`:            "",
		`{"phase": "current"}`:                                 "",
		`{"rulesets": ["` + core + `"], "products": []}`:       "",
		`{"rulesets": ["` + core + `", "` + other + `"]}`:      "",
		`{"ruleset": "current", "rulesets": ["` + core + `"]}`: "",
	} {
		rule := `{"action": "skip", "expression": "ip.src eq 192.0.2.7", "ref": "office", "action_parameters": ` + parameters + `}`
		rules := living(t, rule, execute(core), execute(other))
		all := Exception.Declare(edge.Ruleset{Rules: rules})
		got := ""
		for _, o := range all {
			values, err := treeOf([]byte(o.Value))
			if err != nil {
				t.Fatal(err)
			}
			data, _ := json.Marshal(values["skip"])
			got = string(data)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", parameters, got, want)
		}
	}
}
