package mem_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

const custom = edge.PhaseFirewallCustom

// skipping is the body of a skip rule with these parameters.
func skipping(parameters string) string {
	return `{"action":"skip","expression":"true","action_parameters":{` + parameters + `}}`
}

// What a skip rule may turn off depends on its phase, and both strict profiles know it.
func TestSkipRules(t *testing.T) {
	const (
		core, credentials = `"` + string(mem.CoreRuleset) + `"`, `"` + string(mem.CredentialsRuleset) + `"`
		itsRule           = `"c04e00000000000000000001` + `00000001"`
		nowhere           = `"deadbeefdeadbeefdeadbeefdeadbeef"`
		at                = "/action_parameters"
	)
	for _, test := range []struct {
		phase      edge.Phase
		parameters string
		wrong      []string // where; nil: nothing
	}{
		{edge.PhaseFirewallManaged, `"ruleset":"current"`, nil},
		{edge.PhaseFirewallManaged, `"rulesets":[` + core + `,` + credentials + `]`, nil},
		{edge.PhaseFirewallManaged, `"rules":{` + core + `:[` + itsRule + `]}`, nil},
		{edge.PhaseFirewallManaged, `"rulesets":[` + credentials + `],"rules":{` + core + `:[` + itsRule + `]}`, nil},
		{edge.PhaseFirewallManaged, `"rules":{` + credentials + `:[` + itsRule + `]}`, []string{at + "/rules/" + string(mem.CredentialsRuleset) + "/0"}},
		{edge.PhaseFirewallManaged, `"rules":{` + nowhere + `:[` + itsRule + `]}`, []string{at + "/rules/deadbeefdeadbeefdeadbeefdeadbeef"}},
		{edge.PhaseFirewallManaged, `"rules":{` + core + `:[]}`, []string{at + "/rules/" + string(mem.CoreRuleset)}},
		{edge.PhaseFirewallManaged, `"rules":{` + core + `:"all"}`, []string{at + "/rules/" + string(mem.CoreRuleset)}},
		{edge.PhaseFirewallManaged, `"rules":{}`, []string{at + "/rules"}},
		{edge.PhaseFirewallManaged, `"rulesets":[` + nowhere + `]`, []string{at + "/rulesets/0"}},
		{edge.PhaseFirewallManaged, `"rulesets":[]`, []string{at + "/rulesets"}},
		{edge.PhaseFirewallManaged, `"ruleset":` + core, []string{at + "/ruleset"}},
		{edge.PhaseFirewallManaged, `"ruleset":"current","rules":{` + core + `:[` + itsRule + `]}`, []string{at + "/rules"}},
		{edge.PhaseFirewallManaged, `"ruleset":"current","rulesets":[` + core + `]`, []string{at + "/rulesets"}},
		{edge.PhaseFirewallManaged, `"phases":["http_ratelimit"]`, []string{at + "/phases"}},
		{edge.PhaseFirewallManaged, `"products":["waf"]`, []string{at + "/products"}},
		{edge.PhaseFirewallManaged, ``, []string{at}},
		{edge.PhaseFirewallManaged, `"ruleset":null`, []string{at}},
		{edge.PhaseFirewallManaged, `"ruleset":"current","tags":["sqli"]`, []string{at + "/tags"}},
		{custom, `"ruleset":"current","phases":["http_ratelimit","http_request_sbfm","http_request_firewall_managed"],"products":["uaBlock","waf"]`, nil},
		{custom, `"phase":"current","products":["hot"]`, nil},
		{custom, `"phase":"current","ruleset":"current"`, []string{at + "/phase"}},
		{custom, `"phases":["http_request_transform"]`, []string{at + "/phases/0"}},
		{custom, `"phases":"http_ratelimit"`, []string{at + "/phases"}},
		{custom, `"products":["waf","UABlock"]`, []string{at + "/products/1"}},
		{custom, `"rulesets":[` + core + `]`, []string{at + "/rulesets"}},
		{custom, `"rules":{` + core + `:[` + itsRule + `]}`, []string{at + "/rules"}},
	} {
		for _, profile := range []string{mem.Extended, mem.Vendor} {
			zone := start(t, mem.Config{Profile: profile}).In(mem.NewZone, false)
			body := fmt.Sprintf(`{"name":"x","kind":"zone","phase":%q,"rules":[%s]}`, test.phase, skipping(test.parameters))
			made, err := zone.Create(t.Context(), []byte(body))
			if test.wrong == nil {
				if err != nil || made.Rules[0].Ref != string(made.Rules[0].ID) {
					t.Errorf("%s: %s: %v", profile, test.parameters, err)
				}
				continue
			}
			want := slices.Clone(test.wrong)
			for i := range want {
				want[i] = "/rules/0" + want[i]
			}
			if diff := cmp.Diff(want, pointers(t, err)); diff != "" {
				t.Errorf("%s: %s: %v\n%s", profile, test.parameters, err, diff)
			}
		}
	}
}

// The reference shows no skip rule: none can be written where there is no more than that, and
// one that is there is read as it is.
func TestDocumentedSkipRules(t *testing.T) {
	p := start(t, mem.Config{})
	id, err := p.PutFirst(edge.Place{Scope: mem.ShopZone, Phase: edge.PhaseFirewallManaged}, mem.SkipRule("true", edge.Skip{Current: true}))
	must.Do(t, err)
	shop := entryPoint(t, p, mem.ShopZone)
	if skip, is, err := shop.Rules[0].Skip(); shop.Rules[0].ID != id || !is || err != nil || !skip.Current {
		t.Errorf("got %+v", shop.Rules[0])
	}
	_, err = p.In(mem.ShopZone, false).UpdateRule(t.Context(), shop.ID, id, []byte(skipping(`"ruleset":"current"`)))
	if at := pointers(t, err); !slices.Equal(at, []string{"/action"}) {
		t.Error(err)
	}
}

// The service logs what a skip rule matches unless it is told not to, and says so of each; of
// other rules it takes nothing about that.
func TestLoggingOfSkipRules(t *testing.T) {
	zone := vendor(t).In(mem.NewZone, false)
	body := `{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rules":[` + skipping(`"ruleset":"current"`) + `,{"action":"block","expression":"true"}]}`
	made, err := zone.Create(t.Context(), []byte(body))
	must.Do(t, err)
	if said := string(made.Rules[0].Extra["logging"]); said != `{"enabled":true}` || made.Rules[1].Extra["logging"] != nil {
		t.Errorf("got %s", said)
	}
	quiet := strings.Replace(skipping(`"ruleset":"current"`), `{`, `{"logging":{"enabled":false},`, 1)
	made, err = zone.UpdateRule(t.Context(), made.ID, made.Rules[0].ID, []byte(quiet))
	must.Do(t, err)
	if said := string(made.Rules[0].Extra["logging"]); said != `{"enabled":false}` || made.Rules[0].Ref != string(made.Rules[0].ID) {
		t.Errorf("got %+v", made.Rules[0])
	}
	_, err = zone.UpdateRule(t.Context(), made.ID, made.Rules[1].ID, []byte(`{"action":"block","expression":"true","logging":{"enabled":true}}`))
	var e *edge.Error
	if at := pointers(t, err); !slices.Equal(at, []string{"/logging"}) || !errors.As(err, &e) || e.Details[0].Code != 20018 {
		t.Error(err)
	}
}

func TestRefsAreUnique(t *testing.T) {
	for _, profile := range []string{mem.Extended, mem.Vendor} {
		zone := start(t, mem.Config{Profile: profile}).In(mem.NewZone, false)
		_, err := zone.Create(t.Context(), []byte(`{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rules":[
			{"action":"log","expression":"true","ref":"a"},{"action":"log","expression":"true","ref":"a"}]}`))
		if at := pointers(t, err); !slices.Equal(at, []string{"/rules/1/ref"}) {
			t.Errorf("%s: %v", profile, err)
		}
	}
}

// Custom rules have actions of their own, and what an account executes there is one of its
// custom rulesets.
func TestCustomRules(t *testing.T) {
	account := vendor(t).In(edge.AccountScope(mem.Account), false)
	const ent = ` and cf.zone.plan eq \"ENT\""`
	root := func(rules ...string) []byte {
		return []byte(`{"name":"default","kind":"root","phase":"http_request_firewall_custom","rules":[` + strings.Join(rules, ",") + `]}`)
	}
	execute := func(id edge.RulesetID) string {
		return `{"action":"execute","expression":"true` + ent + `,"action_parameters":{"id":"` + string(id) + `"}}`
	}
	for body, want := range map[string]string{
		string(root(execute(mem.CoreRuleset))):                                                                         "/rules/0/action_parameters/id",
		string(root(`{"action":"set_config","expression":"true` + ent + `}`)):                                          "/rules/0/action",
		string(root(skipping(`"phases":["http_request_firewall_managed"]`))):                                           "/rules/0/expression",
		string(root(strings.Replace(skipping(`"ruleset":"current"`), `true"`, `cf.zone.plan eq \"ENT\" or true"`, 1))): "/rules/0/expression",
	} {
		_, err := account.Create(t.Context(), []byte(body))
		if at := pointers(t, err); !slices.Equal(at, []string{want}) {
			t.Errorf("%s: %v", body, err)
		}
	}
	_, err := account.AddRule(t.Context(), mem.CustomRuleset, []byte(skipping(`"phases":["http_request_firewall_managed"]`)))
	must.Do(t, err)
	made, err := account.Create(t.Context(), root(strings.Replace(skipping(`"phases":["http_ratelimit"]`), `true"`, `(ip.src eq 192.0.2.7)`+ent, 1), execute(mem.CustomRuleset)))
	must.Do(t, err)
	list, err := account.List(t.Context())
	must.Do(t, err)
	for id, kind := range map[edge.RulesetID]edge.Kind{made.ID: edge.KindRoot, mem.CustomRuleset: edge.KindCustom} {
		if !slices.ContainsFunc(list, func(r edge.Ruleset) bool { return r.ID == id && r.Kind == kind && r.Phase == custom }) {
			t.Errorf("the list has no %s of kind %s", id, kind)
		}
	}
}

// A person puts skip rules anywhere, on every platform.
func TestSkipRulesThatAreThere(t *testing.T) {
	p := start(t, mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	account, zone := edge.AccountScope(mem.Account), mem.FleetZone(1)
	skips := edge.Skip{Rules: map[edge.RulesetID][]edge.RuleID{mem.CoreRuleset: {"c04e0000000000000000000100000001"}}}
	for _, at := range []edge.Place{{Scope: zone, Phase: edge.PhaseFirewallManaged}, {Scope: zone, Phase: custom}, {Scope: account, Phase: custom}} {
		first, err := p.PutFirst(at, mem.SkipRule("false", edge.Skip{Phases: []edge.Phase{edge.PhaseFirewallManaged}}))
		must.Do(t, err)
		second, err := p.PutFirst(at, mem.SkipRule("true", skips))
		must.Do(t, err)
		got, err := p.EntryPoint(t.Context(), at.Scope, at.Phase)
		must.Do(t, err)
		if got.Rules[0].ID != second || got.Rules[1].ID != first || got.Kind != at.Scope.EntryKind() {
			t.Errorf("%v: got %+v", at, got.Rules)
		}
		if read, _, err := got.Rules[0].Skip(); err != nil || !cmp.Equal(read, skips) {
			t.Errorf("got %+v, %v", read, err)
		}
		if d := cmp.Diff(&got, p.Stored(at)); d != "" {
			t.Error(d)
		}
	}
	if state := p.State(); state.Check() != nil || len(state.Zones[1].Rulesets) > 0 || len(state.Zones[0].EntryPoint.Rules) != 3 {
		t.Errorf("got %v", state.Check())
	}
	if p.Stored(edge.Place{Scope: mem.FleetZone(2), Phase: custom}) != nil || p.Stored(edge.Place{Scope: mem.FleetZone(3), Phase: custom}) != nil {
		t.Error("a zone has an entry point that nobody made")
	}
}
