package mem

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// checks are what one profile refuses, beside what every platform refuses. In
// the profile documented overrides have only the actions of the reference. In
// the profile vendor they refuse what the real service has been seen to refuse.
type checks struct{ p *Platform }

func (c checks) vendor() bool { return c.p.profile == Vendor }

// members refuses members that are not known.
func (c checks) members(at string, members map[string]any, known map[string]memberType) []edge.ErrorDetail {
	if !c.vendor() {
		return nil
	}
	return unknownMembers(at, members, known)
}

func unknownMembers(at string, members map[string]any, known map[string]memberType) (problems []edge.ErrorDetail) {
	for _, name := range sortedKeys(members) {
		if _, ok := known[name]; !ok {
			problems = append(problems, problem(0, at+"/"+pointerEscape.Replace(name), "unknown member %q", name))
		}
	}
	return problems
}

var anything = memberType{"anything", func(any) bool { return true }}

// vendorRule are the members of a rule in a request: those of the reference, and
// those that the vendor has beside them.
var vendorRule = union(ruleMembers, "id", "version", "last_updated", "logging", "ratelimit", "exposed_credential_check")

func union(known map[string]memberType, more ...string) map[string]memberType {
	known = maps.Clone(known)
	delete(known, "score_threshold") // of managed rulesets
	for _, name := range more {
		known[name] = anything
	}
	return known
}

func only(names ...string) map[string]memberType { return union(map[string]memberType{}, names...) }

// vendorActions are the actions, with the members of their parameters: none
// where the action takes no parameters, nil where they are not checked.
var vendorActions = map[string]map[string]memberType{
	"execute": only("id", "version", "overrides", "matched_data"),
	"block":   only("response"),
	"log":     only(), "challenge": only(), "js_challenge": only(), "managed_challenge": only(),
	"ddos_dynamic": only(), "force_connection_close": only(),
	"compress_response": nil, "log_custom_field": nil, "redirect": nil, "rewrite": nil, "route": nil, "score": nil,
	"skip": nil, "serve_error": nil, "set_cache_control": nil, "set_cache_settings": nil, "set_cache_tags": nil, "set_config": nil,
}

// phaseActions are those of a phase, and of the rulesets that it executes.
var phaseActions = map[edge.Phase][]string{
	edge.PhaseFirewallCustom: {"block", "challenge", "execute", "js_challenge", "log", "managed_challenge", "skip"},
	edge.PhaseRateLimit:      {"block", "challenge", "execute", "js_challenge", "log", "managed_challenge"},

	edge.PhaseFirewallManaged: {"execute", "skip"}, // of an entry point
}

// overrideActions are those that an override may set (reference, "Rule").
var overrideActions = []string{"block", "managed_challenge", "js_challenge", "log", "challenge"}

var (
	categoryMembers     = only("category", "action", "enabled", "sensitivity_level")
	ruleOverrideMembers = only("id", "action", "enabled", "score_threshold", "sensitivity_level")
)

// entryRule checks what a rule of the entry point for managed rulesets may be: it executes
// a managed ruleset of the account (reference, "Rule"). The service takes exceptions
// there, too, which the reference does not show.
func (c checks) entryRule(members map[string]any, h holder) []edge.ErrorDetail {
	action, executed := textMember(members, "action"), ""
	if parameters, ok := members["action_parameters"].(map[string]any); ok {
		executed = textMember(parameters, "id")
	}
	managed := func(r edge.Ruleset) bool {
		return string(r.ID) == executed && r.Kind == edge.KindManaged && r.Phase == edge.PhaseFirewallManaged
	}
	switch {
	case action == "", action == string(edge.ActionSkip) && c.p.extended:
	case action != string(edge.ActionExecute):
		return []edge.ErrorDetail{problem(0, "/action", "the action %q is not allowed in the phase %s: it must be execute", action, edge.PhaseFirewallManaged)}
	case executed != "" && !slices.ContainsFunc(h.account.Rulesets, managed):
		return []edge.ErrorDetail{problem(0, "/action_parameters/id", "could not find ruleset %q", executed)}
	}
	return nil
}

// rule checks the body of a rule of a ruleset.
func (c checks) rule(members map[string]any, of edge.Ruleset, h holder) []edge.ErrorDetail {
	const at = "/action_parameters"
	parameters, _ := members["action_parameters"].(map[string]any)
	overrides, _ := parameters["overrides"].(map[string]any)
	action := textMember(members, "action")
	problems := c.inPhase(action, members, parameters, of, h)
	if c.p.profile != Extended {
		problems = append(problems, checkActions(at+"/overrides", overrides)...)
	}
	if !c.vendor() {
		return problems
	}
	problems = append(problems, c.members("", members, vendorRule)...)
	problems = append(problems, c.logging(members)...)
	problems = append(problems, ref(members)...)
	problems = append(problems, ratelimit(members, of)...)
	if action == string(edge.ActionBlock) {
		problems = append(problems, response(at+"/response", parameters["response"], of.Phase)...)
	}
	problems = append(problems, entitled(members, of.Phase, h)...)
	takes, known := vendorActions[action]
	switch {
	case action != "" && !known:
		problems = append(problems, problem(0, "/action", "unknown variant for action: %s", action))
	case takes != nil && len(takes) == 0 && len(parameters) > 0:
		problems = append(problems, problem(0, at, "the action %q takes no parameters", action))
	case takes != nil:
		problems = append(problems, c.members(at, parameters, takes)...)
	}
	problems = append(problems, c.overrides(at+"/overrides", overrides)...)
	problems = append(problems, c.expressions(members, of.Phase)...)
	if action == string(edge.ActionExecute) {
		problems = append(problems, c.execution(parameters, overrides, of.Phase, h)...)
	}
	return problems
}

// inPhase checks what the phase of a ruleset permits its rules.
func (c checks) inPhase(action string, members, parameters map[string]any, of edge.Ruleset, h holder) (problems []edge.ErrorDetail) {
	if !c.vendor() && of.Phase == edge.PhaseFirewallManaged && of.Kind != edge.KindCustom {
		problems = c.entryRule(members, h)
	}
	if action != "" && !c.has(of, action, members) {
		problems = append(problems, problem(0, "/action", "the action %q is not allowed in the phase %s", action, of.Phase))
	}
	if c.p.extended && action == string(edge.ActionSkip) {
		problems = append(problems, c.skip(parameters, of, h)...)
	}
	return problems
}

// has reports whether a ruleset may have rules of an action, as far as that is checked. In an
// account a custom rule may add a header where credentials are exposed. What the vendor does not
// know at all is refused for that.
func (c checks) has(of edge.Ruleset, action string, members map[string]any) bool {
	_, known := vendorActions[action]
	exposed := action == "rewrite" && members["exposed_credential_check"] != nil && of.Kind != edge.KindZone && of.Phase == edge.PhaseFirewallCustom
	switch {
	case !c.p.extended || c.vendor() && !known || exposed:
		return true
	case of.Phase == edge.PhaseFirewallCustom, of.Phase == edge.PhaseRateLimit && c.vendor(),
		of.Phase == edge.PhaseFirewallManaged && of.Kind != edge.KindCustom && c.vendor():
		return slices.Contains(phaseActions[of.Phase], action)
	}
	return true
}

// checkActions holds the actions of overrides to the five of the reference.
func checkActions(at string, overrides map[string]any) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	check := func(at string, members map[string]any) {
		action, ok := members["action"].(string)
		if ok && !slices.Contains(overrideActions, action) {
			problems = append(problems, problem(0, at+"/action", "action must be one of %s", strings.Join(overrideActions, ", ")))
		}
	}
	check(at, overrides)
	for _, list := range []string{"categories", "rules"} {
		for i, element := range elements(overrides[list]) {
			check(fmt.Sprintf("%s/%s/%d", at, list, i), element)
		}
	}
	return problems
}

// elements are the objects of a list; another element is an empty one.
func elements(value any) []map[string]any {
	list, _ := value.([]any)
	objects := make([]map[string]any, len(list))
	for i, element := range list {
		objects[i], _ = element.(map[string]any)
	}
	return objects
}

func (c checks) overrides(at string, overrides map[string]any) []edge.ErrorDetail {
	problems := c.members(at, overrides, overridesMembers)
	for list, known := range map[string]map[string]memberType{"categories": categoryMembers, "rules": ruleOverrideMembers} {
		for i, element := range elements(overrides[list]) {
			problems = append(problems, c.members(fmt.Sprintf("%s/%s/%d", at, list, i), element, known)...)
		}
	}
	return problems
}

// execution checks an execute rule against the ruleset that it executes.
func (c checks) execution(parameters, overrides map[string]any, phase edge.Phase, h holder) []edge.ErrorDetail {
	id := textMember(parameters, "id")
	i := slices.IndexFunc(h.account.Rulesets, func(r edge.Ruleset) bool {
		return string(r.ID) == id && r.Kind != edge.KindRoot && r.Phase == phase
	})
	if i < 0 {
		if id == "" {
			return nil // checkRequired reports it
		}
		return []edge.ErrorDetail{problem(0, "/action_parameters/id", "could not find ruleset %q", id)}
	}
	executed := h.account.Rulesets[i]
	if version := textMember(parameters, "version"); version != "" && version != "latest" {
		past := c.p.versions(executed)
		j := slices.IndexFunc(past, func(r edge.Ruleset) bool { return r.Version == version })
		if j < 0 {
			return []edge.ErrorDetail{problem(0, "/action_parameters/version", "ruleset %s has no version %q", id, version)}
		}
		executed = past[j]
	}
	var problems []edge.ErrorDetail
	for i, element := range elements(overrides["rules"]) {
		if element["score_threshold"] == nil {
			continue
		}
		at := fmt.Sprintf("/action_parameters/overrides/rules/%d/score_threshold", i)
		if strings.HasPrefix(fmt.Sprint(element["score_threshold"]), "-") {
			problems = append(problems, problem(0, at, "score_threshold must not be negative"))
		}
		j := slices.IndexFunc(executed.Rules, func(r edge.Rule) bool { return string(r.ID) == element["id"] })
		if j >= 0 && executed.Rules[j].ScoreThreshold == nil {
			problems = append(problems, problem(0, at, "rule %s has no score threshold", element["id"]))
		}
	}
	return problems
}

// PlanFree is the plan of a zone that may not deploy managed rulesets.
const PlanFree = "free"

// ruleset checks a ruleset as it would be after a write, which had so many rules before.
func (c checks) ruleset(next edge.Ruleset, before int, h holder) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	if c.p.extended {
		problems = refs(next)
	}
	if !c.vendor() {
		return problems
	}
	if !slices.Contains(expression.Phases, string(next.Phase)) {
		problems = append(problems, problem(0, "/phase", "unknown phase %q", next.Phase))
	}
	seen := map[edge.RulesetID]bool{}
	for i, rule := range next.Rules {
		if rule.Action != edge.ActionExecute || rule.ActionParameters == nil {
			continue
		}
		id := rule.ActionParameters.ID
		if next.Kind == edge.KindZone && seen[id] {
			problems = append(problems, problem(codeSecondDeployment, fmt.Sprintf("/rules/%d/action_parameters/id", i), "ruleset %s is executed by another rule already", id))
		}
		seen[id] = true
	}
	problems = append(problems, enterpriseOnly(next)...)
	problems = append(problems, room(before, next, h)...)
	if len(seen) > 0 && next.Phase == edge.PhaseFirewallManaged && h.zone != nil && h.zone.Plan == PlanFree {
		problems = append(problems, problem(edge.CodeNotEntitled, "", "not entitled to use the phase %s", next.Phase))
	}
	return problems
}
