package deployment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// The body is the live rule without id, version and last_updated, with the
// merged overrides, and with every member nobody here knows.
func TestMakeWritesTheWholeRule(t *testing.T) {
	const live = `{"id":"d0000000000000000000000000000001","version":"3","last_updated":"2026-01-02T03:04:05.6Z","action":"execute",
		"action_parameters":{"id":"c04e0000000000000000000000000001","version":"latest","overrides":{"x_wide":[1],
			"categories":[{"category":"PL4","enabled":false},{"category":"xss","action":"log"}],"rules":[{"id":"R8","score_threshold":60,"x_rule":1}]},
			"matched_data":{"public_key":"k"}},
		"expression":"true","description":"","ref":"deploy-core","logging":{"enabled":true},"x_future":1.0}`
	var rule edge.Rule
	must.Do(t, json.Unmarshal([]byte(difftest.Names(false).Replace(live)), &rule))
	c := difftest.MustChange(t, planOne(difftest.Deployment(difftest.Paranoia(2), difftest.Threshold(25, "log"), difftest.Keep), rule))
	request, _ := c.Request()
	if got, want := request.Method+" "+request.Path,
		"PATCH /zones/000000000000000000000000000000a1/rulesets/e0000000000000000000000000000001/rules/d0000000000000000000000000000001"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const want = `{"action":"execute","action_parameters":{"id":"c04e0000000000000000000000000001","version":"latest","overrides":{` +
		`"categories":[{"category":"xss","action":"log"},{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}],` +
		`"rules":[{"id":"R8","action":"log","score_threshold":25,"x_rule":1}],"x_wide":[1]},"matched_data":{"public_key":"k"}},` +
		`"expression":"true","description":"","ref":"deploy-core","enabled":true,"logging":{"enabled":true},"x_future":1.0}`
	if got := difftest.JSONText(t, request.Body); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	target := diff.Target{Phase: edge.PhaseFirewallManaged, Ruleset: difftest.Core, EntryPoint: difftest.EntryPoint, Version: "11", Rule: difftest.Rule, Owned: c.Do().Owned()}
	if !reflect.DeepEqual(difftest.UpdateOf(c).Target, target) || len(c.Do().Owned()) != 11 {
		t.Errorf("target is %+v", difftest.UpdateOf(c).Target)
	}
}

func TestMakeLeavesOutWhatIsEmpty(t *testing.T) {
	for _, test := range []struct{ live, want string }{
		{
			`{"categories":[{"category":"PL3","enabled":false}],"rules":[{"id":"R1","action":"log"}]}`,
			`{"id":"c04e0000000000000000000000000001","version":"latest","overrides":{"rules":[{"id":"R1","action":"log"}]},"matched_data":{"public_key":"k"}}`,
		},
		{
			`{"categories":[{"category":"PL3","enabled":false}]}`,
			`{"id":"c04e0000000000000000000000000001","version":"latest","matched_data":{"public_key":"k"}}`,
		},
	} {
		c := difftest.MustChange(t, planOne(difftest.Deployment(difftest.Paranoia(4), difftest.Keep), difftest.Execute(difftest.ParseOverrides(t, test.live))))
		if got := difftest.JSONText(t, difftest.UpdateOf(c).Body.ActionParameters); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestMakeFields(t *testing.T) {
	narrowed := difftest.Execute(nil)
	narrowed.Expression, narrowed.Enabled = `http.host eq "a"`, new(false)
	everywhere := func(d *desired.Deployment) { d.Expression = difftest.Declared(5, "true") }
	for _, test := range []struct {
		name   string
		intent desired.Deployment
		live   edge.Rule
		want   string
	}{
		{
			"switched off and narrowed", difftest.Deployment(everywhere), narrowed,
			`[{"path":"enabled","old":false,"new":true,"direction":"strengthens","origin":L4},` +
				`{"path":"expression","old":"http.host eq \"a\"","new":"true","direction":"strengthens","origin":L5}]`,
		},
		{
			"an expression that is not declared stays", difftest.Deployment(), narrowed,
			`[{"path":"enabled","old":false,"new":true,"direction":"strengthens","origin":L4}]`,
		},
		{
			"every member leads to its line", difftest.Deployment(difftest.Paranoia(3), difftest.Threshold(60, "log"), difftest.DisabledRule(0), difftest.DisableTag("xss")), difftest.Execute(nil),
			`[{"path":"overrides.categories[\"PL4\"].enabled","new":false,"direction":"weakens","origin":L6},` +
				`{"path":"overrides.categories[\"xss\"].enabled","new":false,"direction":"weakens","origin":L10},` +
				`{"path":"overrides.rules[\"R0\"].enabled","new":false,"direction":"weakens","origin":L9,"note":"ref-0"},` +
				`{"path":"overrides.rules[\"R8\"].action","new":"log","direction":"weakens","origin":L8,"note":"default block; last rule: Anomaly score"},` +
				`{"path":"overrides.rules[\"R8\"].score_threshold","new":60,"direction":"weakens","origin":L7,"note":"default 40; last rule: Anomaly score"}]`,
		},
		{
			"a removal leads to the line that says so", difftest.Deployment(difftest.Remove),
			difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R9","action":"log","x_a":{"b":"<"},"x_n":[1]}]}`)),
			`[{"path":"overrides.rules[\"R9\"].action","old":"log","direction":"neutral","origin":L11,"note":"a rule that the managed ruleset no longer has"},` +
				`{"path":"overrides.rules[\"R9\"].x_a","old":{"b":"\u003c"},"direction":"neutral","origin":L11,"note":"a rule that the managed ruleset no longer has"},` +
				`{"path":"overrides.rules[\"R9\"].x_n","old":[1],"direction":"neutral","origin":L11,"note":"a rule that the managed ruleset no longer has"}]`,
		},
		{
			"order alone", difftest.Deployment(difftest.DisableTag("sqli"), difftest.Keep),
			difftest.Execute(difftest.ParseOverrides(t, `{"categories":[{"category":"sqli","enabled":false},{"category":"PL1","enabled":true,"action":"log"}]}`)),
			`[{"path":"overrides.categories","old":["sqli","PL1"],"new":["PL1","sqli"],"direction":"weakens","origin":L4,"note":"order"}]`,
		},
		{
			"order beside something else", difftest.Deployment(difftest.DisableTag("sqli"), difftest.DisabledRule(4), difftest.Keep),
			difftest.Execute(difftest.ParseOverrides(t, `{"categories":[{"category":"sqli","action":"log","enabled":true},{"category":"PL1","action":"block"}],"rules":[{"id":"R0","enabled":true}]}`)),
			`[{"path":"overrides.categories","old":["sqli","PL1"],"new":["PL1","sqli"],"direction":"weakens","origin":L4,"note":"order"},` +
				`{"path":"overrides.categories[\"sqli\"].enabled","old":true,"new":false,"direction":"weakens","origin":L10},` +
				`{"path":"overrides.rules[\"R4\"].enabled","new":false,"direction":"weakens","origin":L9,"note":"ref-4"}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := difftest.MustChange(t, planOne(test.intent, test.live))
			want := test.want
			for line := 11; line > 3; line-- {
				want = strings.ReplaceAll(want, fmt.Sprintf("L%d}", line), difftest.JSONText(t, difftest.At(line))+"}")
				want = strings.ReplaceAll(want, fmt.Sprintf("L%d,", line), difftest.JSONText(t, difftest.At(line))+",")
			}
			if got := difftest.JSONText(t, c.Fields); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// An order in which nothing behaves otherwise is nobody's business.
func TestMakeIgnoresOrderThatDoesNotMatter(t *testing.T) {
	live := difftest.Execute(difftest.ParseOverrides(t, `{"categories":[{"category":"PL4","enabled":false},{"category":"PL3","enabled":false},{"category":"xss","action":"block"}],`+
		`"rules":[{"id":"R8","score_threshold":25,"action":"log"},{"id":"R0","enabled":false}]}`))
	plan := planOne(difftest.Deployment(difftest.Paranoia(2), difftest.Threshold(25, "log"), difftest.DisabledRule(0), difftest.Keep), live)
	if !plan.IsEmpty() || len(plan.Settled) != 1 || len(plan.Settled[0].Owned) != 11 {
		t.Errorf("got %+v", plan)
	}
}

// What is undecided stays and is a problem; what is decided beside it is written.
func TestMakeUndecided(t *testing.T) {
	live := difftest.Execute(difftest.ParseOverrides(t, `{"categories":[{"category":"PL4","enabled":false}],"rules":[{"id":"R1","enabled":false}]}`))
	for _, test := range []struct {
		name, body string
		intent     desired.Deployment
	}{
		{"nothing else differs", "", difftest.Deployment(difftest.Paranoia(3))},
		{
			"something else does", `{"categories":[{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}],"rules":[{"id":"R1","enabled":false}]}`,
			difftest.Deployment(difftest.Paranoia(2)),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := guard.Check(planOne(test.intent, live), guard.Facts{})
			want := []diff.Problem{{
				Account: "prod", Zone: "shop.example", Scope: difftest.Zone, Deployment: "core", State: diff.Undecided,
				Reason: "live has 1 override that nothing declares",
				Hint:   `seawall absorb ZONE declares what is live; or declare what it should be, or set unmanaged: "keep" or unmanaged: "remove"`,
				Origin: difftest.At(4), Unmanaged: []diff.Leftover{{Path: ruleMember(difftest.RuleID(1), "enabled"), Value: false, Note: "ref-1"}},
			}}
			if !reflect.DeepEqual(plan.Problems, want) || !plan.Attention() || plan.Summary.InSync != 0 {
				t.Errorf("got %+v", plan.Problems)
			}
			if test.body == "" {
				if len(plan.Changes) > 0 || len(plan.Settled) != 1 {
					t.Errorf("got %+v", plan)
				}
				return
			}
			c := plan.Changes[0]
			if got := difftest.OverridesText(t, overridesOf(difftest.UpdateOf(c).Body)); got != test.body || !c.Applies() {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestMakeLeavesOutZonesNotLookedAt(t *testing.T) {
	live := difftest.Live(difftest.Execute(nil))
	live.EntryPoints = nil
	plan := planScene(difftest.Scene{State: difftest.State(difftest.Deployment(difftest.Paranoia(2))), Live: live})
	if !plan.IsEmpty() || plan.Summary.Zones != 0 || len(plan.Settled) != 0 {
		t.Errorf("got %+v", plan)
	}
}
