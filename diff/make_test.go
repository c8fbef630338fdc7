package diff

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

func makeOne(d desired.Deployment, rules ...edge.Rule) Plan {
	return Make(Input{State: testState(d), Live: testLive(rules...)})
}

func text(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return names(true).Replace(string(data))
}

// The body is the live rule without id, version and last_updated, with the
// merged overrides, and with every member nobody here knows.
func TestMakeWritesTheWholeRule(t *testing.T) {
	const live = `{"id":"d0000000000000000000000000000001","version":"3","last_updated":"2026-01-02T03:04:05.6Z","action":"execute",
		"action_parameters":{"id":"c04e0000000000000000000000000001","version":"latest","overrides":{"x_wide":[1],
			"categories":[{"category":"PL4","enabled":false},{"category":"xss","action":"log"}],"rules":[{"id":"R8","score_threshold":60,"x_rule":1}]},
			"matched_data":{"public_key":"k"}},
		"expression":"true","description":"","ref":"deploy-core","logging":{"enabled":true},"x_future":1.0}`
	var rule edge.Rule
	if err := json.Unmarshal([]byte(names(false).Replace(live)), &rule); err != nil {
		t.Fatal(err)
	}
	c := mustChange(t, makeOne(deployment(paranoia(2), threshold(25, "log"), keep), rule))
	if got, want := c.Request.Method+" "+c.Request.Path,
		"PATCH /zones/000000000000000000000000000000a1/rulesets/e0000000000000000000000000000001/rules/d0000000000000000000000000000001"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const want = `{"action":"execute","action_parameters":{"id":"c04e0000000000000000000000000001","version":"latest","overrides":{` +
		`"categories":[{"category":"xss","action":"log"},{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}],` +
		`"rules":[{"id":"R8","action":"log","score_threshold":25,"x_rule":1}],"x_wide":[1]},"matched_data":{"public_key":"k"}},` +
		`"expression":"true","description":"","ref":"deploy-core","enabled":true,"logging":{"enabled":true},"x_future":1.0}`
	if got := text(t, c.Request.Body); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	target := Target{Ruleset: testCore, EntryPoint: testEntry, Version: "11", Rule: testRule, Owned: c.Target.Owned}
	if !reflect.DeepEqual(c.Target, target) || len(c.Target.Owned) != 4 {
		t.Errorf("target is %+v", c.Target)
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
		c := mustChange(t, makeOne(deployment(paranoia(4), keep), testExecute(parseOverrides(t, test.live))))
		if got := text(t, c.Request.Body.ActionParameters); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestMakeFields(t *testing.T) {
	narrowed := testExecute(nil)
	narrowed.Expression, narrowed.Enabled = `http.host eq "a"`, ptr(false)
	everywhere := func(d *desired.Deployment) { d.Expression = declared(5, "true") }
	for _, test := range []struct {
		name   string
		intent desired.Deployment
		live   edge.Rule
		want   string
	}{
		{
			"switched off and narrowed", deployment(everywhere), narrowed,
			`[{"path":"enabled","old":false,"new":true,"direction":"strengthens","origin":L4},` +
				`{"path":"expression","old":"http.host eq \"a\"","new":"true","direction":"strengthens","origin":L5}]`,
		},
		{
			"an expression that is not declared stays", deployment(), narrowed,
			`[{"path":"enabled","old":false,"new":true,"direction":"strengthens","origin":L4}]`,
		},
		{
			"every member leads to its line", deployment(paranoia(3), threshold(60, "log"), disabledRule(0), disableTag("xss")), testExecute(nil),
			`[{"path":"overrides.categories[\"PL4\"].enabled","new":false,"direction":"weakens","origin":L6},` +
				`{"path":"overrides.categories[\"xss\"].enabled","new":false,"direction":"weakens","origin":L10},` +
				`{"path":"overrides.rules[\"R0\"].enabled","new":false,"direction":"weakens","origin":L9,"note":"ref-0"},` +
				`{"path":"overrides.rules[\"R8\"].action","new":"log","direction":"weakens","origin":L8,"note":"default block; last rule: Anomaly score"},` +
				`{"path":"overrides.rules[\"R8\"].score_threshold","new":60,"direction":"weakens","origin":L7,"note":"default 40; last rule: Anomaly score"}]`,
		},
		{
			"a removal leads to the line that says so", deployment(remove),
			testExecute(parseOverrides(t, `{"rules":[{"id":"R9","action":"log","x_a":{"b":"<"},"x_n":[1]}]}`)),
			`[{"path":"overrides.rules[\"R9\"].action","old":"log","direction":"neutral","origin":L11,"note":"a rule that the managed ruleset no longer has"},` +
				`{"path":"overrides.rules[\"R9\"].enabled","new":true,"direction":"neutral","origin":L11,"note":"a rule that the managed ruleset no longer has"},` +
				`{"path":"overrides.rules[\"R9\"].x_a","old":{"b":"\u003c"},"direction":"neutral","origin":L11,"note":"a rule that the managed ruleset no longer has"},` +
				`{"path":"overrides.rules[\"R9\"].x_n","old":[1],"direction":"neutral","origin":L11,"note":"a rule that the managed ruleset no longer has"}]`,
		},
		{
			"order alone", deployment(disableTag("sqli"), keep),
			testExecute(parseOverrides(t, `{"categories":[{"category":"sqli","enabled":false},{"category":"PL1","enabled":true,"action":"log"}]}`)),
			`[{"path":"overrides.categories","old":["sqli","PL1"],"new":["PL1","sqli"],"direction":"weakens","origin":L4,"note":"order"}]`,
		},
		{
			"order beside something else", deployment(disableTag("sqli"), disabledRule(4), keep),
			testExecute(parseOverrides(t, `{"categories":[{"category":"sqli","action":"log","enabled":true},{"category":"PL1","action":"block"}],"rules":[{"id":"R0","enabled":true}]}`)),
			`[{"path":"overrides.categories","old":["sqli","PL1"],"new":["PL1","sqli"],"direction":"weakens","origin":L4,"note":"order"},` +
				`{"path":"overrides.categories[\"sqli\"].enabled","old":true,"new":false,"direction":"weakens","origin":L10},` +
				`{"path":"overrides.rules[\"R4\"].enabled","new":false,"direction":"weakens","origin":L9,"note":"ref-4"}]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := mustChange(t, makeOne(test.intent, test.live))
			want := test.want
			for line := 11; line > 3; line-- {
				want = strings.ReplaceAll(want, fmt.Sprintf("L%d}", line), text(t, at(line))+"}")
				want = strings.ReplaceAll(want, fmt.Sprintf("L%d,", line), text(t, at(line))+",")
			}
			if got := text(t, c.Fields); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// An order in which nothing behaves otherwise is nobody's business.
func TestMakeIgnoresOrderThatDoesNotMatter(t *testing.T) {
	live := testExecute(parseOverrides(t, `{"categories":[{"category":"PL4","enabled":false},{"category":"PL3","enabled":false},{"category":"xss","action":"block"}],`+
		`"rules":[{"id":"R8","score_threshold":25,"action":"log"},{"id":"R0","enabled":false}]}`))
	plan := makeOne(deployment(paranoia(2), threshold(25, "log"), disabledRule(0), keep), live)
	if !plan.IsEmpty() || len(plan.Settled) != 1 || len(plan.Settled[0].Owned) != 5 {
		t.Errorf("got %+v", plan)
	}
}

func TestMakeUndecided(t *testing.T) {
	live := testExecute(parseOverrides(t, `{"categories":[{"category":"PL4","enabled":false}],"rules":[{"id":"R1","enabled":false}]}`))
	for _, test := range []struct {
		name    string
		intent  desired.Deployment
		request bool
	}{
		{"nothing else differs", deployment(paranoia(3)), false},
		{"something else does", deployment(paranoia(2)), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := makeOne(test.intent, live)
			c := mustChange(t, plan)
			if len(plan.Settled) > 0 || c.Fields == nil || (c.Request != nil) != test.request || paths(c.Unmanaged) != `overrides.rules["R1"].enabled` {
				t.Fatalf("got %+v", c)
			}
			guarded := Guard(plan, Facts{}).Changes[0]
			want := &Refusal{
				Guard: "unmanaged", Reason: fmt.Sprintf(`live has 1 override that no declaration owns: overrides.rules["%s"].enabled`, ruleID(1)),
				Release: `unmanaged: "keep" or unmanaged: "remove" in the deployment at zones/shop.cue:4:2`,
			}
			if !reflect.DeepEqual(guarded.Refused, want) || guarded.Applies() {
				t.Errorf("got %+v", guarded.Refused)
			}
		})
	}
}

func TestMakeLeavesOutZonesNotLookedAt(t *testing.T) {
	live := testLive(testExecute(nil))
	live.EntryPoints = nil
	plan := Make(Input{State: testState(deployment(paranoia(2))), Live: live})
	if !plan.IsEmpty() || plan.Summary.Zones != 0 || len(plan.Settled) != 0 {
		t.Errorf("got %+v", plan)
	}
}

// world makes n zones named z0 to zn, each with the deployment and rule given.
func world(n int, d func(int) desired.Deployment, rule func(int) edge.Rule) Input {
	in := Input{State: testState(desired.Deployment{}), Live: testLive()}
	account := &in.State.Accounts[0]
	account.Zones, in.Live.EntryPoints = nil, map[edge.ZoneID]Observed[edge.Ruleset]{}
	for i := range n {
		id := edge.ZoneID(fmt.Sprintf("%032x", 0xa00000+i))
		declaration := d(i)
		declaration.Ruleset, declaration.Origin = "core", at(100+i)
		account.Zones = append(account.Zones, desired.Zone{Key: fmt.Sprintf("z%d", i), ID: id, Origin: at(i), Deployments: []desired.Deployment{declaration}})
		in.Live.EntryPoints[id] = Observed[edge.Ruleset]{Value: edge.Ruleset{ID: testEntry, Version: "1", Rules: []edge.Rule{rule(i)}}}
	}
	return in
}

func TestMakeSortsAndCounts(t *testing.T) {
	in := world(6,
		func(i int) desired.Deployment {
			return [...]desired.Deployment{
				deployment(),                       // 0 in sync
				deployment(paranoia(3)),            // 1 weakens
				deployment(threshold(25, "block")), // 2 strengthens
				deployment(),                       // 3 undecided
				deployment(disableTag("nope")),     // 4 blocked
				deployment(),                       // 5 not deployed
			}[i]
		},
		func(i int) edge.Rule {
			switch i {
			case 3:
				return testExecute(parseOverrides(t, `{"rules":[{"id":"R1","enabled":false}]}`))
			case 5:
				return edge.Rule{Action: edge.ActionBlock}
			}
			return testExecute(nil)
		})
	zones := in.State.Accounts[0].Zones
	slices.Reverse(zones)
	// A second deployment of the weakened zone strengthens, one of the zone in
	// sync is unreadable: each zone counts once in a row.
	log := testManaged()
	log.ID, log.Name = "c04e0000000000000000000000000002", "Other Ruleset"
	unread := edge.Ruleset{ID: "c04e0000000000000000000000000003", Name: "Third Ruleset", Kind: edge.KindManaged, Phase: edge.PhaseFirewallManaged}
	account := in.Live.Accounts[testAccount]
	account.Listed.Value = append(account.Listed.Value, log, unread)
	account.Managed[log.ID] = Observed[edge.Ruleset]{Value: log}
	in.Live.Accounts[testAccount] = account
	in.State.Accounts[0].Rulesets = append(in.State.Accounts[0].Rulesets,
		desired.RulesetRef{Key: "other", Name: log.Name}, desired.RulesetRef{Key: "third", Name: unread.Name})
	second := deployment(threshold(20, "block"))
	second.Ruleset = "other"
	zones[4].Deployments = []desired.Deployment{second, zones[4].Deployments[0]}
	third := deployment()
	third.Ruleset = "third"
	zones[5].Deployments = append(zones[5].Deployments, third)
	rule := testExecute(nil)
	rule.ActionParameters = &edge.ActionParameters{ID: log.ID}
	entryPoint := in.Live.EntryPoints[zones[4].ID]
	entryPoint.Value.Rules = append(entryPoint.Value.Rules, rule)
	in.Live.EntryPoints[zones[4].ID] = entryPoint

	plan := Guard(Make(in), Facts{})
	var order []string
	for _, c := range plan.Changes {
		order = append(order, c.Zone+"/"+c.Deployment+" "+string(c.Direction))
	}
	if want := []string{"z1/core weakens", "z1/other strengthens", "z2/core strengthens", "z3/core neutral"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	want := Summary{Zones: 6, InSync: 0, Changed: 2, Weakening: 1, Refused: 1, Blocked: 1, NotDeployed: 1, Unknown: 1}
	if plan.Summary != want {
		t.Errorf("got %+v, want %+v", plan.Summary, want)
	}
	if want := (Requests{ToApply: 6}); plan.Requests != want {
		t.Errorf("got %+v, want %+v", plan.Requests, want)
	}
	if len(plan.Settled) != 1 || plan.Settled[0].ID != (DeploymentID{zones[5].ID, testCore}) {
		t.Errorf("settled: %+v", plan.Settled)
	}
}
