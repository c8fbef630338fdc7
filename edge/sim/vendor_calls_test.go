package sim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

// A zone and an account have the same calls on their rulesets.
func TestVendorRulesetCalls(t *testing.T) {
	r := startVendor(t)
	admin := credential(t, r, "administrator")
	for base, kind := range map[string]string{
		"/zones/" + mem.NewZone.String() + "/rulesets":   "zone",
		"/accounts/" + string(mem.Staging) + "/rulesets": "root",
	} {
		do := func(method, path, body string) edge.Ruleset {
			t.Helper()
			return result[edge.Ruleset](t, as(t, r, admin, method, base+path, body))
		}
		entry := "/phases/http_request_firewall_custom/entrypoint"
		wantStatus(t, as(t, r, admin, "GET", base+entry, ""), 404)
		made := do("PUT", entry, `{"rules":[{"action":"log","expression":"true","ref":"a"}]}`)
		one := "/" + string(made.ID)
		if string(made.Kind) != kind || made.Version != "1" || do("GET", entry, "").ID != made.ID {
			t.Errorf("%s: made %+v", base, made)
		}
		added := do("POST", one+"/rules", `{"action":"block","expression":"false","ref":"b","position":{"index":1}}`)
		if len(added.Rules) != 2 || added.Rules[0].Ref != "b" {
			t.Fatalf("%s: added %+v", base, added.Rules)
		}
		moved := do("PATCH", one+"/rules/"+string(added.Rules[0].ID), `{"position":{"after":""}}`)
		if moved.Rules[1].Ref != "b" || moved.Rules[1].Action != edge.ActionBlock {
			t.Errorf("%s: moved %+v", base, moved.Rules)
		}
		if left := do("DELETE", one+"/rules/"+string(added.Rules[0].ID), ""); len(left.Rules) != 1 || left.Rules[0].Ref != "a" {
			t.Errorf("%s: left %+v", base, left.Rules)
		}
		described := do("PUT", one, `{"description":"new"}`)
		if described.Description != "new" || len(described.Rules) != 1 || described.Rules[0].Ref != "a" || described.Version != "5" {
			t.Errorf("%s: described %+v", base, described)
		}
		replaced := do("PUT", one, `{"rules":[]}`)
		if replaced.Description != "new" || len(replaced.Rules) != 0 || replaced.Version != "6" {
			t.Errorf("%s: replaced %+v", base, replaced)
		}
		if versions := result[[]edge.Ruleset](t, as(t, r, admin, "GET", base+one+"/versions", "")); len(versions) != 6 {
			t.Errorf("%s: %d versions", base, len(versions))
		}
		if past := do("GET", one+"/versions/2", ""); len(past.Rules) != 2 {
			t.Errorf("%s: version 2 is %+v", base, past)
		}
		wantStatus(t, as(t, r, admin, "DELETE", base+one+"/versions/2", ""), 204)
		wantStatus(t, as(t, r, admin, "GET", base+one+"/versions/2", ""), 404)
		wantStatus(t, as(t, r, admin, "DELETE", base+one, ""), 204)
		wantStatus(t, as(t, r, admin, "GET", base+entry, ""), 404)
	}
}

// In the profile documented every error, and every error below one, has an integer code.
func TestDocumentedErrorsHaveCodes(t *testing.T) {
	r := start(t, sim.Config{})
	rule := rulePath(t, r, mem.ShopZone)
	for _, c := range []struct{ method, path, body string }{
		{"PATCH", rule, ""},
		{"PATCH", rule, "{"},
		{"PATCH", rule, "[]"},
		{"PATCH", rule, "{}"},
		{"PATCH", rule, `{"action":"execute"}`},
		{"PATCH", rule, `{"action":1,"expression":2,"enabled":"yes","action_parameters":[]}`},
		{"PATCH", rule, `{` + overriding(`{}`)},
		{"PATCH", rule, `{` + overriding(`{"categories":[]}`)},
		{"PATCH", rule, `{` + overriding(`{"action":"skip","rules":[{"id":"x"},{"action":"log"}]}`)},
		{"PATCH", rule + "?dry_run=true", anUpdate},
		{"GET", "/nothing", ""},
		{"GET", edge.RulesetsPath(edge.AccountScope(mem.Account)) + "?per_page=0", ""},
		{"GET", edge.EntryPointPath(mem.NewZone, edge.PhaseFirewallManaged), ""},
		{"DELETE", shopPath, ""},
		{"POST", edge.TokensPath(), `{}`},
		{"POST", edge.TokensPath(), `{"name":"x","policies":[{"id":"1","effect":"maybe","resources":{"a":"*"},"permission_groups":[{}]}],"expires_on":"soon"}`},
	} {
		got := as(t, r, r.TokensToken, c.method, c.path, c.body)
		var answer struct {
			Errors []codedError `json:"errors"`
		}
		if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.status < 400 || len(answer.Errors) == 0 {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, got.status, got.body)
		}
		for _, e := range answer.Errors {
			if !e.coded() {
				t.Errorf("%s %s %s: an error has no code: %s", c.method, c.path, c.body, got.body)
			}
		}
	}
}

func overriding(overrides string) string {
	return fmt.Sprintf(`"action":"execute","expression":"true","action_parameters":{"id":%q,"overrides":%s}}`, mem.CoreRuleset, overrides)
}

type codedError struct {
	Code  *int         `json:"code"`
	Chain []codedError `json:"error_chain"`
}

func (e codedError) coded() bool {
	for _, below := range e.Chain {
		if !below.coded() {
			return false
		}
	}
	return e.Code != nil && *e.Code > 0
}

// The seeded credential for rulesets creates no token, and no token has policies that are
// null, whatever the seed says.
func TestSeededTokens(t *testing.T) {
	for _, profile := range []string{mem.Documented, mem.Extended, mem.Vendor} {
		r := start(t, sim.Config{Profile: profile, Calendar: calendar(t), Now: stopped("2027-01-01")})
		policy := `{"effect":"allow","resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"` + mem.RulesGroup + `"}]}`
		body := `{"name":"x","policies":[` + policy + `]}`
		wantStatus(t, as(t, r, r.RulesetsToken, "POST", edge.TokensPath(), body), 403)
		made := as(t, r, r.TokensToken, "POST", edge.TokensPath(), body)
		wantStatus(t, made, 200)
		if profile != mem.Documented {
			list := as(t, r, r.TokensToken, "GET", edge.TokensPath(), "")
			if made.body += list.body; list.status != 200 || !strings.Contains(list.body, `"policies":[`) {
				t.Errorf("%s: %d %s", profile, list.status, list.body)
			}
		}
		if strings.Contains(made.body, `"policies":null`) || strings.Contains(control(t, r, "GET", "/tokens", "").body, `"policies":null`) {
			t.Errorf("%s: policies are null", profile)
		}
	}
}

func wantStatus(t *testing.T, got reply, status int) {
	t.Helper()
	if got.status != status {
		t.Errorf("%d %s, want %d", got.status, got.body, status)
	}
}
