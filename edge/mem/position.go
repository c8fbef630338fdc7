package mem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// position is where a rule is to be placed; nil is where it is.
type position edge.Position

// position takes the position out of a body, where the platform knows of such.
// The body is nil where it has nothing else.
func (w write) position(body []byte) ([]byte, *position, []edge.ErrorDetail) {
	var members map[string]json.RawMessage
	if !w.p.extended || json.Unmarshal(body, &members) != nil || members["position"] == nil {
		return body, nil, nil
	}
	at, err := decodePosition(members["position"])
	if err != nil {
		return body, nil, []edge.ErrorDetail{problem(0, "/position", "position must have exactly one of before, after and index: %v", err)}
	}
	if delete(members, "position"); len(members) == 0 {
		return nil, at, nil
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return body, nil, []edge.ErrorDetail{{Message: err.Error()}}
	}
	return rest, at, nil
}

func decodePosition(raw []byte) (*position, error) {
	at := &position{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(at); err != nil {
		return nil, err
	}
	n := 0
	for _, said := range []bool{at.Before != nil, at.After != nil, at.Index != nil} {
		if said {
			n++
		}
	}
	if n != 1 {
		return nil, fmt.Errorf("it has %d", n)
	}
	return at, nil
}

// move places the rule i of a ruleset.
func (at *position) move(call string, r *edge.Ruleset, i int) error {
	if at == nil {
		return nil
	}
	rule := r.Rules[i]
	r.Rules = slices.Delete(r.Rules, i, i+1)
	to, ok := at.in(r.Rules)
	if !ok {
		return invalid(call, []edge.ErrorDetail{problem(0, "/position", "the ruleset has no such place")})
	}
	r.Rules = slices.Insert(r.Rules, to, rule)
	return nil
}

// in is the index of the position among other rules. An empty id is the top or
// the bottom.
func (at *position) in(rules []edge.Rule) (int, bool) {
	find := func(id edge.RuleID) int { return slices.IndexFunc(rules, func(r edge.Rule) bool { return r.ID == id }) }
	switch {
	case at.Index != nil:
		return *at.Index - 1, *at.Index >= 1 && *at.Index <= len(rules)+1
	case at.Before != nil && *at.Before == "":
		return 0, true
	case at.Before != nil:
		i := find(*at.Before)
		return i, i >= 0
	case *at.After == "":
		return len(rules), true
	}
	i := find(*at.After)
	return i + 1, i >= 0
}
