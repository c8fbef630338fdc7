package mem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/tier"
)

// limitMembers are those of the vendor's SDK, and one that the vendor's documents had until 2022:
// rules that have it keep it.
var limitMembers = map[string]memberType{
	"characteristics": anArray, "period": integer, "requests_per_period": integer, "mitigation_timeout": integer,
	"counting_expression": text, "requests_to_origin": boolean, "score_per_period": integer, "score_response_header_name": text,
	"mitigation_expression": text,
}

// ratelimit checks what a rule says of a rate limit: in their phase each rule that acts has one,
// elsewhere none.
func ratelimit(members map[string]any, of edge.Ruleset) []edge.ErrorDetail {
	const at = "/ratelimit"
	action := textMember(members, "action")
	switch limits := of.Phase == edge.PhaseRateLimit; {
	case members["ratelimit"] == nil && limits && action != "" && action != string(edge.ActionExecute):
		return []edge.ErrorDetail{problem(0, at, "a rule of the phase %s requires ratelimit", of.Phase)}
	case members["ratelimit"] == nil:
		return nil
	case !limits || action == string(edge.ActionExecute):
		return []edge.ErrorDetail{problem(0, at, "ratelimit is only allowed in rules of the phase %s that act", edge.PhaseRateLimit)}
	}
	limit, is := members["ratelimit"].(map[string]any)
	if !is {
		return []edge.ErrorDetail{problem(0, at, "ratelimit must be an object")}
	}
	problems := append(unknownMembers(at, limit, limitMembers), checkTypes(at, limit, limitMembers)...)
	problems = append(problems, characteristics(at+"/characteristics", limit["characteristics"])...)
	if n, is := whole(limit["period"]); !is && limit["period"] == nil || is && !slices.Contains(tier.Periods, n) {
		problems = append(problems, problem(0, at+"/period", "period must be a number of seconds among %v", tier.Periods))
	}
	if n, is := whole(limit["mitigation_timeout"]); is && n < 0 {
		problems = append(problems, problem(0, at+"/mitigation_timeout", "mitigation_timeout must not be negative"))
	}
	problems = append(problems, threshold(at, limit)...)
	return append(problems, lists(at, members, limit, of)...)
}

// threshold checks when the action begins: at so many requests, or at a score that the origin
// says in a header of its responses.
func threshold(at string, limit map[string]any) (problems []edge.ErrorDetail) {
	requests, scores := limit["requests_per_period"] != nil, limit["score_per_period"] != nil
	if requests == scores {
		return []edge.ErrorDetail{problem(0, at+"/requests_per_period", "exactly one of requests_per_period and score_per_period is required")}
	}
	for _, name := range []string{"requests_per_period", "score_per_period"} {
		if n, is := whole(limit[name]); is && n < 1 {
			problems = append(problems, problem(0, at+"/"+name, "%s must be 1 or more", name))
		}
	}
	if scores == blank(limit["score_response_header_name"]) {
		problems = append(problems, problem(0, at+"/score_response_header_name", "score_per_period and score_response_header_name go together"))
	}
	return problems
}

// characteristics checks by what requests are counted. Counts are kept in each data centre.
func characteristics(at string, value any) (problems []edge.ErrorDetail) {
	list, is := value.([]any)
	if value != nil && !is {
		return nil
	}
	seen := map[string]bool{}
	for i, one := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		switch name, is := one.(string); {
		case !is || strings.TrimSpace(name) == "":
			problems = append(problems, problem(0, at, "a characteristic must be a text"))
		case seen[name]:
			problems = append(problems, problem(0, at, "the characteristic %s is there twice", name))
		case headerOf().MatchString(name) && name != strings.ToLower(name):
			problems = append(problems, problem(0, at, "the name of a header must be in lower case"))
		default:
			seen[name] = true
		}
	}
	if !seen["cf.colo.id"] { // in the words of the service
		problems = append(problems, problem(codeCharacteristics, at,
			"characteristics field is missing 'cf.colo.id', this is required as ratelimiting counting is processed at colocation level only"))
	}
	if seen["ip.src"] && seen["cf.unique_visitor_id"] {
		problems = append(problems, problem(0, at, "ip.src and cf.unique_visitor_id exclude each other"))
	}
	return problems
}

var headerOf = lazyregexp.New(`^http\.request\.headers\["[^"]*"\]`)

// lists checks what goes with lists of addresses: a count of requests to the origin alone, and
// fields of the response, do not. A rate limit of an account's ruleset takes neither.
func lists(at string, members, limit map[string]any, of edge.Ruleset) (problems []edge.ErrorDetail) {
	origin := limit["requests_to_origin"] == true
	for _, said := range [][2]string{
		{"/expression", textMember(members, "expression")}, {at + "/counting_expression", textMember(limit, "counting_expression")},
	} {
		list, response := asks(said[1])
		switch {
		case of.Kind == edge.KindCustom && (list || response):
			problems = append(problems, problem(0, said[0], "a rate limit of an account takes no lists and no fields of the response"))
		case list && origin:
			problems = append(problems, problem(0, said[0], "an expression with a list goes with requests_to_origin false"))
		case list && response:
			problems = append(problems, problem(0, said[0], "lists and fields of the response exclude each other"))
		}
	}
	return problems
}

// asks reports whether an expression has a list, and whether it has a field of the response.
func asks(text string) (list, response bool) {
	e, err := expression.Parse(text)
	if err != nil || e.Root == nil {
		return false, false
	}
	expression.Walk(e.Root, func(n expression.Node) {
		switch n := n.(type) {
		case *expression.Comparison:
			list = list || slices.ContainsFunc(n.Right, func(l expression.Literal) bool { return l.Kind == expression.List })
		case *expression.Term:
			response = response || !n.Call && strings.HasPrefix(n.Name, "http.response.")
		}
	})
	return list, response
}

// whole is a whole number of a body; of another type checkTypes has told.
func whole(value any) (int, bool) {
	if !isInteger(value) {
		return 0, false
	}
	n, err := strconv.Atoi(fmt.Sprint(value))
	return n, err == nil
}
