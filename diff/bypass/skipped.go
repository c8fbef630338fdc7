package bypass

import (
	"fmt"
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

// skipped tells what a skip rule that stands at a place before the execute rule turns off.
func (of *Of) skipped(at edge.Place, rule edge.Rule) skipped {
	s, _, err := rule.Skip()
	if err != nil {
		return unclear(err)
	}
	switch {
	case s.SkipsPhase(edge.PhaseFirewallManaged):
		return skipped{all: true}
	case at.Phase != edge.PhaseFirewallManaged: // the rest of it means its own phase
		return skipped{}
	case s.Current || slices.Contains(s.Rulesets, of.Managed.ID):
		return skipped{all: true}
	}
	return of.named(s.Rules[of.Managed.ID])
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
