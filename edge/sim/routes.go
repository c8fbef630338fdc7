package sim

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// call is one that the platform offers: its method and path template, parameters in braces,
// and what answers it. Of the contract it has the name; the others have none.
type call struct {
	name         edge.Call
	method, path string
	answer       answerer
}

// answerer makes the platform do what a request asks.
type answerer func(*Server, request) (result any, info *wire.Info, err error)

var aZone, anAccount = edge.ZoneScope("{zone_id}"), edge.AccountScope("{account_id}")

// documentedCalls are those of the reference, "Endpoints".
var documentedCalls = slices.Concat(
	shown(rulesetCalls(anAccount), anAccount.Level), shown(rulesetCalls(aZone), aZone.Level), shown(tokenCalls(edge.TokensPath()), edge.LevelCredential),
)

// extendedCalls are those of the reference and those that are known beyond it. The paths are
// those of package edge with parameters in the place of ids.
var extendedCalls = slices.Concat(
	rulesetCalls(anAccount), rulesetCalls(aZone), tokenCalls(edge.TokensPath()), tokenCalls(edge.AccountTokensPath("{account_id}")),
	[]call{
		{edge.CallZones, http.MethodGet, edge.ZonesPath(), (*Server).zones},
		{edge.CallZone, http.MethodGet, edge.ZonePath("{zone_id}"), result(func(s *Server, r request) (edge.Zone, error) {
			return s.Platform.Zone(r.Context(), r.route.zone)
		})},
		{edge.CallAccounts, http.MethodGet, edge.AccountsPath(), (*Server).accounts},
	},
)

// vendorCalls are those of the profile vendor.
var vendorCalls = slices.Concat(
	extendedCalls, vendorRulesets(aZone), vendorRulesets(anAccount),
	[]call{
		{"", http.MethodGet, edge.AccountsPath() + "/{account_id}", result((*Server).account)},
		{"", http.MethodGet, userPath, result((*Server).user)},
	},
)

// userPath is the address of the user whose token asks.
const userPath = "/user"

// shown are those of some calls that the reference shows. Of phases it shows one.
func shown(all []call, level edge.Level) []call {
	all = slices.DeleteFunc(all, func(c call) bool { return !edge.InReference(c.name, level) })
	for i := range all {
		all[i].path = strings.Replace(all[i].path, "{phase}", string(edge.PhaseFirewallManaged), 1)
	}
	return all
}

// result answers with a result that has no pages.
func result[T any](do func(*Server, request) (T, error)) answerer {
	return func(s *Server, r request) (any, *wire.Info, error) {
		found, err := do(s, r)
		return found, nil, err
	}
}

// tokenCalls are the calls on the tokens of an owner. The addresses without an id come first:
// they look like ids themselves.
func tokenCalls(base string) []call {
	const one = "/{token_id}"
	return []call{
		{edge.CallCreateToken, http.MethodPost, base, result((*Server).createToken)},
		{edge.CallUserTokens, http.MethodGet, base, (*Server).userTokens},
		{edge.CallVerifyToken, http.MethodGet, base + "/verify", result((*Server).verifyToken)},
		{edge.CallPermissionGroups, http.MethodGet, base + "/permission_groups", result((*Server).permissionGroups)},
		{edge.CallUserToken, http.MethodGet, base + one, result((*Server).userToken)},
		{edge.CallUpdateToken, http.MethodPut, base + one, result((*Server).updateToken)},
		{edge.CallDeleteToken, http.MethodDelete, base + one, result((*Server).deleteToken)},
		{edge.CallRollToken, http.MethodPut, base + one + "/value", result((*Server).rollToken)},
	}
}

// route is a call with the parameters of its path; those the path does not have are empty.
type route struct {
	call
	account edge.AccountID
	zone    edge.ZoneID
	ruleset edge.RulesetID
	rule    edge.RuleID
	token   edge.TokenID
	version string
	phase   edge.Phase
	record  string
}

// scope is that of a zone or an account, by what the path has.
func (r route) scope() edge.Scope {
	if r.zone != "" {
		return edge.ZoneScope(r.zone)
	}
	return edge.AccountScope(r.account)
}

// match finds the call a request is for among those that are offered. The path is relative to
// the base address, without a query. What is no call is an [*edge.Error]: 405 for a known path
// with another method, else 404 with [edge.CodeNoRoute].
func match(offered []call, method, path string) (route, error) {
	known := false
	for _, c := range offered {
		params, ok := c.params(path)
		if !ok {
			continue
		}
		known = true
		if c.method == method {
			return newRoute(c, params), nil
		}
	}
	if known {
		return route{}, failed(http.StatusMethodNotAllowed, edge.CodeNoRoute, "method not allowed")
	}
	return route{}, failed(http.StatusNotFound, edge.CodeNoRoute, "could not route to this path")
}

func newRoute(c call, params map[string]string) route {
	r := route{
		call:    c,
		account: edge.AccountID(params["account_id"]),
		zone:    edge.ZoneID(params["zone_id"]),
		ruleset: edge.RulesetID(params["ruleset_id"]),
		rule:    edge.RuleID(params["rule_id"]),
		token:   edge.TokenID(unescaped(params["token_id"])),
		version: unescaped(params["version"]),
		phase:   edge.Phase(params["phase"]),
		record:  params["record_id"],
	}
	fallback(&r.phase, edge.PhaseFirewallManaged)
	return r
}

// unescaped is a segment of a path as it was meant. Ids of tokens have no form
// of their own, so they may need it.
func unescaped(segment string) string {
	if plain, err := url.PathUnescape(segment); err == nil {
		return plain
	}
	return segment
}

// params matches a path against that of the call, segment by segment.
func (c call) params(path string) (map[string]string, bool) {
	want, have := strings.Split(c.path, "/"), strings.Split(path, "/")
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
