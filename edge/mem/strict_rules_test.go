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

const (
	limits  = edge.PhaseRateLimit
	managed = edge.PhaseFirewallManaged
)

// blocking is the body of a rule that blocks, with more members.
func blocking(members string) string {
	return `{"action":"block","expression":"http.host eq \"a.example\""` + members + `}`
}

// limiting is one with a rate limit.
func limiting(limit string) string { return blocking(`,"ratelimit":{` + limit + `}`) }

// answering is one with a response.
func answering(response string) string {
	return blocking(`,"action_parameters":{"response":{` + response + `}}`)
}

// a ruleset with one rule.
func rulesetOf(kind edge.Kind, phase edge.Phase, rules ...string) []byte {
	return fmt.Appendf(nil, `{"name":"x","kind":%q,"phase":%q,"rules":[%s]}`, kind, phase, strings.Join(rules, ","))
}

// problemsOf are the places and codes of a refusal, without the rule's own place.
func problemsOf(err error) (all []string) {
	var e *edge.Error
	if errors.As(err, &e) {
		for _, d := range e.Details {
			at := strings.TrimPrefix(d.Source.Pointer, "/rules/0")
			if d.Code != 0 {
				at += fmt.Sprint(" ", d.Code)
			}
			all = append(all, at)
		}
	}
	return all
}

// What the service refuses of a rule of one of the three phases, each by itself.
func TestVendorRefusesRulesOfPhases(t *testing.T) {
	const (
		byAddress = `"characteristics":["cf.colo.id","ip.src"]`
		whole     = byAddress + `,"period":60,"requests_per_period":5`
		page      = `"status_code":403,"content_type":"text/html","content":"no"`
		at, resp  = "/ratelimit", "/action_parameters/response"
	)
	for _, test := range []struct {
		what  string
		phase edge.Phase
		rule  string
		wrong string // place and code; several with a comma between them
	}{
		{"a custom rule", custom, blocking(``), ""},
		{"an empty ref", custom, blocking(`,"ref":""`), "/ref"},
		{"an action that nobody has", custom, `{"action":"allow","expression":"ssl"}`, "/action"},
		{"an action of another phase", custom, `{"action":"set_config","expression":"ssl"}`, "/action"},
		{"rewrite in a zone", custom, `{"action":"rewrite","expression":"ssl","exposed_credential_check":{"username_expression":"a","password_expression":"b"}}`, "/action"},
		{"logging of a block", custom, blocking(`,"logging":{"enabled":true}`), "/logging 20018"},
		{"logging of a skip", custom, strings.Replace(skipping(`"ruleset":"current"`), `{`, `{"logging":{"enabled":false},`, 1), ""},
		{"logging without enabled", custom, strings.Replace(skipping(`"ruleset":"current"`), `{`, `{"logging":{},`, 1), "/logging/enabled"},
		{"logging with more", custom, strings.Replace(skipping(`"ruleset":"current"`), `{`, `{"logging":{"enabled":true,"to":"x"},`, 1), "/logging/to"},
		{"skip without parameters", custom, `{"action":"skip","expression":"ssl"}`, "/action_parameters 20106"},
		{"a phase that no skip rule has", custom, skipping(`"phases":["ddos_l7"]`), "/action_parameters/phases/0 20120"},
		{"a product that no skip rule has", custom, skipping(`"products":["botFight"]`), "/action_parameters/products/0 20119"},
		{"an operator that there is not", custom, `{"action":"block","expression":"ip.src eqq 192.0.2.9"}`, "/expression 20127"},
		{"a rate limit in the wrong phase", custom, limiting(whole), at},
		{"a member that no rule has", custom, blocking(`,"priority":1`), "/priority"},
		{"a position in a list", custom, blocking(`,"position":{"index":1}`), "/position"},

		{"a response", custom, answering(page), ""},
		{"no content", custom, answering(`"status_code":403,"content_type":"text/html"`), resp + "/content"},
		{"no type", custom, answering(`"status_code":403,"content":"no"`), resp + "/content_type"},
		{"no status", custom, answering(`"content_type":"text/html","content":"no"`), resp + "/status_code"},
		{"a status of success", custom, answering(strings.Replace(page, "403", "200", 1)), resp + "/status_code"},
		{"a type that there is not", custom, answering(strings.Replace(page, "text/html", "text/css", 1)), resp + "/content_type"},
		{"a long content", custom, answering(strings.Replace(page, `"no"`, `"`+strings.Repeat("a", 2049)+`"`, 1)), resp + "/content"},
		{"a member that no response has", custom, answering(page + `,"x":1`), resp + "/x"},

		{"a rate limit", limits, limiting(whole), ""},
		{"all members", limits, limiting(whole + `,"mitigation_timeout":600,"counting_expression":"http.response.code eq 403","requests_to_origin":true`), ""},
		{"a score", limits, limiting(byAddress + `,"period":60,"score_per_period":400,"score_response_header_name":"x-score"`), ""},
		{"a response of a rate limit", limits, strings.Replace(answering(strings.Replace(page, `"no"`, `"`+strings.Repeat("a", 2049)+`"`, 1)), `{`, `{"ratelimit":{`+whole+`},`, 1), ""},
		{"no rate limit", limits, blocking(``), at},
		{"no object", limits, blocking(`,"ratelimit":"60"`), at},
		{"skip in the phase of rate limits", limits, skipping(`"ruleset":"current"`), "/action,/ratelimit"},
		{"no characteristics", limits, limiting(`"period":60,"requests_per_period":5`), at + "/characteristics 20155"},
		{"not by data centre", limits, limiting(strings.Replace(whole, `"cf.colo.id",`, ``, 1)), at + "/characteristics 20155"},
		{"a characteristic twice", limits, limiting(strings.Replace(whole, `"ip.src"`, `"ip.src","ip.src"`, 1)), at + "/characteristics/2"},
		{"address and visitor", limits, limiting(strings.Replace(whole, `"ip.src"`, `"ip.src","cf.unique_visitor_id"`, 1)), at + "/characteristics"},
		{"a header in upper case", limits, limiting(strings.Replace(whole, `"ip.src"`, `"http.request.headers[\"X-Key\"]"`, 1)), at + "/characteristics/1"},
		{"a header", limits, limiting(strings.Replace(whole, `"ip.src"`, `"http.request.headers[\"x-key\"]"`, 1)), ""},
		{"no text", limits, limiting(strings.Replace(whole, `"ip.src"`, `7`, 1)), at + "/characteristics/1"},
		{"a period of 7", limits, limiting(strings.Replace(whole, `60`, `7`, 1)), at + "/period"},
		{"no period", limits, limiting(byAddress + `,"requests_per_period":5`), at + "/period"},
		{"a period in words", limits, limiting(strings.Replace(whole, `60`, `"60"`, 1)), at + "/period"},
		{"no requests", limits, limiting(byAddress + `,"period":60`), at + "/requests_per_period"},
		{"0 requests", limits, limiting(byAddress + `,"period":60,"requests_per_period":0`), at + "/requests_per_period"},
		{"requests and a score", limits, limiting(whole + `,"score_per_period":4,"score_response_header_name":"x"`), at + "/requests_per_period"},
		{"a score without a header", limits, limiting(byAddress + `,"period":60,"score_per_period":4`), at + "/score_response_header_name"},
		{"a negative timeout", limits, limiting(whole + `,"mitigation_timeout":-1`), at + "/mitigation_timeout"},
		{"a member that no rate limit has", limits, limiting(whole + `,"timeout":1`), at + "/timeout"},
		{"a list, counted at the origin", limits, strings.Replace(limiting(whole+`,"requests_to_origin":true`), `http.host eq \"a.example\"`, `ip.src in $office`, 1), "/expression"},
		{"a list", limits, strings.Replace(limiting(whole+`,"requests_to_origin":false`), `http.host eq \"a.example\"`, `ip.src in $office`, 1), ""},
		{"a list and the response", limits, limiting(whole + `,"counting_expression":"http.response.code eq 403 and ip.src in $office"`), at + "/counting_expression"},
		{"a wrong counting expression", limits, limiting(whole + `,"counting_expression":"ssl and"`), at + "/counting_expression 20127"},

		{"a block in the phase of managed rules", managed, blocking(``), "/action"},
	} {
		_, err := vendor(t).In(mem.NewZone, false).Create(t.Context(), rulesetOf(edge.KindZone, test.phase, test.rule))
		if got := strings.Join(problemsOf(err), ","); got != test.wrong || (err == nil) != (test.wrong == "") {
			t.Errorf("%s: %v\ngot %q, want %q", test.what, err, got, test.wrong)
		}
		// No other profile is as strict, but for what the contract says of skip rules and custom ones.
		if _, err := start(t, mem.Config{Profile: mem.Extended}).In(mem.NewZone, false).Create(t.Context(), rulesetOf(edge.KindZone, test.phase, test.rule)); test.phase == limits && err != nil && test.what != "no object" {
			t.Errorf("%s, in the profile extended: %v", test.what, err)
		}
	}
}

// In an account some of it is otherwise.
func TestVendorRefusesRulesOfAccounts(t *testing.T) {
	const whole = `"characteristics":["cf.colo.id","ip.src"],"period":60,"requests_per_period":5`
	const ent = ` and cf.zone.plan eq \"ENT\"`
	for _, test := range []struct {
		what  string
		kind  edge.Kind
		phase edge.Phase
		rule  string
		wrong string
	}{
		{"a rest of a phase is skipped", edge.KindRoot, custom, strings.Replace(skipping(`"phase":"current"`), `"true"`, `"(ssl)`+ent+`"`, 1), "/action_parameters/phase"},
		{"a header where credentials are exposed", edge.KindCustom, custom, `{"action":"rewrite","expression":"ssl","exposed_credential_check":{"username_expression":"a","password_expression":"b"}}`, ""},
		{"a rate limit", edge.KindCustom, limits, limiting(whole), ""},
		{"a list", edge.KindCustom, limits, strings.Replace(limiting(whole), `http.host eq \"a.example\"`, `ip.src in $office`, 1), "/expression"},
		{"the response", edge.KindCustom, limits, limiting(whole + `,"counting_expression":"http.response.code eq 403"`), "/ratelimit/counting_expression"},
		{"an exception for all zones", edge.KindRoot, managed, skipping(`"ruleset":"current"`), "/expression 20127"},
		{"an exception", edge.KindRoot, managed, strings.Replace(skipping(`"ruleset":"current"`), `"true"`, `"(ssl)`+ent+`"`, 1), ""},
	} {
		_, err := vendor(t).In(edge.AccountScope(mem.Account), false).Create(t.Context(), rulesetOf(test.kind, test.phase, test.rule))
		if got := strings.Join(problemsOf(err), ","); got != test.wrong || (err == nil) != (test.wrong == "") {
			t.Errorf("%s: %v\ngot %q, want %q", test.what, err, got, test.wrong)
		}
	}
}

// A ref belongs to one rule, however the second one comes.
func TestVendorRefusesRefsThatAreThere(t *testing.T) {
	zone := vendor(t).In(mem.NewZone, false)
	made, err := zone.Create(t.Context(), rulesetOf(edge.KindZone, custom, blocking(`,"ref":"a"`), blocking(``)))
	must.Do(t, err)
	second := made.Rules[1]
	for what, ref := range map[string]string{"its ref": "a", "its id": second.Ref} {
		_, err := zone.AddRule(t.Context(), made.ID, []byte(blocking(fmt.Sprintf(`,"ref":%q`, ref))))
		if at := pointers(t, err); !slices.Equal(at, []string{"/rules/2/ref"}) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = zone.UpdateRule(t.Context(), made.ID, second.ID, []byte(blocking(`,"ref":"a"`)))
	if at := pointers(t, err); !slices.Equal(at, []string{"/rules/1/ref"}) {
		t.Error(err)
	}
}

// A place has exactly one of three forms, and is one that there is.
func TestVendorRefusesPositions(t *testing.T) {
	zone := vendor(t).In(mem.NewZone, false)
	made, err := zone.Create(t.Context(), rulesetOf(edge.KindZone, custom, blocking(`,"ref":"a"`), blocking(`,"ref":"b"`)))
	must.Do(t, err)
	for position, want := range map[string]string{
		`{"index":1}`: "c a b", `{"index":3}`: "a b c", `{"before":""}`: "c a b", `{"after":""}`: "a b c",
		fmt.Sprintf(`{"before":%q}`, made.Rules[1].ID): "a c b", fmt.Sprintf(`{"after":%q}`, made.Rules[0].ID): "a c b",
		`{}`: "", `{"index":0}`: "", `{"index":-1}`: "", `{"index":4}`: "", `{"index":1,"before":""}`: "", `{"before":"","after":""}`: "",
		`{"before":"b"}`: "", `{"first":true}`: "", `{"index":"1"}`: "", `[1]`: "",
	} {
		_, err := zone.AddRule(t.Context(), made.ID, []byte(blocking(`,"ref":"c","position":`+position)))
		if want == "" {
			if at := pointers(t, err); !slices.Equal(at, []string{"/position"}) {
				t.Errorf("%s: %v", position, err)
			}
			continue
		}
		must.Do(t, err)
		now, err := zone.Get(t.Context(), made.ID)
		must.Do(t, err)
		var refs []string
		for _, rule := range now.Rules {
			refs = append(refs, rule.Ref)
		}
		if got := strings.Join(refs, " "); got != want {
			t.Errorf("%s: %s, want %s", position, got, want)
		}
		at := slices.IndexFunc(now.Rules, func(r edge.Rule) bool { return r.Ref == "c" })
		_, err = zone.DeleteRule(t.Context(), made.ID, now.Rules[at].ID)
		must.Do(t, err)
	}
}

// A phase has one entry point; the service says so in these words.
func TestVendorRefusesASecondEntryPoint(t *testing.T) {
	for _, profile := range []string{mem.Extended, mem.Vendor} {
		zone := start(t, mem.Config{Profile: profile}).In(mem.NewZone, false)
		_, err := zone.Create(t.Context(), rulesetOf(edge.KindZone, custom))
		must.Do(t, err)
		_, err = zone.Create(t.Context(), rulesetOf(edge.KindZone, custom))
		if !errors.Is(err, edge.ErrEntryPointExists) || !strings.Contains(err.Error(), "exceeded maximum number of zone rulesets for phase http_request_firewall_custom") {
			t.Errorf("%s: %v", profile, err)
		}
	}
}

// A rate limit says how long it lasts; where it did not, that is 0.
func TestVendorFillsInTheTimeout(t *testing.T) {
	const whole = `"characteristics":["cf.colo.id","ip.src"],"period":60,"requests_per_period":5`
	made, err := vendor(t).In(mem.NewZone, false).Create(t.Context(), rulesetOf(edge.KindZone, limits, limiting(whole), limiting(whole+`,"mitigation_timeout":600`)))
	must.Do(t, err)
	for i, want := range []string{
		`{"characteristics":["cf.colo.id","ip.src"],"mitigation_timeout":0,"period":60,"requests_per_period":5}`,
		`{"characteristics":["cf.colo.id","ip.src"],"mitigation_timeout":600,"period":60,"requests_per_period":5}`,
	} {
		if got := string(made.Rules[i].Extra["ratelimit"]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// planned is a platform with a zone of each plan.
func planned(t *testing.T, profile string, plans ...string) *mem.Platform {
	t.Helper()
	seed := mem.Fleet(len(plans))
	for i, plan := range plans {
		seed.Zones[i].Plan = plan
	}
	return start(t, mem.Config{Profile: profile, Seed: seed})
}

// What a zone may have depends on its plan. A zone whose plan is not known, or not said, may have
// all, and so may each in other profiles.
func TestVendorHoldsRulesToThePlan(t *testing.T) {
	const whole = `"characteristics":["cf.colo.id","ip.src"],"period":60,"requests_per_period":5,"mitigation_timeout":600`
	plans := []string{"free", "pro", "business", "enterprise", "partner", ""}
	for _, test := range []struct {
		what    string
		phase   edge.Phase
		rules   []string
		refused map[string]string // by plan
	}{
		{"a log", custom, []string{`{"action":"log","expression":"ssl"}`}, map[string]string{"free": "/action 50002", "pro": "/action 50002", "business": "/action 50002"}},
		{"a regular expression", custom, []string{`{"action":"block","expression":"http.host matches \"a\""}`}, map[string]string{"free": "/expression 50002", "pro": "/expression 50002"}},
		{"a rate limit", limits, []string{strings.Replace(limiting(whole), `http.host eq \"a.example\"`, `http.request.uri.path eq \"/\"`, 1)}, map[string]string{
			"free": "/ratelimit/period 50002,/ratelimit/mitigation_timeout 50002",
		}},
		{"six rules", custom, slices.Repeat([]string{blocking(``)}, 6), map[string]string{"free": "/rules 50001"}},
		{"five rules", custom, slices.Repeat([]string{blocking(``)}, 5), nil},
		{"21 rules", custom, slices.Repeat([]string{blocking(``)}, 21), map[string]string{"free": "/rules 50001", "pro": "/rules 50001"}},
	} {
		p, loose := planned(t, mem.Vendor, plans...), planned(t, mem.Extended, plans...)
		got := map[string]string{}
		for i, plan := range plans {
			_, err := p.In(mem.FleetZone(i+1), false).Create(t.Context(), rulesetOf(edge.KindZone, test.phase, test.rules...))
			if err != nil {
				got[plan] = strings.Join(problemsOf(err), ",")
			}
			if _, err := loose.In(mem.FleetZone(i+1), false).Create(t.Context(), rulesetOf(edge.KindZone, test.phase, test.rules...)); err != nil {
				t.Errorf("%s in the profile extended: %v", test.what, err)
			}
		}
		if test.refused == nil {
			test.refused = map[string]string{}
		}
		if d := cmp.Diff(test.refused, got); d != "" {
			t.Errorf("%s: %s", test.what, d)
		}
	}
}

// A zone with more rules than its plan has is left with fewer, or with as many.
func TestVendorTakesRulesAway(t *testing.T) {
	p := planned(t, mem.Vendor, "free")
	zone := p.In(mem.FleetZone(1), false)
	entry := edge.Ruleset{ID: "00000000000000000000000000000e09", Phase: custom}
	for i := range 7 {
		entry.Rules = append(entry.Rules, edge.Rule{ID: edge.RuleID(fmt.Sprintf("%032x", i+1)), Action: edge.ActionBlock, Expression: "ssl", Ref: fmt.Sprint("r", i)})
	}
	must.Do(t, p.SetEntryPoint(mem.FleetZone(1), entry))
	live, err := zone.EntryPoint(t.Context(), custom)
	must.Do(t, err)
	_, err = zone.UpdateRule(t.Context(), live.ID, live.Rules[0].ID, []byte(blocking(`,"ref":"r0"`)))
	must.Do(t, err)
	_, err = zone.DeleteRule(t.Context(), live.ID, live.Rules[0].ID)
	must.Do(t, err)
	_, err = zone.AddRule(t.Context(), live.ID, []byte(blocking(``)))
	var e *edge.Error
	if !errors.As(err, &e) || e.Details[0].Code != 50001 || e.Details[0].Message != "exceeded the maximum number of rules in the phase http_request_firewall_custom: 7 out of 5" {
		t.Errorf("got %v", err)
	}
}
