package mem_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The profile vendor reads expressions as the vendor does.
func TestVendorReadsExpressions(t *testing.T) {
	custom := func(rule string) []byte {
		return []byte(`{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rules":[` + rule + `]}`)
	}
	for expression, want := range map[string]string{
		`http.host eq "a" and not ip.src in {192.0.2.0/24}`: "",
		`ip.src in {}`:              "", // the published engine takes it
		`ip.src eqq 192.0.2.9`:      `Filter parsing error (1:8): "eqq" is no operator`,
		`http.host eq 5`:            `Filter parsing error (1:14): http.host is a String; 5 is none`,
		`1`:                         `there is no field "1"`,
		`http.request.fresh`:        `there is no field "http.request.fresh"`,
		`(ssl`:                      `'(ssl' is not a valid value for expression because could not parse filter expression: Filter parsing error (1:1): "(" is not closed`,
		`http.response.code gt 400`: `not offered in the phase`,
		`http.host eq "` + strings.Repeat("a", 5000) + `"`: `the limit is 4096`,
	} {
		_, err := vendor(t).In(mem.NewZone, false).Create(t.Context(), custom(fmt.Sprintf(`{"action":"log","expression":%q}`, expression)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "20127")) {
			t.Errorf("%.60s: %v", expression, err)
		}
	}
}

// What a plan lacks is no mistake in the expression.
func TestVendorReadsExpressionsOfAPlan(t *testing.T) {
	const rule = `{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rules":[{"action":"block","expression":"http.host matches \"a\""}]}`
	if _, err := vendor(t).In(mem.NewZone, false).Create(t.Context(), []byte(rule)); err != nil {
		t.Error(err)
	}
	_, err := vendor(t).In(mem.FreeZone, false).Create(t.Context(), []byte(rule))
	if !errors.Is(err, edge.ErrNotEntitled) || !strings.Contains(err.Error(), `not entitled: the use of operator Matches is not allowed, a Business plan or a WAF Advanced plan is required`) {
		t.Error(err)
	}
}

// What a rate limit counts is an expression, which may ask for the response.
func TestVendorReadsCountingExpressions(t *testing.T) {
	const limit = `{"name":"x","kind":"zone","phase":"http_ratelimit","rules":[{"action":"block","expression":"ssl","ratelimit":{
		"characteristics":["cf.colo.id"],"period":60,"requests_per_period":10,"counting_expression":%q}}]}`
	for expression, want := range map[string]string{"": "", `http.response.code eq 403`: "", `http.response.code eq`: "/rules/0/ratelimit/counting_expression"} {
		_, err := vendor(t).In(mem.NewZone, false).Create(t.Context(), fmt.Appendf(nil, limit, expression))
		if want == "" && err != nil || want != "" && (len(pointers(t, err)) != 1 || pointers(t, err)[0] != want) {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

// Rules of an account are for Enterprise zones, however that is spelled.
func TestVendorReadsEnterprise(t *testing.T) {
	const rule = `{"name":"x","kind":"root","phase":"http_request_firewall_managed","rules":[{"action":%q,"expression":%q,"action_parameters":{%s}}]}`
	parameters := map[string]string{"execute": `"id":"` + string(mem.CoreRuleset) + `"`, "skip": `"ruleset":"current"`}
	for expression, want := range map[string][2]bool{ // of execute and skip
		`cf.zone.plan eq "ENT"`: {true, true},
		`(cf.zone.name == "a.example") and (cf.zone.plan == "ENT")`: {true, true},
		`ssl and http.host eq "a" && cf.zone.plan eq "ENT"`:         {true, true},
		`cf.zone.plan eq "ENT" and ssl`:                             {true, false},
		`cf.zone.plan eq "ENT" or ssl`:                              {false, false},
		`ssl or ssl and cf.zone.plan eq "ENT"`:                      {false, false},
		`not cf.zone.plan eq "ENT"`:                                 {false, false},
		`http.host contains "cf.zone.plan eq \"ENT\""`:              {false, false},
	} {
		for i, action := range []string{"execute", "skip"} {
			_, err := vendor(t).In(edge.AccountScope(mem.Account), false).Create(t.Context(), fmt.Appendf(nil, rule, action, expression, parameters[action]))
			if (err == nil) != want[i] {
				t.Errorf("%s %s: %v", action, expression, err)
			}
		}
	}
}
