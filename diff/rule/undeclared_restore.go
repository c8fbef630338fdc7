package rule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/bypass"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/redact"
)

// returned puts a rule back that was removed though nothing declared it: it stands before its execute
// rule again. The platform gives it another id, so it is known by what it does.
func returned(r diff.Restoration, in diff.Input) (*diff.Change, *diff.Problem) {
	entryPoint, read := in.Live.EntryPoints[r.ID.Scope.At(edge.PhaseFirewallManaged)]
	if !read {
		entryPoint.Err = errors.New("the zone was not read")
	}
	if entryPoint.Err != nil {
		return nil, &diff.Problem{State: diff.Unknown, Reason: entryPoint.Err.Error(), Err: entryPoint.Err}
	}
	rule, before, err := removedRule(r.Members)
	if err != nil {
		return nil, blocked(err)
	}
	rules := entryPoint.Value.Rules
	at := byID(entryPoint.Value.Rules, before)
	if i := slices.IndexFunc(rules, func(live edge.Rule) bool { return sameRule(live, rule) }); i >= 0 && (i < at || at < 0) {
		return nil, nil
	}
	switch {
	case at < 0:
		return nil, since(fmt.Sprintf("the execute rule %s, before which the skip rule stood, is gone", before))
	case slices.ContainsFunc(rules, func(live edge.Rule) bool { return rule.Ref != "" && live.Ref == rule.Ref }):
		return nil, since(fmt.Sprintf("another rule has the ref %q by now", rule.Ref))
	}
	fields := fieldsOf(rule, before)
	for i := range fields {
		f := &fields[i]
		if f.Old, f.New = nil, f.Old; f.Path == expressionMember {
			f.Direction = diff.Weakens
		}
	}
	return &diff.Change{
		Direction: diff.Weakens, Fields: fields,
		Operation: diff.RuleOperation{
			Do: diff.ActionDeploy, Body: rule, Position: &edge.Position{Before: &before},
			Target: diff.Target{Kind: desired.Exception, Ref: r.ID.Ref, Phase: edge.PhaseFirewallManaged, EntryPoint: entryPoint.Value.ID, Version: entryPoint.Value.Version},
		},
	}, nil
}

// sameRule reports whether a live rule does what another one did.
func sameRule(live, was edge.Rule) bool {
	return live.Action == was.Action && bypass.Hash(live) == bypass.Hash(was)
}

// removedRule is a rule that was removed, by its members, and the execute rule that it stood before.
func removedRule(members []diff.Restored) (rule edge.Rule, before edge.RuleID, err error) {
	values := map[diff.Member]json.RawMessage{}
	for _, m := range members {
		if bytes.Contains(m.Before, []byte(redact.Mark)) {
			return rule, "", fmt.Errorf("%s: the history does not have the earlier value, because a secret was in it; write the rule by hand", m.Path)
		}
		if m.Before != nil {
			values[m.Path] = m.Before
		}
	}
	if values[beforeMember] == nil {
		return rule, "", errors.New("a revert does not remove what was put back")
	}
	if err := json.Unmarshal(values[beforeMember], &before); err != nil {
		return rule, "", fmt.Errorf("%s: %w", beforeMember, err)
	}
	delete(values, beforeMember)
	data, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(data, &rule)
	}
	if err != nil {
		return rule, "", fmt.Errorf("the history has no rule: %w", err)
	}
	return rule, before, nil
}
