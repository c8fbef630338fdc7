package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Call names a call of the contract.
type Call string

// The calls, named like the methods of [edge.ExtendedPlatform] and
// [edge.TokenPlatform].
const (
	Rulesets    Call = "Rulesets"
	Ruleset     Call = "Ruleset"
	EntryPoint  Call = "EntryPoint"
	UpdateRule  Call = "UpdateRule"
	CreateToken Call = "CreateToken"

	RulesetVersion   Call = "RulesetVersion"
	CreateEntryPoint Call = "CreateEntryPoint"
	AddRule          Call = "AddRule"
	DeleteRule       Call = "DeleteRule"
	Zones            Call = "Zones"
	Zone             Call = "Zone"
	Accounts         Call = "Accounts"

	UserTokens       Call = "UserTokens"
	UserToken        Call = "UserToken"
	VerifyToken      Call = "VerifyToken"
	PermissionGroups Call = "PermissionGroups"
	UpdateToken      Call = "UpdateToken"
	DeleteToken      Call = "DeleteToken"
	RollToken        Call = "RollToken"
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
	{Rulesets, http.MethodGet, edge.RulesetsPath(anAccount)},
	{Ruleset, http.MethodGet, edge.RulesetPath(anAccount, "{ruleset_id}")},
	{EntryPoint, http.MethodGet, edge.EntryPointPath(aZone, edge.PhaseFirewallManaged)},
	{UpdateRule, http.MethodPatch, edge.RulePath(aZone, "{ruleset_id}", "{rule_id}")},
	{CreateToken, http.MethodPost, edge.TokensPath()},
}

// Extended are the calls of the reference and those that are known beyond it.
// The addresses without an id come first: they look like ids themselves.
var Extended = slices.Concat(Patterns, []Pattern{
	{UserTokens, http.MethodGet, edge.TokensPath()},
	{VerifyToken, http.MethodGet, edge.VerifyTokenPath()},
	{PermissionGroups, http.MethodGet, edge.PermissionGroupsPath("")},
	{UserToken, http.MethodGet, edge.TokensPath() + "/{token_id}"},
	{UpdateToken, http.MethodPut, edge.TokensPath() + "/{token_id}"},
	{DeleteToken, http.MethodDelete, edge.TokensPath() + "/{token_id}"},
	{RollToken, http.MethodPut, edge.TokensPath() + "/{token_id}/value"},
	{Rulesets, http.MethodGet, edge.RulesetsPath(aZone)},
	{CreateEntryPoint, http.MethodPost, edge.RulesetsPath(aZone)},
	{Ruleset, http.MethodGet, edge.RulesetPath(aZone, "{ruleset_id}")},
	{AddRule, http.MethodPost, edge.RulesPath(aZone, "{ruleset_id}")},
	{DeleteRule, http.MethodDelete, edge.RulePath(aZone, "{ruleset_id}", "{rule_id}")},
	{RulesetVersion, http.MethodGet, edge.RulesetPath(anAccount, "{ruleset_id}") + "/versions/{version}"},
	{RulesetVersion, http.MethodGet, edge.RulesetPath(aZone, "{ruleset_id}") + "/versions/{version}"},
	{Zones, http.MethodGet, edge.ZonesPath()},
	{Zone, http.MethodGet, edge.ZonePath("{zone_id}")},
	{Accounts, http.MethodGet, edge.AccountsPath()},
	{EntryPoint, http.MethodGet, edge.EntryPointPath(anAccount, edge.PhaseFirewallManaged)},
	{UpdateRule, http.MethodPatch, edge.RulePath(anAccount, "{ruleset_id}", "{rule_id}")},
	{CreateEntryPoint, http.MethodPost, edge.RulesetsPath(anAccount)},
	{AddRule, http.MethodPost, edge.RulesPath(anAccount, "{ruleset_id}")},
	{DeleteRule, http.MethodDelete, edge.RulePath(anAccount, "{ruleset_id}", "{rule_id}")},
})

var aZone, anAccount = edge.ZoneScope("{zone_id}"), edge.AccountScope("{account_id}")

// String is method and path template, "PATCH /zones/{zone_id}/…".
func (p Pattern) String() string { return p.Method + " " + p.Path }

// Route is a call with the parameters of its path; those the path does not
// have are empty.
type Route struct {
	Call    Call
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
