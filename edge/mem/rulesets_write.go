package mem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/exactjson"
)

var rulesetMembers = map[string]memberType{
	"name": text, "description": text, "kind": text, "phase": text, "rules": anArray,
}

// Create creates a ruleset: an entry point of a phase that has none, or a custom
// ruleset of an account.
func (r Rulesets) Create(ctx context.Context, body []byte) (*edge.Ruleset, error) {
	call := "POST " + edge.RulesetsPath(r.scope)
	h, err := r.open(ctx, call)
	if err != nil {
		return nil, err
	}
	defer r.p.mu.Unlock()
	members, err := object(body)
	if err != nil {
		return nil, invalid(call, []edge.ErrorDetail{notAnObject(err)})
	}
	details := append(checkTypes("", members, rulesetMembers), r.p.checks.members("", members, rulesetMembers)...)
	if details = append(details, h.checkNew(members)...); len(details) > 0 {
		return nil, invalid(call, details)
	}
	next := edge.Ruleset{
		Kind: edge.Kind(textMember(members, "kind")), Phase: edge.Phase(textMember(members, "phase")), Name: textMember(members, "name"),
		Description: textMember(members, "description"), Version: "1",
	}
	if next.Kind == h.EntryKind() && h.entryPoint(next.Phase) != nil {
		return nil, entryPointExists(call, next.Kind, next.Phase)
	}
	next.ID = derivedID[edge.RulesetID](edge.RulesetsPath(r.scope), fmt.Sprint("ruleset ", r.p.state.RulesetsMade))
	w := write{r.p, r.p.behaviour, &next, h, r.p.timestamp()}
	next.LastUpdated = w.now
	if details := w.replaceRules(members["rules"]); len(details) > 0 {
		return nil, invalid(call, details)
	}
	if details := r.p.checks.ruleset(next, 0, h); len(details) > 0 {
		return nil, invalid(call, details)
	}
	if r.dry {
		return nil, nil
	}
	r.p.state.RulesetsMade++
	h.put(next)
	answer := r.p.behaviour.answer(next)
	return &answer, nil
}

// checkNew says what a new ruleset must have. An account's are an entry point, of
// kind root, or custom ones; a zone's are its entry points.
func (h holder) checkNew(members map[string]any) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	for _, name := range []string{"kind", "name", "phase"} {
		if blank(members[name]) {
			problems = append(problems, problem(0, "/"+name, "%s is required", name))
		}
	}
	kind, _ := members["kind"].(string)
	if kind != "" && kind != string(h.EntryKind()) && (h.zone != nil || kind != string(edge.KindCustom)) {
		problems = append(problems, problem(0, "/kind", "a ruleset of kind %q cannot be created here", kind))
	}
	return problems
}

// Replace makes the body the definition of a ruleset: its description, and all of its rules.
// What the body leaves out of both stays.
func (r Rulesets) Replace(ctx context.Context, id edge.RulesetID, body []byte) (*edge.Ruleset, error) {
	call := "PUT " + edge.RulesetPath(r.scope, id)
	return r.change(ctx, call, id, func(w write) error { return w.replace(call, body) })
}

// ReplaceEntryPoint replaces the entry point of a phase, and creates it where
// there is none.
func (r Rulesets) ReplaceEntryPoint(ctx context.Context, phase edge.Phase, body []byte) (*edge.Ruleset, error) {
	call := "PUT " + edge.EntryPointPath(r.scope, phase)
	live, err := r.EntryPoint(ctx, phase)
	if err == nil {
		return r.change(ctx, call, live.ID, func(w write) error { return w.replace(call, body) })
	}
	if !errors.Is(err, edge.ErrEntryPointNotFound) {
		return nil, err
	}
	members, err := object(body)
	if err != nil {
		return nil, invalid(call, []edge.ErrorDetail{notAnObject(err)})
	}
	members["kind"], members["phase"] = r.scope.EntryKind(), phase
	if members["name"] == nil {
		members["name"] = "default"
	}
	if body, err = json.Marshal(members); err != nil {
		return nil, err
	}
	return r.Create(ctx, body)
}

// replace is the body of a PUT on its way.
func (w write) replace(call string, body []byte) error {
	members, err := object(body)
	if err != nil {
		return invalid(call, []edge.ErrorDetail{notAnObject(err)})
	}
	details := append(checkTypes("", members, rulesetMembers), w.p.checks.members("", members, rulesetMembers)...)
	for name, live := range map[string]string{"kind": string(w.next.Kind), "phase": string(w.next.Phase)} {
		if said := members[name]; said != nil && said != live {
			details = append(details, problem(0, "/"+name, "the %s of a ruleset cannot be changed", name))
		}
	}
	if members["rules"] != nil {
		details = append(details, w.replaceRules(members["rules"])...)
	}
	if len(details) > 0 {
		return invalid(call, details)
	}
	if name, ok := members["name"].(string); ok {
		w.next.Name = name
	}
	if description, ok := members["description"].(string); ok {
		w.next.Description = description
	}
	return nil
}

// replaceRules makes a list of bodies the rules of the ruleset. One that names a
// live rule by id or ref is that rule; the others are new.
func (w write) replaceRules(value any) []edge.ErrorDetail {
	bodies, _ := value.([]any)
	live := w.next.Rules
	rules := make([]edge.Rule, 0, len(bodies))
	var problems []edge.ErrorDetail
	for i, body := range bodies {
		rule, details := w.successor(live, body, i)
		for _, d := range details {
			d.Source.Pointer = fmt.Sprintf("/rules/%d%s", i, d.Source.Pointer)
			problems = append(problems, d)
		}
		rules = append(rules, rule)
	}
	w.next.Rules = rules
	return problems
}

// successor is the rule that a body in a list of rules is.
func (w write) successor(live []edge.Rule, body any, i int) (edge.Rule, []edge.ErrorDetail) {
	members, ok := body.(map[string]any)
	if !ok {
		return edge.Rule{}, []edge.ErrorDetail{problem(0, "", "a rule must be an object")}
	}
	id, ref := textMember(members, "id"), textMember(members, "ref")
	at := slices.IndexFunc(live, func(r edge.Rule) bool { return id != "" && string(r.ID) == id || id == "" && ref != "" && r.Ref == ref })
	if id != "" && at < 0 && len(live) > 0 {
		return edge.Rule{}, []edge.ErrorDetail{problem(0, "/id", "the ruleset has no rule %q", id)}
	}
	rule, details := w.added(members, strconv.Itoa(i))
	if at < 0 || len(details) > 0 {
		return rule, details
	}
	old := live[at]
	if ref == "" {
		rule.Ref = old.Ref
	}
	if rule.ID = old.ID; sameRule(old, rule) {
		return old, nil
	}
	rule.Version = nextVersion(old.Version)
	return rule, nil
}

// added is a new rule that a body describes. An id in it counts for nothing.
func (w write) added(members map[string]any, salt string) (edge.Rule, []edge.ErrorDetail) {
	members = maps.Clone(members)
	delete(members, "id")
	data, err := json.Marshal(members)
	if err != nil {
		return edge.Rule{}, []edge.ErrorDetail{{Message: err.Error()}}
	}
	w.behaviour.merge, w.behaviour.ignore = false, false // there is nothing to merge with
	rule, details := w.rule(edge.Rule{}, data)
	if len(details) > 0 {
		return rule, details
	}
	rule.ID, rule.Version, rule.LastUpdated = derivedID[edge.RuleID](string(w.next.ID), w.next.Version, "rule "+salt), "1", w.now
	fill(&rule.Ref, string(rule.ID))
	if rule.Enabled == nil {
		rule.Enabled = new(true)
	}
	w.p.checks.complete(&rule)
	return rule, nil
}

// Delete deletes a ruleset with all of its versions.
func (r Rulesets) Delete(ctx context.Context, id edge.RulesetID) error {
	h, _, err := r.openRuleset(ctx, "DELETE "+edge.RulesetPath(r.scope, id), id, true)
	if err != nil {
		return err
	}
	defer r.p.mu.Unlock()
	if !r.dry {
		h.drop(id)
		delete(r.p.state.RulesetVersions, id)
	}
	return nil
}

// AddRule adds a rule at the end of a ruleset, or at the position that the body
// has.
func (r Rulesets) AddRule(ctx context.Context, id edge.RulesetID, body []byte) (*edge.Ruleset, error) {
	call := "POST " + edge.RulesPath(r.scope, id)
	return r.change(ctx, call, id, func(w write) error {
		body, at, details := w.position(body)
		members, err := object(body)
		if err != nil && len(details) == 0 {
			details = []edge.ErrorDetail{notAnObject(err)}
		}
		if len(details) > 0 {
			return invalid(call, details)
		}
		rule, details := w.added(members, "added")
		if len(details) > 0 {
			return invalid(call, details)
		}
		w.next.Rules = append(w.next.Rules, rule)
		return at.move(call, w.next, len(w.next.Rules)-1)
	})
}

// DeleteRule deletes a rule of a ruleset.
func (r Rulesets) DeleteRule(ctx context.Context, id edge.RulesetID, rule edge.RuleID) (*edge.Ruleset, error) {
	call := "DELETE " + edge.RulePath(r.scope, id, rule)
	return r.change(ctx, call, id, func(w write) error {
		before := len(w.next.Rules)
		w.next.Rules = slices.DeleteFunc(w.next.Rules, func(live edge.Rule) bool { return live.ID == rule })
		if len(w.next.Rules) == before {
			return ruleNotFound(call, rule)
		}
		return nil
	})
}

func textMember(members map[string]any, name string) string {
	s, _ := members[name].(string)
	return s
}

func notAnObject(err error) edge.ErrorDetail {
	return edge.ErrorDetail{Message: "the request body is not a JSON object: " + exactjson.Reason(err, "it")}
}
