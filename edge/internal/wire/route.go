package wire

import (
	"net/http"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Call names a call of the contract.
type Call string

// The calls, named like the methods of [edge.Platform] and [edge.TokenCreator].
const (
	AccountRulesets Call = "AccountRulesets"
	AccountRuleset  Call = "AccountRuleset"
	EntryPoint      Call = "EntryPoint"
	UpdateRule      Call = "UpdateRule"
	CreateToken     Call = "CreateToken"
)

// Pattern is a call's method and path template, parameters in braces.
type Pattern struct {
	Call   Call
	Method string
	Path   string
}

// Patterns are the calls of the reference, "Endpoints". The paths are those
// of package edge with parameters in the place of ids.
var Patterns = []Pattern{
	{AccountRulesets, http.MethodGet, edge.AccountRulesetsPath("{account_id}")},
	{AccountRuleset, http.MethodGet, edge.AccountRulesetPath("{account_id}", "{ruleset_id}")},
	{EntryPoint, http.MethodGet, edge.EntryPointPath("{zone_id}")},
	{UpdateRule, http.MethodPatch, edge.RulePath("{zone_id}", "{ruleset_id}", "{rule_id}")},
	{CreateToken, http.MethodPost, edge.TokensPath()},
}

// Pattern returns the pattern of a call.
func (c Call) Pattern() Pattern {
	for _, p := range Patterns {
		if p.Call == c {
			return p
		}
	}
	return Pattern{}
}

// String is method and path template, "PATCH /zones/{zone_id}/…".
func (p Pattern) String() string { return p.Method + " " + p.Path }

// Route is a call with the parameters of its path; those the path does not
// have are empty.
type Route struct {
	Call    Call
	Account edge.AccountID
	Zone    edge.ZoneID
	Ruleset edge.RulesetID
	Rule    edge.RuleID
}

// Match finds the call a request is for. The path is relative to the base
// address, without a query. What is no call is an [*edge.Error]: 405 for a
// known path with another method, else 404 with [edge.CodeNoRoute].
func Match(method, path string) (Route, error) {
	known := false
	for _, p := range Patterns {
		params, ok := p.params(path)
		if !ok {
			continue
		}
		known = true
		if p.Method == method {
			return newRoute(p.Call, params), nil
		}
	}
	if known {
		return Route{}, noRoute(method, path, http.StatusMethodNotAllowed, "method not allowed")
	}
	return Route{}, noRoute(method, path, http.StatusNotFound, "could not route to this path")
}

func noRoute(method, path string, status int, message string) *edge.Error {
	return &edge.Error{
		Call: method + " " + path, Status: status,
		Details: []edge.ErrorDetail{{Code: edge.CodeNoRoute, Message: message}},
	}
}

func newRoute(call Call, params map[string]string) Route {
	return Route{
		Call:    call,
		Account: edge.AccountID(params["account_id"]),
		Zone:    edge.ZoneID(params["zone_id"]),
		Ruleset: edge.RulesetID(params["ruleset_id"]),
		Rule:    edge.RuleID(params["rule_id"]),
	}
}

// params matches a path against the pattern, segment by segment.
func (p Pattern) params(path string) (map[string]string, bool) {
	want, have := strings.Split(p.Path, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	params := map[string]string{}
	for i, segment := range want {
		name, isParam := strings.CutPrefix(segment, "{")
		switch {
		case isParam && have[i] != "":
			params[strings.TrimSuffix(name, "}")] = have[i]
		case isParam || segment != have[i]:
			return nil, false
		}
	}
	return params, true
}
