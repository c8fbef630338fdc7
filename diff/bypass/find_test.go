package bypass

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

const (
	zone    = edge.ZoneID("0000000000000000000000000000000a")
	account = edge.AccountID("0000000000000000000000000000000b")
	core    = edge.RulesetID("000000000000000000000000000000c0")
	others  = edge.RulesetID("000000000000000000000000000000d0")
	customs = edge.RulesetID("000000000000000000000000000000e0")
	execute = edge.RuleID("the execute rule")
)

// of is the deployment of a managed ruleset with the rules r1 to r4, of which r4 is off.
func of() Of {
	return Of{
		Scope: edge.ZoneScope(zone), Account: account, Zone: "example.com", Proved: true, Execute: execute,
		Managed: edge.Ruleset{ID: core, Rules: []edge.Rule{{ID: "r3"}, {ID: "r2"}, {ID: "r1"}, {ID: "r4"}}},
		On:      func(id edge.RuleID) bool { return id != "r4" },
	}
}

func ofAccount() Of {
	o := of()
	o.Scope, o.Zone = edge.AccountScope(account), ""
	return o
}

// skip is a skip rule with parameters as JSON.
func skip(t testing.TB, id, expression, parameters string) edge.Rule {
	r := edge.Rule{ID: edge.RuleID(id), Action: edge.ActionSkip, Expression: expression}
	if parameters != "" {
		r.ActionParameters = &edge.ActionParameters{}
		must.Do(t, json.Unmarshal([]byte(parameters), r.ActionParameters))
	}
	return r
}

func disabled(r edge.Rule) edge.Rule {
	r.Enabled = new(bool)
	return r
}

func executing(id edge.RuleID, ruleset edge.RulesetID, expression string) edge.Rule {
	return edge.Rule{ID: id, Action: edge.ActionExecute, Expression: expression, ActionParameters: &edge.ActionParameters{ID: ruleset}}
}

func rules(all ...edge.Rule) edge.Ruleset { return edge.Ruleset{Rules: all} }

func read(all ...edge.Rule) diff.Ahead {
	return diff.Ahead{Observed: diff.Observed[edge.Ruleset]{Value: rules(all...)}}
}

// said is what was found, in few words.
func said(found []Acting) []string {
	said := []string{}
	for _, a := range found {
		what := "all"
		if !a.All {
			what = fmt.Sprint(a.Rules)
		}
		if a.Always {
			what += " always"
		}
		if a.Unclear != nil {
			what += ": " + a.Unclear.Error()
		}
		said = append(said, fmt.Sprintf("%s %s %s", a.At.Scope.Level, a.Rule.ID, what))
	}
	return said
}

// A skip rule in the entry point of the deployment acts on what stands behind it.
func TestFindInTheEntryPoint(t *testing.T) {
	for _, test := range []struct {
		name       string
		expression string
		parameters string
		want       string // empty: it does not act
	}{
		{"the rest", `ssl`, `{"ruleset":"current"}`, "zone s all"},
		{"the rest, always", `true`, `{"ruleset":"current"}`, "zone s all always"},
		{"the managed ruleset", `ssl`, `{"rulesets":["000000000000000000000000000000d0","000000000000000000000000000000c0"]}`, "zone s all"},
		{"another managed ruleset", `ssl`, `{"rulesets":["000000000000000000000000000000d0"]}`, ""},
		{"rules, sorted", `ssl`, `{"rules":{"000000000000000000000000000000c0":["r3","r1"]}}`, "zone s [r1 r3]"},
		{"rules of another managed ruleset", `ssl`, `{"rules":{"000000000000000000000000000000d0":["r1"]}}`, ""},
		{"a rule that is off", `ssl`, `{"rules":{"000000000000000000000000000000c0":["r4"]}}`, ""},
		{"a rule that is gone", `ssl`, `{"rules":{"000000000000000000000000000000c0":["r9"]}}`, ""},
		{"rules, one twice, one off, one gone", `ssl`, `{"rules":{"000000000000000000000000000000c0":["r2","r2","r4","r9"]}}`, "zone s [r2]"},
		{"all rules that are on", `ssl`, `{"rules":{"000000000000000000000000000000c0":["r1","r2","r3"]}}`, "zone s all"},
		{"rules, and the ruleset", `ssl`, `{"rules":{"000000000000000000000000000000c0":["r1"]},"rulesets":["000000000000000000000000000000c0"]}`, "zone s all"},
		{"the rest of the phase", `ssl`, `{"phase":"current"}`, "zone s all"},
		{"the phase itself", `ssl`, `{"phases":["http_request_firewall_managed"]}`, "zone s all"},
		{"another phase", `ssl`, `{"phases":["http_request_sbfm"]}`, ""},
		{"products", `ssl`, `{"products":["waf"]}`, ""},
		{"nothing", `ssl`, ``, ""},
		{"never", `false`, `{"ruleset":"current"}`, ""},
		{"another zone", `cf.zone.name eq "example.net"`, `{"ruleset":"current"}`, ""},
		{"this zone", `cf.zone.name eq "example.com"`, `{"ruleset":"current"}`, "zone s all always"},
		{"not understood", `strange`, `{"ruleset":"next"}`, `zone s all: ruleset of the skip rule s is "next" and not current`},
		{"not understood either", `strange`, `{"phase":"next"}`, `zone s all: phase of the skip rule s is "next" and not current`},
		{"a form that is new", `ssl`, `{"tags":["a"],"categories":["b"]}`, `zone s all: the skip rule s has the parameter "categories", which is not known here`},
	} {
		t.Run(test.name, func(t *testing.T) {
			rule := skip(t, "s", test.expression, test.parameters)
			want := []string{}
			if test.want != "" {
				want = append(want, test.want)
			}
			for place, entryPoint := range map[string]edge.Ruleset{
				"before":               rules(rule, executing(execute, core, "true")),
				"not deployed":         rules(rule),
				"before, behind other": rules(executing("other", others, "true"), rule, executing(execute, core, "true")),
			} {
				if d := cmp.Diff(want, said(Find(of(), entryPoint, nil))); d != "" {
					t.Errorf("%s (-want +got):\n%s", place, d)
				}
			}
			for place, entryPoint := range map[string]edge.Ruleset{
				"behind":   rules(executing(execute, core, "true"), rule),
				"disabled": rules(disabled(rule), executing(execute, core, "true")),
			} {
				if got := Find(of(), entryPoint, nil); got != nil {
					t.Errorf("%s: %q", place, said(got))
				}
			}
		})
	}
}

func TestFindWithoutTheRulesOfTheManagedRuleset(t *testing.T) {
	o := of()
	o.Managed.Rules = nil
	rule := skip(t, "s", "ssl", `{"rules":{"000000000000000000000000000000c0":["r1"]}}`)
	want := []string{"zone s all: the rules of managed ruleset 000000000000000000000000000000c0 are not known"}
	if d := cmp.Diff(want, said(Find(o, rules(rule), nil))); d != "" {
		t.Error(d)
	}
	o = of()
	o.On = nil
	rule = skip(t, "s", "ssl", `{"rules":{"000000000000000000000000000000c0":["r1","r4"]}}`)
	if d := cmp.Diff([]string{"zone s [r1 r4]"}, said(Find(o, rules(rule), nil))); d != "" {
		t.Error(d)
	}
}

// A rule of an earlier phase acts if it skips the phase of managed rulesets.
func TestFindAhead(t *testing.T) {
	const managed, current = `{"phases":["http_ratelimit","http_request_firewall_managed"]}`, `{"ruleset":"current"}`
	ofZone, ofItsAccount := edge.ZoneScope(zone), edge.AccountScope(account)
	custom, rateLimit := edge.PhaseFirewallCustom, edge.PhaseRateLimit
	for _, test := range []struct {
		name        string
		at          edge.Place
		rule        edge.Rule
		zone, level string // what the deployment of the zone, and that of the account, is told
	}{
		{"custom rules of the zone", ofZone.At(custom), skip(t, "s", "ssl", managed), "zone s all", ""},
		{"rate limits of the zone", ofZone.At(rateLimit), skip(t, "s", "true", managed), "zone s all always", ""},
		{"custom rules of the account", ofItsAccount.At(custom), skip(t, "s", "ssl", managed), "account s all", "account s all"},
		{"rate limits of the account", ofItsAccount.At(rateLimit), skip(t, "s", "ssl", managed), "account s all", "account s all"},
		{"all requests of ENT zones", ofItsAccount.At(custom), skip(t, "s", `(true) and cf.zone.plan eq "ENT"`, managed), "account s all always", "account s all always"},
		{"all requests of the zone", ofItsAccount.At(custom), skip(t, "s", `(cf.zone.name eq "example.com") and cf.zone.plan eq "ENT"`, managed), "account s all always", "account s all"},
		{"requests of other zones", ofItsAccount.At(custom), skip(t, "s", `(cf.zone.name ne "example.com") and cf.zone.plan eq "ENT"`, managed), "", "account s all"},
		{"managed rules of the account", ofItsAccount.At(edge.PhaseFirewallManaged), skip(t, "s", "true", current), "", ""},
		{"another zone", edge.ZoneScope("other").At(custom), skip(t, "s", "true", managed), "", ""},
		{"another account", edge.AccountScope("other").At(custom), skip(t, "s", "true", managed), "", ""},
		{"custom rules alone", ofZone.At(custom), skip(t, "s", "true", current), "", ""},
		{"the phase alone", ofZone.At(custom), skip(t, "s", "true", `{"phase":"current"}`), "", ""},
		{"the managed ruleset", ofZone.At(custom), skip(t, "s", "true", `{"rulesets":["000000000000000000000000000000c0"]}`), "", ""},
		{"products alone", ofZone.At(custom), skip(t, "s", "true", `{"products":["waf","bic"]}`), "", ""},
		{"never", ofZone.At(custom), skip(t, "s", "ssl and not ssl", managed), "", ""},
		{"disabled", ofZone.At(custom), disabled(skip(t, "s", "true", managed)), "", ""},
		{"another action", ofZone.At(custom), edge.Rule{ID: "s", Action: edge.ActionBlock, Expression: "true"}, "", ""},
		{"not understood", ofZone.At(custom), skip(t, "s", "ssl", `{"phases":"all"}`), "zone s all: ", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ahead := map[edge.Place]diff.Ahead{test.at: read(test.rule)}
			for _, asked := range []struct {
				of   Of
				want string
			}{{of(), test.zone}, {ofAccount(), test.level}} {
				got := strings.Join(said(Find(asked.of, rules(executing(execute, core, "true")), ahead)), "; ")
				if got != asked.want && (!strings.HasSuffix(asked.want, ": ") || !strings.HasPrefix(got, asked.want)) {
					t.Errorf("%s: %q and not %q", asked.of.Scope, got, asked.want)
				}
			}
		})
	}
}

// Rules of a ruleset that an entry point executes act where both expressions are true.
func TestFindExecuted(t *testing.T) {
	at := edge.AccountScope(account).At(edge.PhaseFirewallCustom)
	rule := skip(t, "s", `true`, `{"phases":["http_request_firewall_managed"]}`)
	with := func(inner edge.Rule, err error, outer ...edge.Rule) map[edge.Place]diff.Ahead {
		place := read(outer...)
		place.Executed = map[edge.RulesetID]diff.Observed[edge.Ruleset]{customs: {Value: rules(inner), Err: err}}
		return map[edge.Place]diff.Ahead{at: place}
	}
	overridden := func(o edge.Overrides) edge.Rule {
		r := executing("e", customs, "true")
		r.ActionParameters.Overrides = &o
		return r
	}
	yes := true
	for _, test := range []struct {
		name  string
		ahead map[edge.Place]diff.Ahead
		want  []string
		joins string
	}{
		{"one", with(rule, nil, executing("e", customs, `ssl or false`)), []string{"account s all"}, `(ssl or false) and (true)`},
		{"always", with(rule, nil, executing("e", customs, `true`)), []string{"account s all always"}, `(true) and (true)`},
		{"for other zones", with(rule, nil, executing("e", customs, `cf.zone.name eq "example.net"`)), []string{}, ""},
		{
			"executed twice",
			with(rule, nil, executing("e", customs, `ssl`), executing("f", customs, `not ssl`)),
			[]string{"account s all always"},
			`((ssl) or (not ssl)) and (true)`,
		},
		{"one of two is disabled", with(rule, nil, disabled(executing("e", customs, `ssl`)), executing("f", customs, `http.host eq "a"`)), []string{"account s all"}, `(http.host eq "a") and (true)`},
		{"the execute rule is disabled", with(rule, nil, disabled(executing("e", customs, `true`))), []string{}, ""},
		{"the rule is disabled", with(disabled(rule), nil, executing("e", customs, `true`)), []string{}, ""},
		{"the rule is turned on", with(disabled(rule), nil, overridden(edge.Overrides{Rules: []edge.RuleOverride{{ID: "s", Enabled: &yes}}})), []string{"account s all always"}, `(true) and (true)`},
		{"all rules are turned on", with(disabled(rule), nil, overridden(edge.Overrides{Enabled: &yes})), []string{"account s all always"}, `(true) and (true)`},
		{"some tag is turned on", with(disabled(rule), nil, overridden(edge.Overrides{Categories: []edge.CategoryOverride{{Category: "a", Enabled: &yes}}})), []string{"account s all always"}, `(true) and (true)`},
		{"another rule is turned on", with(disabled(rule), nil, overridden(edge.Overrides{Rules: []edge.RuleOverride{{ID: "r", Enabled: &yes}}})), []string{}, ""},
		{"it cannot be read", with(rule, errors.New("no"), executing("e", customs, `true`)), []string{}, ""},
		{"it was not read", with(rule, nil, executing("e", others, `true`)), []string{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Find(of(), edge.Ruleset{}, test.ahead)
			if d := cmp.Diff(test.want, said(found)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(found) == 1 && found[0].Rule.Expression != test.joins {
				t.Errorf("%s and not %s", found[0].Rule.Expression, test.joins)
			}
		})
	}
	if rule.Expression != "true" {
		t.Error("the rule that was read is changed")
	}
}

// What is found is in one order: near places first.
func TestFindInOrder(t *testing.T) {
	managed := `{"phases":["http_request_firewall_managed"]}`
	ahead := map[edge.Place]diff.Ahead{}
	for i, at := range []edge.Place{
		edge.ZoneScope(zone).At(edge.PhaseFirewallCustom), edge.ZoneScope(zone).At(edge.PhaseRateLimit),
		edge.AccountScope(account).At(edge.PhaseFirewallCustom), edge.AccountScope(account).At(edge.PhaseRateLimit),
	} {
		ahead[at] = read(skip(t, fmt.Sprintf("%d first", i), "ssl", managed), skip(t, fmt.Sprintf("%d second", i), "ssl", managed))
	}
	found := Find(of(), rules(skip(t, "own", "ssl", `{"ruleset":"current"}`)), ahead)
	var ids []string
	for _, a := range found {
		ids = append(ids, string(a.Rule.ID))
	}
	want := []string{"own", "0 first", "0 second", "1 first", "1 second", "2 first", "2 second", "3 first", "3 second"}
	if !slices.Equal(ids, want) {
		t.Errorf("%q and not %q", ids, want)
	}
}

// usual is what nearly each zone has: no skip rule anywhere.
func usual() (Of, edge.Ruleset, map[edge.Place]diff.Ahead) {
	log := edge.Rule{ID: "log", Action: edge.ActionLog, Expression: "true"}
	return of(), rules(executing("other", others, "true"), log, executing(execute, core, "true")), map[edge.Place]diff.Ahead{
		edge.ZoneScope(zone).At(edge.PhaseFirewallCustom):       read(log, log),
		edge.AccountScope(account).At(edge.PhaseFirewallCustom): read(log, executing("custom", customs, "true")),
	}
}

func TestFindAllocatesNothingWithoutSkipRules(t *testing.T) {
	o, entryPoint, ahead := usual()
	if n := testing.AllocsPerRun(100, func() { Find(o, entryPoint, ahead) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFind(b *testing.B) {
	o, entryPoint, ahead := usual()
	b.ReportAllocs()
	for b.Loop() {
		Find(o, entryPoint, ahead)
	}
}
