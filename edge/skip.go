package edge

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Skip is what a skip rule turns off for the requests that it matches: the parameters of the
// action skip. The reference does not show them; they are known beyond it. Its members
// exclude each other on the platform in part; of several in one rule each counts here.
type Skip struct {
	Current  bool                   // the rest of the entry point that the rule is in
	Rulesets []RulesetID            // executions of these that come after the rule
	Rules    map[RulesetID][]RuleID // these rules of executions that come after it
	Phases   []Phase                // all of these later phases, of the zone and of its account
}

// SkipsPhase reports whether all of a later phase is skipped.
func (s Skip) SkipsPhase(p Phase) bool { return slices.Contains(s.Phases, p) }

// Skip returns what a skip rule turns off. It is false for a rule of another action. An error
// is that its parameters are of no form known here: what it turns off cannot be told then, and
// may be everything.
func (r Rule) Skip() (Skip, bool, error) {
	if r.Action != ActionSkip {
		return Skip{}, false, nil
	}
	var s Skip
	if r.ActionParameters == nil {
		return s, true, nil
	}
	var ruleset string
	for name, into := range map[string]any{"ruleset": &ruleset, "rulesets": &s.Rulesets, "rules": &s.Rules, "phases": &s.Phases} {
		data, said := r.ActionParameters.Extra[name]
		if !said {
			continue
		}
		if err := json.Unmarshal(data, into); err != nil {
			return Skip{}, true, fmt.Errorf("%s of the skip rule %s: %w", name, r.ID, err)
		}
	}
	switch ruleset {
	case "":
	case "current":
		s.Current = true
	default:
		return Skip{}, true, fmt.Errorf("ruleset of the skip rule %s is %q and not current", r.ID, ruleset)
	}
	return s, true, nil
}
