package daemon

import (
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// What is imported of each zone: paranoia 2, a threshold, a rule and a tag that are off, a tag
// and a rule with an action, and two tags whose order counts.
const (
	lastRule = 0x18
	offRule  = 4  // disabled
	logRule  = 10 // only logs
	plain    = 2  // with no override
)

func handOverrides() *edge.Overrides {
	return &edge.Overrides{
		Categories: []edge.CategoryOverride{
			{Category: "rce", Action: new(edge.ActionManagedChallenge)},
			{Category: "php", Action: new(edge.ActionLog)}, // of the rule that has both, this is the action
			{Category: "paranoia-level-3", Enabled: new(false)},
			{Category: "paranoia-level-4", Enabled: new(false)},
			{Category: "wordpress", Enabled: new(false)},
		},
		Rules: []edge.RuleOverride{
			{ID: adoptedRule(lastRule), ScoreThreshold: new(60), Action: new(edge.ActionManagedChallenge)},
			{ID: adoptedRule(offRule), Enabled: new(false)},
			{ID: adoptedRule(logRule), Action: new(edge.ActionLog)},
		},
	}
}

var unknownMember = map[string]json.RawMessage{"x_future": json.RawMessage(`{"a":1}`)}

// handMadeChanges are all that a person does to what Seawall manages, one a row.
var handMadeChanges = []handMade{
	{"ruleset off", heals, func(z *handZoneOf) { z.o.Enabled = new(false) }},
	{"ruleset on, where a rule is off by default", heals, func(z *handZoneOf) { z.o.Enabled = new(true) }},
	{"action of all rules", heals, func(z *handZoneOf) { z.o.Action = new(edge.ActionLog) }},
	{"sensitivity of all rules", heals, func(z *handZoneOf) { z.o.SensitivityLevel = new("low") }},
	{"unknown member of all rules", heals, func(z *handZoneOf) { z.o.Extra = unknownMember }},

	{"tag off", heals, func(z *handZoneOf) { z.tag("sqli").Enabled = new(false) }},
	{"tag on, where a rule is off by default", heals, func(z *handZoneOf) { z.tag("wordpress").Enabled = new(true) }},
	{"action of a tag", heals, func(z *handZoneOf) { z.tag("sqli").Action = new(edge.ActionLog) }},
	{"sensitivity of a tag", heals, func(z *handZoneOf) { z.tag("sqli").SensitivityLevel = new("low") }},
	{"unknown member of a tag", heals, func(z *handZoneOf) { z.tag("sqli").Extra = unknownMember }},
	{"unknown member of a tag that is declared", heals, func(z *handZoneOf) { z.tag("wordpress").Extra = unknownMember }},
	{"another action of a tag that is declared", heals, func(z *handZoneOf) { z.tag("rce").Action = new(edge.ActionLog) }},
	{"more of a tag that is declared", heals, func(z *handZoneOf) { z.tag("rce").Enabled = new(false) }},
	{"tag that is declared removed", heals, func(z *handZoneOf) { z.withoutTag("php") }},
	{"tag that is disabled removed", heals, func(z *handZoneOf) { z.withoutTag("wordpress") }},
	{"tags in another order", heals, func(z *handZoneOf) { slices.Reverse(z.o.Categories) }},
	{"tag listed twice", heals, func(z *handZoneOf) {
		z.o.Categories = append(z.o.Categories, edge.CategoryOverride{Category: "rce", Action: new(edge.ActionLog)})
	}},
	{"tag that the ruleset does not have", heals, func(z *handZoneOf) { z.tag("gone").Enabled = new(false) }},
	{"paranoia level lowered", heals, func(z *handZoneOf) { z.tag("paranoia-level-2").Enabled = new(false) }},
	{"paranoia level raised", heals, func(z *handZoneOf) { z.withoutTag("paranoia-level-3") }},
	{"paranoia level 4 removed", heals, func(z *handZoneOf) { z.withoutTag("paranoia-level-4") }},
	{"paranoia level 4 on", heals, func(z *handZoneOf) { z.tag("paranoia-level-4").Enabled = new(true) }},
	{"paranoia level with an action", heals, func(z *handZoneOf) { z.tag("paranoia-level-1").Action = new(edge.ActionLog) }},

	{"rule off", heals, func(z *handZoneOf) { z.override(plain).Enabled = new(false) }},
	{"rule on, which is off by default", heals, func(z *handZoneOf) { z.override(15).Enabled = new(true) }},
	{"rule on, which is on", nothing, func(z *handZoneOf) { z.override(plain).Enabled = new(true) }},
	{"action of a rule", heals, func(z *handZoneOf) { z.override(plain).Action = new(edge.ActionLog) }},
	{"sensitivity of a rule", heals, func(z *handZoneOf) { z.override(plain).SensitivityLevel = new("low") }},
	{"unknown member of a rule", heals, func(z *handZoneOf) { z.override(plain).Extra = unknownMember }},
	{"unknown member of a rule that is declared", heals, func(z *handZoneOf) { z.override(lastRule).Extra = unknownMember }},
	{"another action of a rule that is declared", heals, func(z *handZoneOf) { z.override(logRule).Action = new(edge.ActionBlock) }},
	{"more of a rule that is declared", heals, func(z *handZoneOf) { z.override(logRule).Enabled = new(false) }},
	{"rule that is declared removed", heals, func(z *handZoneOf) { z.withoutRule(logRule) }},
	{"rule that is disabled on", heals, func(z *handZoneOf) { z.override(offRule).Enabled = new(true) }},
	{"rule that is disabled removed", heals, func(z *handZoneOf) { z.withoutRule(offRule) }},
	{"rule that the ruleset does not have", heals, func(z *handZoneOf) { z.override(0xff).Enabled = new(false) }},
	{"score of the threshold", heals, func(z *handZoneOf) { z.override(lastRule).ScoreThreshold = new(1000) }},
	{"action of the threshold", heals, func(z *handZoneOf) { z.override(lastRule).Action = new(edge.ActionLog) }},
	{"threshold without its action", heals, func(z *handZoneOf) { z.override(lastRule).Action = nil }},
	{"threshold removed", heals, func(z *handZoneOf) { z.withoutRule(lastRule) }},
	{"last rule off", heals, func(z *handZoneOf) { z.override(lastRule).Enabled = new(false) }},
	{"no tags", heals, func(z *handZoneOf) { z.o.Categories = nil }},
	{"no rules", heals, func(z *handZoneOf) { z.o.Rules = nil }},
	{"no overrides", heals, func(z *handZoneOf) { z.rule.ActionParameters.Overrides = nil }},

	{"version pinned", heals, func(z *handZoneOf) { z.rule.ActionParameters.Version = "1" }},
	{"expression", heals, func(z *handZoneOf) { z.rule.Expression = `http.host ne "legacy.example"` }},
	{"execute rule off", heals, func(z *handZoneOf) { z.rule.Enabled = new(false) }},
	{"execute rule deleted", heals, func(z *handZoneOf) { z.Rules = nil }},
	{"entry point deleted", heals, func(z *handZoneOf) { z.gone = true }},
	{"description dropped", heals, func(z *handZoneOf) { z.rule.Description = nil }},
	{"ref dropped", heals, func(z *handZoneOf) { z.rule.Ref = string(z.rule.ID) }},
	{"all but the ruleset dropped", heals, func(z *handZoneOf) {
		*z.rule = edge.Rule{ID: z.rule.ID, Action: z.rule.Action, Expression: "true", ActionParameters: &edge.ActionParameters{ID: mem.CoreRuleset}}
	}},
	{"a second execute rule", names, func(z *handZoneOf) {
		second := *z.rule
		second.ID, second.Ref = "d00000000000000000000000000000ff", "second"
		z.Rules = append(z.Rules, second)
	}},
}
