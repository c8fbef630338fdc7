package mem

import (
	"net/http"

	"github.com/seawall-dev/seawall/edge"
)

// The errors of this package are [*edge.Error] values as an envelope would
// carry them, so that [errors.Is] gives the same answers in memory and over
// HTTP. Statuses and codes are those seen on the service; the reference leaves
// them open ("Errors", 5 and 6).

// Codes of refusals. The reference has none; those of edge and the first two
// here have been seen on the service.
const (
	codePolicyID         = 1001  // a policy was sent with an id on creation
	codeLogging          = 20018 // logging of a rule that does not skip
	codeSkippedProduct   = 20119 // a skip rule names a product that cannot be skipped
	codeSkippedPhase     = 20120 // a skip rule names a phase that cannot be skipped there
	codeExpression       = 20127 // the expression does not parse
	codeCharacteristics  = 20155 // a rate limit does not count by data centre
	codeSecondDeployment = 20238 // two rules of a zone execute one ruleset
	codeMostRules        = 50001 // the plan has not so many rules
)

func refusal(call string, status int, details ...edge.ErrorDetail) error {
	return &edge.Error{Call: call, Status: status, Details: details}
}

func notFound(call, what, id string) error {
	return refusal(call, http.StatusNotFound, problem(edge.CodeRulesetNotFound, "", "could not find %s %s", what, id))
}

func entryPointNotFound(call string, phase edge.Phase) error {
	return refusal(call, http.StatusNotFound, problem(edge.CodeEntryPointNotFound, "", "could not find entrypoint ruleset in the %q phase", phase))
}

func entryPointExists(call string, kind edge.Kind, phase edge.Phase) error {
	return invalid(call, []edge.ErrorDetail{problem(edge.CodeEntryPointExists, "/kind",
		"'%s' is not a valid value for kind because exceeded maximum number of %s rulesets for phase %s", kind, kind, phase)})
}

// ruleNotFound has no code: on rulesets the service leaves it out at times, and
// a client must live with that.
func ruleNotFound(call string, rule edge.RuleID) error {
	return refusal(call, http.StatusNotFound, problem(0, "", "could not find rule %s", rule))
}

func invalid(call string, details []edge.ErrorDetail) error {
	return refusal(call, http.StatusBadRequest, details...)
}

func tokenNotFound(call string, id edge.TokenID) error {
	return refusal(call, http.StatusNotFound, problem(0, "", "could not find token %s", id))
}

// notOffered is how a platform answers that has no such address.
func notOffered(call string) error {
	return refusal(call, http.StatusNotFound, problem(edge.CodeNoRoute, "", "could not route to this path"))
}

func rejected(call string) error {
	return refusal(call, http.StatusUnauthorized, problem(edge.CodeInvalidToken, "", "invalid API token"))
}
