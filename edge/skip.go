package edge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Skip is what a skip rule turns off for the requests that it matches: the parameters of the
// action skip. The reference does not show them; they are known beyond it. Its members
// exclude each other on the platform in part; of several in one rule each counts here.
type Skip struct {
	Current  bool                   // the rest of the ruleset, or of the phase, that the rule is in
	Rulesets []RulesetID            // executions of these that come after the rule
	Rules    map[RulesetID][]RuleID // these rules of executions that come after it
	Phases   []Phase                // all of these later phases, of the zone and of its account
}

// SkipsPhase reports whether all of a later phase is skipped.
func (s Skip) SkipsPhase(p Phase) bool { return slices.Contains(s.Phases, p) }

// Skip returns what a skip rule turns off. It is false for a rule of another action. An error
// is that a parameter is not known here, or of no known form: what the rule turns off cannot be
// told then, and may be everything.
func (r Rule) Skip() (Skip, bool, error) {
	if r.Action != ActionSkip {
		return Skip{}, false, nil
	}
	var s Skip
	if r.ActionParameters == nil {
		return s, true, nil
	}
	var ruleset, phase string
	members := map[string]any{
		"ruleset": &ruleset, "phase": &phase, "rulesets": &s.Rulesets, "rules": &s.Rules, "phases": &s.Phases,
		"products": nil, // what they name is in no ruleset
	}
	for _, name := range slices.Sorted(maps.Keys(r.ActionParameters.Extra)) {
		into, known := members[name]
		if !known {
			return Skip{}, true, fmt.Errorf("the skip rule %s has the parameter %q, which is not known here", r.ID, name)
		}
		if into == nil {
			continue
		}
		if err := json.Unmarshal(r.ActionParameters.Extra[name], into); err != nil {
			return Skip{}, true, fmt.Errorf("%s of the skip rule %s: %w", name, r.ID, err)
		}
	}
	for _, member := range [][2]string{{"phase", phase}, {"ruleset", ruleset}} {
		switch name, value := member[0], member[1]; value {
		case "":
		case "current":
			s.Current = true
		default:
			return Skip{}, true, fmt.Errorf("%s of the skip rule %s is %q and not current", name, r.ID, value)
		}
	}
	return s, true, nil
}
