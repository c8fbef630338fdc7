package bypass

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// skipped is what a skip rule turns off of one deployment: nothing, some rules, or all.
type skipped struct {
	all     bool
	rules   []edge.RuleID
	unclear error
}

// unclear counts what is not understood as all.
func unclear(err error) skipped { return skipped{all: true, unclear: err} }

// parameters are those of a skip rule that are known here. Products are turned off that are no
// part of the rulesets; "phase" is read here, since it has no meaning ahead of the managed phase.
var parameters = map[string]bool{
	"ruleset": true, "rulesets": true, "rules": true, "phases": true, "phase": true, "products": true,
}

// skipped tells what a skip rule that stands at a place before the execute rule turns off.
func (of *Of) skipped(at edge.Place, rule edge.Rule) skipped {
	s, _, err := rule.Skip()
	if err != nil {
		return unclear(err)
	}
	phase, err := phaseOf(rule)
	if err != nil {
		return unclear(err)
	}
	switch {
	case s.SkipsPhase(edge.PhaseFirewallManaged):
		return skipped{all: true}
	case at.Phase != edge.PhaseFirewallManaged: // the rest of it means its own phase
		return skipped{}
	case phase || s.Current || slices.Contains(s.Rulesets, of.Managed.ID):
		return skipped{all: true}
	}
	return of.named(s.Rules[of.Managed.ID])
}

// phaseOf reports whether a skip rule turns the rest of its own phase off. An error is a
// parameter that nothing is known of.
func phaseOf(rule edge.Rule) (bool, error) {
	if rule.ActionParameters == nil {
		return false, nil
	}
	for _, name := range slices.Sorted(maps.Keys(rule.ActionParameters.Extra)) {
		if !parameters[name] {
			return false, fmt.Errorf("the skip rule %s has the parameter %q, which is not known here", rule.ID, name)
		}
	}
	data, said := rule.ActionParameters.Extra["phase"]
	if !said {
		return false, nil
	}
	var phase string
	if err := json.Unmarshal(data, &phase); err != nil {
		return false, fmt.Errorf("phase of the skip rule %s: %w", rule.ID, err)
	}
	if phase != "" && phase != "current" {
		return false, fmt.Errorf("phase of the skip rule %s is %q and not current", rule.ID, phase)
	}
	return phase == "current", nil
}

// named are the rules of the managed ruleset that a skip rule names: those that it has and that
// are on. To name all that are on is to skip all.
func (of *Of) named(ids []edge.RuleID) skipped {
	if len(ids) == 0 {
		return skipped{}
	}
	if len(of.Managed.Rules) == 0 {
		return unclear(fmt.Errorf("the rules of managed ruleset %s are not known", of.Managed.ID))
	}
	var on int
	var rules []edge.RuleID
	for i := range of.Managed.Rules {
		id := of.Managed.Rules[i].ID
		if of.On != nil && !of.On(id) {
			continue
		}
		on++
		if slices.Contains(ids, id) {
			rules = append(rules, id)
		}
	}
	if on > 0 && len(rules) == on {
		return skipped{all: true}
	}
	slices.Sort(rules)
	return skipped{rules: rules}
}
