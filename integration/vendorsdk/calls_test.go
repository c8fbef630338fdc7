package vendorsdk

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/cloudflare-go/v6/option"
	"github.com/cloudflare/cloudflare-go/v6/rulesets"
)

// attempt is one call of the SDK, and how the vendor documents that it ends.
type attempt struct {
	what   string
	do     func(w *world) error
	status int    // 0: it succeeds
	text   string // of a refusal: a code, a place, or words of it
}

// world is a simulator, and what earlier calls of a group have made there.
type world struct {
	*testing.T
	simulator
	sdk *rulesets.RulesetService
	ids map[string]string
}

// ninetyFive is how many calls there are: those that were once made by hand.
const ninetyFive = 95

// Each call ends as the vendor documents it. The calls of a group are made one after another.
func TestCalls(t *testing.T) {
	groups := map[string][]attempt{
		"rulesets": rulesetCalls, "custom rules": customCalls, "rate limits": limitCalls, "exceptions": exceptionCalls,
		"places": placeCalls, "accounts": accountCalls, "plans": planCalls, "tokens": tokenCalls, "directory": directoryCalls,
	}
	n := 0
	for name, calls := range groups {
		n += len(calls)
		t.Run(name, func(t *testing.T) {
			s := start(t)
			w := &world{t, s, rulesets.NewRulesetService(s.as("administrator")...), map[string]string{}}
			for _, call := range calls {
				err := call.do(w)
				if call.status == 0 && err != nil {
					t.Errorf("%s: %v", call.what, err)
				} else if call.status != 0 && !is(err, call.status, call.text) {
					t.Errorf("%s: got %v, want %d with %q", call.what, err, call.status, call.text)
				}
			}
		})
	}
	if n != ninetyFive {
		t.Errorf("%d calls", n)
	}
}

// rule makes the SDK's parameters of a rule, of which members are given as JSON.
func rule[T any](w *world, members string) (made T) {
	w.Helper()
	var values map[string]any
	if err := json.Unmarshal([]byte(members), &values); err != nil {
		w.Fatal(err)
	}
	v := reflect.ValueOf(&made).Elem()
	for i := range v.NumField() {
		value, said := values[v.Type().Field(i).Tag.Get("json")]
		if !said {
			continue
		}
		field := v.Field(i)
		if of, is := value.(map[string]any); is && v.Type().Field(i).Name == "Logging" {
			var logging rulesets.LoggingParam
			set(&logging.Enabled, of["enabled"])
			value = logging
		}
		to := field.FieldByName("Value")
		if given := reflect.ValueOf(value); to.Kind() != reflect.Interface {
			to.Set(given.Convert(to.Type()))
		} else {
			to.Set(given)
		}
		field.FieldByName("Present").SetBool(true)
	}
	return made
}

// try has an entry point with these rules validated, and not made. They are given as JSON.
func try(o owner, phase rulesets.Phase, rules ...string) func(w *world) error {
	return func(w *world) error {
		_, err := w.sdk.New(w.Context(), entryPoint(w, o, phase, rules...), option.WithQuery("dry_run", "true"))
		return err
	}
}

func entryPoint(w *world, o owner, phase rulesets.Phase, rules ...string) rulesets.RulesetNewParams {
	kind := rulesets.KindZone
	if o.account != "" {
		kind = rulesets.KindRoot
	}
	params := run{w.T, w.sdk, o, kind}.newParams()
	set(&params.Phase, phase)
	var all []rulesets.RulesetNewParamsRuleUnion
	for _, members := range rules {
		all = append(all, rule[rulesets.RulesetNewParamsRule](w, members))
	}
	set(&params.Rules, all)
	return params
}

// blocks is a rule that blocks, with more members.
func blocks(members string) string { return `{"action":"block","expression":"ssl"` + members + `}` }

// limits is one with a rate limit.
func limits(limit string) string {
	return `{"action":"block","expression":"http.request.uri.path eq \"/login\"","ratelimit":{` + limit + `}}`
}

// skips is a skip rule with parameters.
func skips(parameters string) string {
	return `{"action":"skip","expression":"ssl","action_parameters":{` + parameters + `}}`
}

const (
	custom  = rulesets.PhaseHTTPRequestFirewallCustom
	limited = rulesets.PhaseHTTPRatelimit
	managed = rulesets.PhaseHTTPRequestFirewallManaged
)

// Zones of the simulator's seed.
var (
	inShop = owner{zone: shop}
	inBare = owner{zone: bare}                               // it has no entry point
	inFree = owner{zone: "00000000000000000000000000000b02"} // of the plan free
	inProd = owner{account: production}
)

var customCalls = []attempt{
	{"a block", try(inBare, custom, blocks("")), 0, ""},
	{"a block that is described, named and off", try(inBare, custom, blocks(`,"description":"x","ref":"a","enabled":false`)), 0, ""},
	{"a challenge", try(inBare, custom, strings.Replace(blocks(""), "block", "challenge", 1)), 0, ""},
	{"a challenge without interaction", try(inBare, custom, strings.Replace(blocks(""), "block", "js_challenge", 1)), 0, ""},
	{"a managed challenge", try(inBare, custom, strings.Replace(blocks(""), "block", "managed_challenge", 1)), 0, ""},
	{"a log", try(inBare, custom, strings.Replace(blocks(""), "block", "log", 1)), 0, ""},
	{"a response", try(inBare, custom, blocks(`,"action_parameters":{"response":{"status_code":403,"content_type":"text/plain","content":"no"}}`)), 0, ""},
	{"half a response", try(inBare, custom, blocks(`,"action_parameters":{"response":{"status_code":403}}`)), 400, "/rules/0/action_parameters/response/content"},
	{"a response that is none", try(inBare, custom, blocks(`,"action_parameters":{"response":{"status_code":200,"content_type":"text/plain","content":""}}`)), 400, "status_code"},
	{"a skip of the rest", try(inBare, custom, skips(`"ruleset":"current"`)), 0, ""},
	{"a skip of phases and products", try(inBare, custom, skips(`"phases":["http_ratelimit","http_request_firewall_managed"],"products":["waf"]`)), 0, ""},
	{"a skip of the phase", try(inBare, custom, skips(`"phase":"current"`)), 0, ""},
	{"a skip without parameters", try(inBare, custom, `{"action":"skip","expression":"ssl"}`), 400, "20106"},
	{"a skip of phase and ruleset", try(inBare, custom, skips(`"phase":"current","ruleset":"current"`)), 400, "/rules/0/action_parameters/phase"},
	{"a skip of a phase that cannot be skipped", try(inBare, custom, skips(`"phases":["ddos_l7"]`)), 400, "20120"},
	{"a skip of a product that there is not", try(inBare, custom, skips(`"products":["botFight"]`)), 400, "20119"},
	{"a skip that is not logged", try(inBare, custom, strings.Replace(skips(`"ruleset":"current"`), `{`, `{"logging":{"enabled":false},`, 1)), 0, ""},
	{"logging of a block", try(inBare, custom, blocks(`,"logging":{"enabled":true}`)), 400, "20018"},
	{"a ref twice", try(inBare, custom, blocks(`,"ref":"a"`), blocks(`,"ref":"a"`)), 400, "/rules/1/ref"},
	{"an empty ref", try(inBare, custom, blocks(`,"ref":""`)), 400, "/rules/0/ref"},
	{"an operator that there is not", try(inBare, custom, strings.Replace(blocks(""), "ssl", "ip.src eqq 192.0.2.9", 1)), 400, "20127"},
	{"an action that there is not", try(inBare, custom, strings.Replace(blocks(""), "block", "allow", 1)), 400, "/rules/0/action"},
	{"an action of another phase", try(inBare, custom, strings.Replace(blocks(""), "block", "set_config", 1)), 400, "/rules/0/action"},
	{"a rate limit in this phase", try(inBare, custom, limits(byAddress+`,"period":60,"requests_per_period":5`)), 400, "/rules/0/ratelimit"},
}

const byAddress = `"characteristics":["cf.colo.id","ip.src"]`

var limitCalls = []attempt{
	{"a rate limit", try(inBare, limited, limits(byAddress+`,"period":60,"requests_per_period":5,"mitigation_timeout":600`)), 0, ""},
	{"one that counts something else", try(inBare, limited, limits(byAddress+`,"period":60,"requests_per_period":5,"counting_expression":"http.response.code eq 403","requests_to_origin":true`)), 0, ""},
	{"one by a score", try(inBare, limited, limits(byAddress+`,"period":60,"score_per_period":5,"score_response_header_name":"x-score"`)), 0, ""},
	{"a period of 7", try(inBare, limited, limits(byAddress+`,"period":7,"requests_per_period":5`)), 400, "/rules/0/ratelimit/period"},
	{"no characteristics", try(inBare, limited, limits(`"period":60,"requests_per_period":5`)), 400, "20155"},
	{"no data centre", try(inBare, limited, limits(`"characteristics":["ip.src"],"period":60,"requests_per_period":5`)), 400, "20155"},
	{"address and visitor", try(inBare, limited, limits(`"characteristics":["cf.colo.id","ip.src","cf.unique_visitor_id"],"period":60,"requests_per_period":5`)), 400, "/rules/0/ratelimit/characteristics"},
	{"no requests", try(inBare, limited, limits(byAddress+`,"period":60`)), 400, "/rules/0/ratelimit/requests_per_period"},
	{"no rate limit", try(inBare, limited, blocks("")), 400, "/rules/0/ratelimit"},
	{"a skip", try(inBare, limited, skips(`"ruleset":"current"`)), 400, "/rules/0/action"},
}

var exceptionCalls = []attempt{
	{"of all that follows", try(inBare, managed, skips(`"ruleset":"current"`)), 0, ""},
	{"of a ruleset", try(inBare, managed, skips(`"rulesets":["`+core+`"]`)), 0, ""},
	{"of a rule", try(inBare, managed, skips(`"rules":{"`+core+`":["c04e0000000000000000000100000018"]}`)), 0, ""},
	{"of a rule of another ruleset", try(inBare, managed, skips(`"rules":{"`+credentials+`":["c04e0000000000000000000100000018"]}`)), 400, "/rules/0/action_parameters/rules/" + credentials},
	{"of a ruleset that there is not", try(inBare, managed, skips(`"rulesets":["deadbeefdeadbeefdeadbeefdeadbeef"]`)), 400, "/rules/0/action_parameters/rulesets/0"},
	{"of rules and all", try(inBare, managed, skips(`"ruleset":"current","rules":{"`+core+`":["c04e0000000000000000000100000018"]}`)), 400, "/rules/0/action_parameters/rules"},
	{"of rulesets and all", try(inBare, managed, skips(`"ruleset":"current","rulesets":["`+core+`"]`)), 400, "/rules/0/action_parameters/rulesets"},
	{"of products", try(inBare, managed, skips(`"products":["waf"]`)), 400, "/rules/0/action_parameters/products"},
	{"a block", try(inBare, managed, blocks("")), 400, "/rules/0/action"},
}

var accountCalls = []attempt{
	{"a skip for all zones", try(inProd, custom, skips(`"ruleset":"current"`)), 400, "/rules/0/expression"},
	{"a skip for Enterprise zones", try(inProd, custom, strings.Replace(skips(`"ruleset":"current"`), `"ssl"`, `"(ssl) and cf.zone.plan eq \"ENT\""`, 1)), 0, ""},
	{"a skip of the phase", try(inProd, custom, strings.Replace(skips(`"phase":"current"`), `"ssl"`, `"(ssl) and cf.zone.plan eq \"ENT\""`, 1)), 400, "/rules/0/action_parameters/phase"},
}

var planCalls = []attempt{
	{"five rules", try(inFree, custom, slices.Repeat([]string{blocks("")}, 5)...), 0, ""},
	{"six rules", try(inFree, custom, slices.Repeat([]string{blocks("")}, 6)...), 400, "exceeded the maximum number of rules in the phase http_request_firewall_custom: 6 out of 5"},
	{"a log", try(inFree, custom, strings.Replace(blocks(""), "block", "log", 1)), 400, "not entitled to use the log action"},
	{"a regular expression", try(inFree, custom, strings.Replace(blocks(""), "ssl", `http.host matches \"a\"`, 1)), 400, "the use of operator Matches is not allowed"},
	{"a period of a minute", try(inFree, limited, limits(byAddress+`,"period":60,"requests_per_period":5,"mitigation_timeout":10`)), 400, "not entitled to use the period 60, can only use a period among [10]"},
	{"a timeout of ten minutes", try(inFree, limited, limits(byAddress+`,"period":10,"requests_per_period":5,"mitigation_timeout":600`)), 400, "not entitled to use a mitigation timeout different from 10"},
}
