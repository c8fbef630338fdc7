package bypass

import (
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// ahead adds the skip rules of an earlier phase: those of its entry point, and those of the
// rulesets that the entry point executes.
func (of *Of) ahead(found []Acting, places map[edge.Place]diff.Ahead, at edge.Place) []Acting {
	place, looked := places[at]
	if !looked || place.Err != nil {
		return found
	}
	for i := range place.Value.Rules {
		rule := &place.Value.Rules[i]
		switch {
		case rule.Action == edge.ActionSkip && rule.IsEnabled():
			found = of.add(found, at, *rule)
		case executes(rule) != "" && first(place.Value.Rules, i):
			found = of.executed(found, at, place, executes(rule))
		}
	}
	return found
}

// executes is the ruleset that a rule runs; empty for none.
func executes(rule *edge.Rule) edge.RulesetID {
	if rule.Action != edge.ActionExecute || rule.ActionParameters == nil || !rule.IsEnabled() {
		return ""
	}
	return rule.ActionParameters.ID
}

// first reports whether no rule before rules[i] runs the same ruleset.
func first(rules []edge.Rule, i int) bool {
	id := executes(&rules[i])
	for j := range i {
		if executes(&rules[j]) == id {
			return false
		}
	}
	return true
}

// executed adds the skip rules of a ruleset that rules of an entry point run, each once.
func (of *Of) executed(found []Acting, at edge.Place, place diff.Ahead, id edge.RulesetID) []Acting {
	ruleset, read := place.Executed[id]
	if !read || ruleset.Err != nil {
		return found
	}
	for _, rule := range ruleset.Value.Rules {
		if rule.Action != edge.ActionSkip {
			continue
		}
		var when []string
		for i := range place.Value.Rules {
			execute := &place.Value.Rules[i]
			if executes(execute) == id && (rule.IsEnabled() || enables(execute.ActionParameters.Overrides, rule.ID)) {
				when = append(when, execute.Expression)
			}
		}
		if len(when) > 0 {
			rule.Expression = joined(when, rule.Expression)
			found = of.add(found, at, rule)
		}
	}
	return found
}

// joined is the expression under which a rule of an executed ruleset matches: that of an execute
// rule, and its own.
func joined(execute []string, rule string) string {
	when := "(" + strings.Join(execute, ") or (") + ")"
	if len(execute) > 1 {
		when = "(" + when + ")"
	}
	return when + " and (" + rule + ")"
}

// enables reports whether overrides may turn a rule on that is off. Which ones do in a ruleset of
// a customer is not known, so any that says "enabled" for the rule, a tag or all counts.
func enables(o *edge.Overrides, id edge.RuleID) bool {
	yes := func(enabled *bool) bool { return enabled != nil && *enabled }
	if o == nil {
		return false
	}
	if yes(o.Enabled) {
		return true
	}
	for _, c := range o.Categories {
		if yes(c.Enabled) {
			return true
		}
	}
	for _, r := range o.Rules {
		if r.ID == id && yes(r.Enabled) {
			return true
		}
	}
	return false
}
