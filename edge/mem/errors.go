package mem

import (
	"fmt"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
)

// The errors of this package are [*edge.Error] values as an envelope would
// carry them, so that [errors.Is] gives the same answers in memory and over
// HTTP. Statuses and codes are those seen on the service; the reference leaves
// them open ("Errors", 5 and 6).

// Codes of refusals. The reference has none; those of edge and the first here
// have been seen on the service.
const (
	codePolicyID         = 1001  // a policy was sent with an id on creation
	codeExpression       = 20127 // the expression does not parse
	codeSecondDeployment = 20238 // two rules of a zone execute one ruleset
)

func notFound(call, what, id string) error {
	return &edge.Error{Call: call, Status: http.StatusNotFound, Details: []edge.ErrorDetail{{
		Code: edge.CodeRulesetNotFound, Message: fmt.Sprintf("could not find %s %s", what, id),
	}}}
}

func entryPointNotFound(call string, phase edge.Phase) error {
	return &edge.Error{Call: call, Status: http.StatusNotFound, Details: []edge.ErrorDetail{{
		Code:    edge.CodeEntryPointNotFound,
		Message: fmt.Sprintf("could not find entrypoint ruleset in the %q phase", phase),
	}}}
}

func entryPointExists(call string, phase edge.Phase) error {
	return &edge.Error{Call: call, Status: http.StatusBadRequest, Details: []edge.ErrorDetail{{
		Code: edge.CodeEntryPointExists, Message: fmt.Sprintf("there is an entrypoint ruleset in the %q phase already", phase), Pointer: "/phase",
	}}}
}

// ruleNotFound has no code: on rulesets the service leaves it out at times, and
// a client must live with that.
func ruleNotFound(call string, rule edge.RuleID) error {
	return &edge.Error{Call: call, Status: http.StatusNotFound, Details: []edge.ErrorDetail{{
		Message: fmt.Sprintf("could not find rule %s", rule),
	}}}
}

func invalid(call string, details []edge.ErrorDetail) error {
	return &edge.Error{Call: call, Status: http.StatusBadRequest, Details: details}
}

func tokenNotFound(call string, id edge.TokenID) error {
	return &edge.Error{Call: call, Status: http.StatusNotFound, Details: []edge.ErrorDetail{{
		Message: fmt.Sprintf("could not find token %s", id),
	}}}
}

// notOffered is how a platform answers that has no such address.
func notOffered(call string) error {
	return &edge.Error{Call: call, Status: http.StatusNotFound, Details: []edge.ErrorDetail{{
		Code: edge.CodeNoRoute, Message: "could not route to this path",
	}}}
}

func rejected(call string) error {
	return &edge.Error{Call: call, Status: http.StatusUnauthorized, Details: []edge.ErrorDetail{{
		Code: edge.CodeInvalidToken, Message: "invalid API token",
	}}}
}
