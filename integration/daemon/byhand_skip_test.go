package daemon

import (
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// skip is a skip rule with these parameters.
func skip(expression, parameters string) edge.Rule {
	var p edge.ActionParameters
	if err := json.Unmarshal([]byte(parameters), &p); err != nil {
		panic(err)
	}
	return edge.Rule{Action: edge.ActionSkip, Expression: expression, ActionParameters: &p, Enabled: new(true), Description: new("by hand")}
}

const (
	skipsAll     = `{"ruleset":"current"}`
	skipsCore    = `{"rulesets":["` + string(mem.CoreRuleset) + `"]}`
	skipsOther   = `{"rulesets":["` + string(mem.CredentialsRuleset) + `"]}`
	skipsRule    = `{"rules":{"` + string(mem.CoreRuleset) + `":["c04e0000000000000000000100000001"]}}`
	skipsManaged = `{"phases":["http_request_firewall_managed"]}`
	skipsUnclear = `{"ruleset":7}`
	someone      = "ip.src eq 192.0.2.7"
)

func (z *handZoneOf) before(rule edge.Rule) { z.Rules = slices.Insert(z.Rules, 0, rule) }

// custom has a rule in the custom phase of the zone.
func (z *handZoneOf) custom(rule edge.Rule) {
	z.other = append(z.other, edge.Ruleset{Name: "default", Phase: edge.PhaseFirewallCustom, Rules: []edge.Rule{rule}})
}

// skipChanges are what a person does that has requests not reach the managed ruleset.
var skipChanges = []handMade{
	{"skip of all, for each request", names, func(z *handZoneOf) { z.before(skip("true", skipsAll)) }},
	{"skip of all, for an address", names, func(z *handZoneOf) { z.before(skip(someone, skipsAll)) }},
	{"skip of the ruleset", names, func(z *handZoneOf) { z.before(skip(someone, skipsCore)) }},
	{"skip of a rule", names, func(z *handZoneOf) { z.before(skip(someone, skipsRule)) }},
	{"skip that cannot be understood", names, func(z *handZoneOf) { z.before(skip(someone, skipsUnclear)) }},
	{"skip in the custom phase", names, func(z *handZoneOf) { z.custom(skip(someone, skipsManaged)) }},
	{"skip in the custom phase, for each request", names, func(z *handZoneOf) { z.custom(skip("true", skipsManaged)) }},
	{"skip behind", nothing, func(z *handZoneOf) { z.Rules = append(z.Rules, skip("true", skipsAll)) }},
	{"skip that is disabled", nothing, func(z *handZoneOf) {
		rule := skip("true", skipsAll)
		rule.Enabled = new(false)
		z.before(rule)
	}},
	{"skip that never matches", nothing, func(z *handZoneOf) { z.before(skip("false", skipsAll)) }},
	{"skip of another ruleset", nothing, func(z *handZoneOf) { z.before(skip("true", skipsOther)) }},
	{"skip of other phases in the custom phase", nothing, func(z *handZoneOf) { z.custom(skip("true", `{"phases":["http_ratelimit"]}`)) }},
}

// foundChanges are made in zones that had a skip rule for an address before the execute rule,
// and one for each request behind it, when they were imported.
var foundChanges = []handMade{
	{"found, and not changed", lists, func(*handZoneOf) {}},
	{"found, with another expression", names, func(z *handZoneOf) { z.Rules[0].Expression = "ip.src in {192.0.2.0/24}" }},
	{"found, of more", names, func(z *handZoneOf) { z.Rules[0].ActionParameters = skip("", skipsAll).ActionParameters }},
	{"found, for each request", names, func(z *handZoneOf) { z.Rules[0].Expression = "true" }},
	{"found, and moved behind", nothing, func(z *handZoneOf) { z.Rules[0], z.Rules[1] = z.Rules[1], z.Rules[0] }},
	{"found, and deleted", nothing, func(z *handZoneOf) { z.Rules = z.Rules[1:] }},
	{"found behind, and moved before", names, func(z *handZoneOf) { slices.Reverse(z.Rules) }},
	{"found, and another one", names, func(z *handZoneOf) { z.before(skip("ip.src eq 198.51.100.9", skipsRule)) }},
}

// withSkips is an entry point that is imported with skip rules.
func withSkips(entryPoint *edge.Ruleset) {
	before, behind := skip(someone, skipsRule), skip("true", skipsAll)
	before.ID, behind.ID = edge.RuleID("b0"+string(entryPoint.Rules[0].ID[2:])), edge.RuleID("be"+string(entryPoint.Rules[0].ID[2:]))
	before.Ref, behind.Ref = string(before.ID), string(behind.ID)
	entryPoint.Rules = []edge.Rule{before, entryPoint.Rules[0], behind}
}
