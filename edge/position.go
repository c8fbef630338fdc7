package edge

import (
	"encoding/json"
	"maps"
)

// Position is the place of a rule among the others of its ruleset (known beyond the reference).
// It has exactly one of its members. The order has meaning: a skip rule acts on what comes
// after it.
type Position struct {
	Before *RuleID `json:"before,omitempty"` // an empty id is the first place
	After  *RuleID `json:"after,omitempty"`  // an empty id is the last place
	Index  *int    `json:"index,omitempty"`  // counted from 1
}

// At is the body that adds this rule at a place; nil is the end, of which a body says nothing.
func (r Rule) At(p *Position) Rule {
	if p == nil {
		return r
	}
	data, err := json.Marshal(p)
	if err != nil { // which strings and a number do not fail at
		return r
	}
	extra := maps.Clone(r.Extra)
	if extra == nil {
		extra = map[string]json.RawMessage{}
	}
	extra["position"] = data
	r.Extra = extra
	return r
}
