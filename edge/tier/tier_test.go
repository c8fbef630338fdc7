package tier_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/expression"
	"github.com/seawall-dev/seawall/edge/tier"
	"github.com/seawall-dev/seawall/integration/must"
)

const custom, limits = "http_request_firewall_custom", "http_ratelimit"

// lacking are the members of which the plans lack something, by plan.
func lacking(t *testing.T, phase, rule string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, plan := range tier.Plans {
		l, known := tier.Of(plan, phase)
		if !known {
			t.Fatalf("%s of %s is not in the table", phase, plan)
		}
		d := json.NewDecoder(strings.NewReader(rule))
		d.UseNumber()
		var members map[string]any
		must.Do(t, d.Decode(&members))
		lacks := l.Rule(members)
		if text, is := members["expression"].(string); is {
			lacks = append(lacks, l.Expression(text, false)...)
		}
		if limit, is := members["ratelimit"].(map[string]any); is {
			counting, _ := limit["counting_expression"].(string)
			lacks = append(lacks, l.Expression(counting, true)...)
		}
		var at []string
		for _, lack := range lacks {
			if lack.Takes == "" || !strings.HasPrefix(lack.Says, "not entitled") {
				t.Errorf("%s: %+v", plan, lack)
			}
			at = append(at, lack.Member)
		}
		if len(at) > 0 {
			all[plan] = strings.Join(at, " ")
		}
	}
	return all
}

// Each plan has what it has. Of the plans that are not named the rule lacks nothing.
func TestRules(t *testing.T) {
	limit := func(members string) string {
		return `{"action":"block","expression":"http.request.uri.path eq \"/a\"","ratelimit":{"characteristics":["cf.colo.id","ip.src"],"requests_per_period":5,` + members + `}}`
	}
	const counting = "ratelimit.counting_expression"
	for _, test := range []struct {
		phase, rule, free, pro, business, enterprise string
	}{
		{phase: custom, rule: `{"action":"skip","expression":"true","action_parameters":{"ruleset":"current"}}`},
		{phase: custom, rule: `{"action":"log","expression":"ssl"}`, free: "action", pro: "action", business: "action"},
		{phase: custom, rule: `{"action":"block","expression":"http.host matches \"a\""}`, free: "expression", pro: "expression"},
		{phase: custom, rule: `{"action":"block","expression":"cf.bot_management.score lt 5"}`, free: "expression", pro: "expression", business: "expression"},
		{phase: custom, rule: `{"action":"block","expression":"http.host eqq 5"}`},
		{phase: custom, rule: `{"action":"block","expression":"ssl","action_parameters":{"response":{}}}`, free: "action_parameters.response"},
		{phase: limits, rule: limit(`"period":10,"mitigation_timeout":10`)},
		{phase: limits, rule: limit(`"period":60,"mitigation_timeout":10`), free: "ratelimit.period"},
		{phase: limits, rule: limit(`"period":600,"mitigation_timeout":10`), free: "ratelimit.period", pro: "ratelimit.period"},
		{phase: limits, rule: limit(`"period":3600,"mitigation_timeout":10`), free: "ratelimit.period", pro: "ratelimit.period", business: "ratelimit.period"},
		{phase: limits, rule: limit(`"period":10,"mitigation_timeout":3600`), free: "ratelimit.mitigation_timeout"},
		{phase: limits, rule: limit(`"period":10,"mitigation_timeout":86400`), free: "ratelimit.mitigation_timeout", pro: "ratelimit.mitigation_timeout"},
		{phase: limits, rule: limit(`"period":10`), free: "ratelimit.mitigation_timeout", pro: "ratelimit.mitigation_timeout", business: "ratelimit.mitigation_timeout"},
		{phase: limits, rule: strings.Replace(limit(`"period":10`), "block", "challenge", 1), free: "action"},
		{
			phase: limits, rule: strings.Replace(limit(`"period":10,"mitigation_timeout":60`), "block", "challenge", 1),
			free: "action ratelimit.mitigation_timeout", pro: "ratelimit.mitigation_timeout", business: "ratelimit.mitigation_timeout",
		},
		{
			phase: limits, rule: strings.Replace(limit(`"period":10,"mitigation_timeout":10`), "ip.src", "cf.unique_visitor_id", 1),
			free: "ratelimit.characteristics", pro: "ratelimit.characteristics",
		},
		{
			phase: limits, rule: strings.Replace(limit(`"period":10,"mitigation_timeout":10`), "ip.src", "http.host", 1),
			free: "ratelimit.characteristics", pro: "ratelimit.characteristics", business: "ratelimit.characteristics",
		},
		{
			phase: limits, rule: limit(`"period":10,"mitigation_timeout":10,"counting_expression":"http.response.code eq 403"`),
			free: counting, pro: counting,
		},
		{phase: limits, rule: strings.Replace(limit(`"period":10,"mitigation_timeout":10`), "http.request.uri.path", "http.host", 1)},
	} {
		got := lacking(t, test.phase, test.rule)
		for plan, want := range map[string]string{"free": test.free, "pro": test.pro, "business": test.business, "enterprise": test.enterprise} {
			if got[plan] != want {
				t.Errorf("%s: %s lacks %q, want %q", test.rule, plan, got[plan], want)
			}
		}
	}
}

// What the plan has, and the words of the service.
func TestTexts(t *testing.T) {
	free, _ := tier.Of("free", limits)
	pro, _ := tier.Of("pro", limits)
	rule := map[string]any{"action": "block", "ratelimit": map[string]any{"period": json.Number("120"), "mitigation_timeout": json.Number("7200")}}
	for _, test := range []struct {
		lack        tier.Lack
		takes, says string
	}{
		{free.Rule(rule)[0], "takes a period of 10 seconds, not 120", "not entitled to use the period 120, can only use a period among [10]"},
		{free.Rule(rule)[1], "takes a timeout of 10 seconds, not 7200", "not entitled to use a mitigation timeout different from 10"},
		{pro.Rule(rule)[0], "takes a period of 10, 15, 20, 30, 40, 45 or 60 seconds, not 120", "not entitled to use the period 120, can only use a period among [10 15 20 30 40 45 60]"},
		{pro.Rule(map[string]any{"action": "block", "ratelimit": map[string]any{"period": json.Number("10")}})[0], "takes a timeout of 10, 15, 20, 30, 40, 45, 60, 90, 120, 180, 240, 300, 480, 600, 900, 1200, 1800, 2400 or 3600 seconds, not 0", "not entitled to use throttle behaviour"},
		{free.Rule(map[string]any{"action": "log"})[0], "takes the actions block and execute, not log", "not entitled to use the log action in ratelimiting"},
	} {
		if test.lack.Takes != test.takes || test.lack.Says != test.says {
			t.Errorf("got %+v", test.lack)
		}
	}
}

func TestCounts(t *testing.T) {
	for plan, want := range map[string][2]int{"free": {5, 1}, "pro": {20, 2}, "business": {100, 5}, "enterprise": {1000, 0}} {
		for i, phase := range []string{custom, limits} {
			l, known := tier.Of(plan, phase)
			if !known || l.Rules != want[i] {
				t.Errorf("%s has %+v of %s", plan, l, phase)
			}
			if !l.Room(l.Rules) || l.Room(1001) != (want[i] == 0) || !strings.HasPrefix(l.Full(1001), "exceeded the maximum number of rules in the phase "+phase+": 1001 out of ") {
				t.Errorf("%s of %s: %s", plan, phase, l.Full(1001))
			}
		}
	}
}

// Of what is not in the table nothing is known. A plan has all that a lesser one has.
func TestTable(t *testing.T) {
	for _, unknown := range [][2]string{{"", custom}, {"partner", custom}, {"free", "http_request_transform"}} {
		if _, known := tier.Of(unknown[0], unknown[1]); known {
			t.Errorf("%v is known", unknown)
		}
	}
	for i, plan := range tier.Plans[1:] {
		for _, phase := range []string{custom, limits} {
			less, _ := tier.Of(tier.Plans[i], phase)
			more, _ := tier.Of(plan, phase)
			for _, action := range less.Actions {
				if !slices.Contains(more.Actions, action) {
					t.Errorf("%s has no %s", plan, action)
				}
			}
			for _, period := range less.Periods {
				if more.Periods != nil && !slices.Contains(more.Periods, period) || !slices.Contains(tier.Periods, period) {
					t.Errorf("%s has no period %d", plan, period)
				}
			}
		}
	}
	for _, phase := range []string{custom, limits} {
		if !slices.Contains(expression.Phases, phase) {
			t.Errorf("%s is no phase", phase)
		}
	}
}
