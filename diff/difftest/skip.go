package difftest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// SkipID is the id of a skip rule, counted from 0.
func SkipID(i int) edge.RuleID { return edge.RuleID(fmt.Sprintf("%032x", 0x5c1b000+i)) }

// Skip is a skip rule with an expression; parameters are JSON, such as `{"ruleset": "current"}`.
func Skip(i int, expression, parameters string) edge.Rule {
	var p edge.ActionParameters
	if err := json.Unmarshal([]byte(parameters), &p); err != nil {
		panic("difftest: parameters of a skip rule: " + err.Error())
	}
	return edge.Rule{
		ID: SkipID(i), Version: "1", Action: edge.ActionSkip, ActionParameters: &p, Expression: expression, Enabled: new(true),
		Ref: string(SkipID(i)), Description: new(fmt.Sprintf("skip %d", i)),
		Extra: map[string]json.RawMessage{"logging": json.RawMessage(`{"enabled":true}`)},
	}
}

// SkipAll is a skip rule that turns off what comes after it.
func SkipAll(i int, expression string) edge.Rule { return Skip(i, expression, `{"ruleset":"current"}`) }

// SkipPhase is one of an earlier phase, which turns off the phase of deployments.
func SkipPhase(i int, expression string) edge.Rule {
	return Skip(i, expression, `{"phases":["http_request_firewall_managed"]}`)
}

// Ahead are earlier phases that were looked at, with the rules of each.
func Ahead(places map[edge.Place][]edge.Rule) map[edge.Place]diff.Ahead {
	all := map[edge.Place]diff.Ahead{}
	for at, rules := range places {
		var ahead diff.Ahead
		ahead.Value = edge.Ruleset{ID: "e1000000000000000000000000000001", Phase: at.Phase, Version: "4", Rules: slices.Clone(rules)}
		all[at] = ahead
	}
	return all
}
