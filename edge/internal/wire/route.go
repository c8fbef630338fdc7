package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Pattern is a call's method and path template, parameters in braces.
type Pattern struct {
	Call   edge.Call
	Method string
	Path   string
}

var aZone, anAccount = edge.ZoneScope("{zone_id}"), edge.AccountScope("{account_id}")

// Patterns are the calls of the reference, "Endpoints". The paths are those
// of package edge with parameters in the place of ids.
var Patterns = slices.Concat(shown(rulesets(anAccount), anAccount.Level), shown(rulesets(aZone), aZone.Level), shown(tokens, edge.LevelCredential))

// Extended are the calls of the reference and those that are known beyond it.
var Extended = slices.Concat(rulesets(anAccount), rulesets(aZone), tokens, []Pattern{
	{edge.CallZones, http.MethodGet, edge.ZonesPath()},
	{edge.CallZone, http.MethodGet, edge.ZonePath("{zone_id}")},
	{edge.CallAccounts, http.MethodGet, edge.AccountsPath()},
})

// tokens are the calls on tokens. The addresses without an id come first: they look like
// ids themselves.
var tokens = []Pattern{
	{edge.CallCreateToken, http.MethodPost, edge.TokensPath()},
	{edge.CallUserTokens, http.MethodGet, edge.TokensPath()},
	{edge.CallVerifyToken, http.MethodGet, edge.VerifyTokenPath()},
	{edge.CallPermissionGroups, http.MethodGet, edge.PermissionGroupsPath("")},
	{edge.CallUserToken, http.MethodGet, edge.TokensPath() + "/{token_id}"},
	{edge.CallUpdateToken, http.MethodPut, edge.TokensPath() + "/{token_id}"},
	{edge.CallDeleteToken, http.MethodDelete, edge.TokensPath() + "/{token_id}"},
	{edge.CallRollToken, http.MethodPut, edge.TokensPath() + "/{token_id}/value"},
}

// rulesets are the calls on the rulesets of a scope.
func rulesets(scope edge.Scope) []Pattern {
	const id, rule = "{ruleset_id}", "{rule_id}"
	return []Pattern{
		{edge.CallRulesets, http.MethodGet, edge.RulesetsPath(scope)},
		{edge.CallCreateEntryPoint, http.MethodPost, edge.RulesetsPath(scope)},
		{edge.CallRuleset, http.MethodGet, edge.RulesetPath(scope, id)},
		{edge.CallRulesetVersion, http.MethodGet, edge.RulesetPath(scope, id) + "/versions/{version}"},
		{edge.CallEntryPoint, http.MethodGet, edge.EntryPointPath(scope, edge.PhaseFirewallManaged)},
		{edge.CallAddRule, http.MethodPost, edge.RulesPath(scope, id)},
		{edge.CallUpdateRule, http.MethodPatch, edge.RulePath(scope, id, rule)},
		{edge.CallDeleteRule, http.MethodDelete, edge.RulePath(scope, id, rule)},
	}
}

// shown are those of some calls that the reference shows.
func shown(all []Pattern, level edge.Level) []Pattern {
	return slices.DeleteFunc(slices.Clone(all), func(p Pattern) bool { return !edge.InReference(p.Call, level) })
}

// String is method and path template, "PATCH /zones/{zone_id}/…".
func (p Pattern) String() string { return p.Method + " " + p.Path }

// Route is a call with the parameters of its path; those the path does not
// have are empty.
type Route struct {
	Call    edge.Call
	Pattern string // method and path template of the call
	Account edge.AccountID
	Zone    edge.ZoneID
	Ruleset edge.RulesetID
	Rule    edge.RuleID
	Token   edge.TokenID
	Version string
	Phase   edge.Phase // of the patterns that a platform has beside the contract's, and so is Record
	Record  string
}

// Scope is that of a zone or an account, by what the path has.
func (r Route) Scope() edge.Scope {
	if r.Zone != "" {
		return edge.ZoneScope(r.Zone)
	}
	return edge.AccountScope(r.Account)
}

// Match finds the call a request is for among those a platform offers, such as
// [Patterns] or [Extended]. The path is relative to the base address,
// without a query. What is no call is an [*edge.Error]: 405 for a known path
// with another method, else 404 with [edge.CodeNoRoute].
func Match(offered []Pattern, method, path string) (Route, error) {
	known := false
	for _, p := range offered {
		params, ok := p.params(path)
		if !ok {
			continue
		}
		known = true
		if p.Method == method {
			return newRoute(p, params), nil
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

func newRoute(p Pattern, params map[string]string) Route {
	return Route{
		Call:    p.Call,
		Pattern: p.String(),
		Account: edge.AccountID(params["account_id"]),
		Zone:    edge.ZoneID(params["zone_id"]),
		Ruleset: edge.RulesetID(params["ruleset_id"]),
		Rule:    edge.RuleID(params["rule_id"]),
		Token:   edge.TokenID(unescaped(params["token_id"])),
		Version: unescaped(params["version"]),
		Phase:   edge.Phase(params["phase"]),
		Record:  params["record_id"],
	}
}

// unescaped is a segment of a path as it was meant. Ids of tokens have no form
// of their own, so they may need it.
func unescaped(segment string) string {
	if plain, err := url.PathUnescape(segment); err == nil {
		return plain
	}
	return segment
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
