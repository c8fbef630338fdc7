package mem

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// What a skip rule can turn off.
var (
	skippablePhases = []string{string(edge.PhaseRateLimit), "http_request_sbfm", string(edge.PhaseFirewallManaged)}
	skippable       = []string{"zoneLockdown", "uaBlock", "bic", "hot", "securityLevel", "rateLimit", "waf"}
	skipMembers     = map[string]memberType{
		"phase": text, "phases": anArray, "products": anArray, "rules": anObject, "ruleset": text, "rulesets": anArray,
	}
	// skipsIn are the parameters that a skip rule of a phase may have. In the phase of managed
	// rules it is an exception; before that phase it may turn the later ones off.
	skipsIn = map[edge.Phase][]string{
		edge.PhaseFirewallManaged: {"rules", "ruleset", "rulesets"},
		edge.PhaseFirewallCustom:  {"phase", "phases", "products", "ruleset"},
		edge.PhaseRateLimit:       {"phase", "phases", "products", "ruleset"},
	}
	// skipsExclude are the parameters of which a skip rule may have one. A whole phase goes
	// with products only.
	skipsExclude = [][2]string{
		{"rules", "ruleset"},
		{"rulesets", "ruleset"},
		{"rulesets", "phases"},
		{"phase", "phases"},
		{"phase", "rules"},
		{"phase", "ruleset"},
		{"phase", "rulesets"},
	}
)

// skip checks the parameters of a skip rule.
func (c checks) skip(parameters map[string]any, of edge.Ruleset, h holder) []edge.ErrorDetail {
	const at = "/action_parameters"
	if said(parameters) == 0 {
		return []edge.ErrorDetail{problem(edge.CodeActionParameters, at, "the action skip requires action parameters")}
	}
	problems := append(unknownMembers(at, parameters, skipMembers), checkTypes(at, parameters, skipMembers)...)
	if takes := skipsIn[of.Phase]; takes != nil {
		for _, name := range sortedKeys(parameters) {
			if _, known := skipMembers[name]; known && !slices.Contains(takes, name) {
				problems = append(problems, problem(0, at+"/"+name, "a skip rule of the phase %s takes no %s", of.Phase, name))
			}
		}
	}
	for _, pair := range skipsExclude {
		if parameters[pair[0]] != nil && parameters[pair[1]] != nil {
			problems = append(problems, problem(0, at+"/"+pair[0], "%s and %s exclude each other", pair[0], pair[1]))
		}
	}
	for _, name := range []string{"phase", "ruleset"} {
		if value, ok := parameters[name].(string); ok && value != "current" {
			problems = append(problems, problem(0, at+"/"+name, "%s must be current", name))
		}
	}
	problems = append(problems, oneOf(at+"/phases", parameters["phases"], skippablePhases)...)
	problems = append(problems, oneOf(at+"/products", parameters["products"], skippable)...)
	return append(problems, skipped(at, parameters, h)...)
}

// skipped checks that the rulesets and rules that are skipped exist. A rule of the map must
// belong to the ruleset under whose id it stands.
func skipped(at string, parameters map[string]any, h holder) []edge.ErrorDetail {
	var ids []string
	for _, r := range h.account.Rulesets {
		ids = append(ids, string(r.ID))
	}
	problems := oneOf(at+"/rulesets", parameters["rulesets"], ids)
	rules, isMap := parameters["rules"].(map[string]any)
	if isMap && len(rules) == 0 {
		return append(problems, problem(0, at+"/rules", "the map must not be empty"))
	}
	for _, id := range sortedKeys(rules) {
		at := at + "/rules/" + pointerEscape.Replace(id)
		i := slices.Index(ids, id)
		if i < 0 {
			problems = append(problems, problem(0, at, "could not find ruleset %q", id))
			continue
		}
		var its []string
		for _, rule := range h.account.Rulesets[i].Rules {
			its = append(its, string(rule.ID))
		}
		if _, isList := rules[id].([]any); !isList {
			problems = append(problems, problem(0, at, "it must be an array"))
		}
		problems = append(problems, oneOf(at, rules[id], its)...)
	}
	return problems
}

// oneOf checks a list that must have one element at least, each of which is one of several. Of
// a value that is no list checkTypes has told.
func oneOf(at string, value any, known []string) (problems []edge.ErrorDetail) {
	list, isList := value.([]any)
	if isList && len(list) == 0 {
		return []edge.ErrorDetail{problem(0, at, "the list must not be empty")}
	}
	for i, element := range list {
		if said, ok := element.(string); !ok || !slices.Contains(known, said) {
			problems = append(problems, problem(0, fmt.Sprintf("%s/%d", at, i), "%q is not known here", fmt.Sprint(element)))
		}
	}
	return problems
}

// logging refuses what only skip rules have.
func (c checks) logging(members map[string]any) []edge.ErrorDetail {
	if members["logging"] == nil || members["action"] == string(edge.ActionSkip) {
		return nil
	}
	return []edge.ErrorDetail{problem(codeLogging, "/logging", "logging options are only allowed in the skip action")}
}

// complete fills in what the service keeps of a rule that did not say it. Every rule has a ref
// there, and every skip rule says whether it is logged.
func (c checks) complete(r *edge.Rule) {
	if !c.vendor() {
		return
	}
	fill(&r.Ref, string(r.ID))
	if _, said := r.Extra["logging"]; r.Action == edge.ActionSkip && !said {
		extra := map[string]json.RawMessage{"logging": json.RawMessage(`{"enabled":true}`)}
		maps.Copy(extra, r.Extra)
		r.Extra = extra
	}
}

// refs sees that no two rules of a ruleset have one ref.
func refs(next edge.Ruleset) (problems []edge.ErrorDetail) {
	seen := map[string]bool{"": false}
	for i, rule := range next.Rules {
		if seen[rule.Ref] {
			problems = append(problems, problem(0, fmt.Sprintf("/rules/%d/ref", i), "another rule has the ref %q", rule.Ref))
		}
		seen[rule.Ref] = rule.Ref != ""
	}
	return problems
}

// enterpriseOnly holds rules of an account's entry point to zones with the Enterprise plan,
// which the service takes only.
func enterpriseOnly(next edge.Ruleset) (problems []edge.ErrorDetail) {
	for i, rule := range next.Rules {
		if next.Kind != edge.KindRoot || rule.Action != edge.ActionExecute && rule.Action != edge.ActionSkip {
			continue
		}
		e, err := expression.Parse(rule.Expression)
		if err == nil && !expression.ForEnterprise(e.Root, rule.Action == edge.ActionSkip) { // else it is refused for that
			problems = append(problems, problem(codeExpression, fmt.Sprintf("/rules/%d/expression", i),
				`the expression must restrict the rule to Enterprise zones: … and cf.zone.plan eq "ENT"`))
		}
	}
	return problems
}
