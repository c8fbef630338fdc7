package mem

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/tier"
)

// limits are those of the plan of a zone in a phase. An account, and a zone of which the seed says
// no plan, have none.
func (h holder) limits(phase edge.Phase) (*tier.Limits, bool) {
	if h.zone == nil {
		return nil, false
	}
	return tier.Of(h.zone.Plan, string(phase))
}

// entitled holds a rule to the plan of its zone.
func entitled(members map[string]any, phase edge.Phase, h holder) (problems []edge.ErrorDetail) {
	limits, known := h.limits(phase)
	if !known {
		return nil
	}
	lacks := slices.Concat(limits.Rule(members), limits.Expression(textMember(members, "expression"), false))
	if limit, is := members["ratelimit"].(map[string]any); is {
		lacks = append(lacks, limits.Expression(textMember(limit, "counting_expression"), true)...)
	}
	for _, lack := range lacks {
		problems = append(problems, problem(edge.CodeNotEntitled, "/"+strings.ReplaceAll(lack.Member, ".", "/"), "%s", lack.Says))
	}
	return problems
}

// room sees that a write does not leave a phase with more rules than the plan of the zone has.
// Where there were more before, fewer may be left.
func room(before int, next edge.Ruleset, h holder) []edge.ErrorDetail {
	limits, known := h.limits(next.Phase)
	if !known || len(next.Rules) <= before || limits.Room(len(next.Rules)) {
		return nil
	}
	return []edge.ErrorDetail{problem(codeMostRules, "/rules", "%s", limits.Full(len(next.Rules)))}
}

// contentTypes are those of the response of a rule that blocks.
var contentTypes = []string{"application/json", "text/html", "text/plain", "text/xml"}

// longestResponse is how long the content of such a response may be, in bytes.
var longestResponse = map[edge.Phase]int{edge.PhaseFirewallCustom: 2 << 10, edge.PhaseRateLimit: 30 << 10}

var responseMembers = map[string]memberType{"status_code": integer, "content_type": text, "content": text}

// response checks what a rule answers that blocks: all of it, or nothing.
func response(at string, value any, phase edge.Phase) (problems []edge.ErrorDetail) {
	if value == nil {
		return nil
	}
	members, is := value.(map[string]any)
	if !is {
		return []edge.ErrorDetail{problem(0, at, "response must be an object")}
	}
	problems = append(unknownMembers(at, members, responseMembers), checkTypes(at, members, responseMembers)...)
	for _, name := range sortedKeys(responseMembers) {
		if members[name] == nil {
			problems = append(problems, problem(0, at+"/"+name, "%s is required", name))
		}
	}
	if code, is := whole(members["status_code"]); is && (code < 400 || code > 499) {
		problems = append(problems, problem(0, at+"/status_code", "status_code must be from 400 to 499"))
	}
	if kind, is := members["content_type"].(string); is && !slices.Contains(contentTypes, kind) {
		problems = append(problems, problem(0, at+"/content_type", "content_type must be one of %s", strings.Join(contentTypes, ", ")))
	}
	if content, most := textMember(members, "content"), longestResponse[phase]; most > 0 && len(content) > most {
		problems = append(problems, problem(0, at+"/content", "the content has %d bytes; the limit is %d", len(content), most))
	}
	return problems
}

// ref refuses an empty ref: one that is not said is the id of the rule.
func ref(members map[string]any) []edge.ErrorDetail {
	if said, is := members["ref"].(string); is && strings.TrimSpace(said) == "" {
		return []edge.ErrorDetail{problem(0, "/ref", "ref must not be empty")}
	}
	return nil
}
