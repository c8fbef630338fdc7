package sim

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// told is a route in short: the call and the parameters that the path has.
func told(r route) string {
	return strings.Join(strings.Fields(fmt.Sprint(r.name, " ", r.account, " ", r.zone, " ", r.ruleset, " ", r.rule, " ", r.token, " ", r.version)), " ")
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		method, path, want string
		documented         bool
	}{
		{"GET", edge.RulesetsPath(edge.AccountScope("0123456789abcdef0123456789abcdef")), "Rulesets 0123456789abcdef0123456789abcdef", true},
		{"GET", edge.RulesetPath(edge.AccountScope("a"), "b"), "Ruleset a b", true},
		{"GET", edge.EntryPointPath(edge.ZoneScope("z"), edge.PhaseFirewallManaged), "EntryPoint z", true},
		{"GET", edge.EntryPointPath(edge.AccountScope("a"), edge.PhaseFirewallManaged), "EntryPoint a", false},
		{"GET", edge.EntryPointPath(edge.ZoneScope("z"), "other"), "EntryPoint z", false},
		{"PATCH", edge.RulePath(edge.ZoneScope("z"), "r", "u"), "UpdateRule z r u", true},
		{"POST", edge.TokensPath(), "CreateToken", true},
		{"GET", edge.TokensPath(), "UserTokens", false},
		{"GET", edge.VerifyTokenPath(), "VerifyToken", false},
		{"GET", edge.PermissionGroupsPath(""), "PermissionGroups", false},
		{"GET", edge.OwnedTokenPath("", "a/b"), "UserToken a/b", false},
		{"PUT", edge.OwnedTokenPath("", "a"), "UpdateToken a", false},
		{"DELETE", edge.OwnedTokenPath("", "a"), "DeleteToken a", false},
		{"PUT", edge.OwnedTokenPath("", "a") + "/value", "RollToken a", false},
		{"DELETE", edge.OwnedTokenPath("o", "a"), "DeleteToken o a", false},
	} {
		if got, err := match(extendedCalls, c.method, c.path); err != nil || told(got) != c.want {
			t.Errorf("%s %s: got %q, %v", c.method, c.path, told(got), err)
		}
		got, err := match(documentedCalls, c.method, c.path)
		if c.documented && (err != nil || told(got) != c.want) || !c.documented && (!errors.Is(err, edge.ErrNotOffered) || errors.Is(err, edge.ErrNotFound)) {
			t.Errorf("%s %s, of the reference: got %q, %v", c.method, c.path, told(got), err)
		}
	}
	for _, path := range []string{"", "/", "/zones/", "/accounts//rulesets", "/accounts/a/rulesets/", "/zones/z/rulesets/phases//entrypoint"} {
		if _, err := match(extendedCalls, "GET", path); !errors.Is(err, edge.ErrNotOffered) || errors.Is(err, edge.ErrNotFound) {
			t.Errorf("%q: got %v", path, err)
		}
	}
	for at, status := range map[[2]string]int{
		{"PUT", edge.EntryPointPath(edge.ZoneScope("z"), edge.PhaseFirewallManaged)}: http.StatusMethodNotAllowed,
		{"PATCH", edge.OwnedTokenPath("", "a")}:                                      http.StatusMethodNotAllowed,
		{"GET", "/nothing"}:                                                          http.StatusNotFound,
	} {
		var e *edge.Error
		if _, err := match(extendedCalls, at[0], at[1]); !errors.As(err, &e) || e.Status != status || e.Code() != edge.CodeNoRoute {
			t.Errorf("%v: got %v", at, err)
		}
	}
}

// No address of one call is that of another before it.
func TestCallsAreFound(t *testing.T) {
	for _, c := range slices.Concat(vendorCalls, dnsCalls) {
		path := strings.NewReplacer("{", "", "}", "").Replace(c.path)
		if got, err := match(slices.Concat(vendorCalls, dnsCalls), c.method, path); err != nil || got.path != c.path {
			t.Errorf("%s %s is found as %s: %v", c.method, path, got.path, err)
		}
	}
}
