package daemon

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// everyRequest is each call of the contract, as it is sent.
var everyRequest = map[string]string{
	"AccountRulesets":  "GET " + edge.RulesetsPath(edge.AccountScope("0123456789abcdef0123456789abcdef")) + "?cursor=x",
	"AccountRuleset":   "GET " + edge.RulesetPath(edge.AccountScope("0123456789abcdef0123456789abcdef"), "1123456789abcdef0123456789abcdef"),
	"EntryPoint":       "GET " + edge.EntryPointPath(edge.ZoneScope("2123456789abcdef0123456789abcdef"), edge.PhaseFirewallManaged),
	"UpdateRule":       "PATCH " + edge.RulePath(edge.ZoneScope("2123456789abcdef0123456789abcdef"), "3123456789abcdef0123456789abcdef", "4123456789abcdef0123456789abcdef"),
	"CreateToken":      "POST " + edge.TokensPath(),
	"UserTokens":       "GET " + edge.TokensPath() + "?page=1&per_page=50",
	"UserToken":        "GET " + edge.TokenPath("5123456789abcdef0123456789abcdef"),
	"UpdateToken":      "PUT " + edge.TokenPath("5123456789abcdef0123456789abcdef"),
	"DeleteToken":      "DELETE " + edge.TokenPath("5123456789abcdef0123456789abcdef"),
	"RollToken":        "PUT " + edge.TokenValuePath("5123456789abcdef0123456789abcdef"),
	"VerifyToken":      "GET " + edge.VerifyTokenPath(),
	"PermissionGroups": "GET " + edge.PermissionGroupsPath(""),
}

// Nothing that Seawall itself can send is on the schedule, on any day.
func TestOwnRequestsAreNotDeprecated(t *testing.T) {
	calendar, err := schema.Calendar()
	if err != nil {
		t.Fatal(err)
	}
	matcher, err := deprecation.NewMatcher(calendar)
	if err != nil {
		t.Fatal(err)
	}
	for _, contract := range []reflect.Type{reflect.TypeFor[edge.Platform](), reflect.TypeFor[edge.TokenPlatform]()} {
		for method := range contract.Methods() {
			request := everyRequest[method.Name]
			verb, path, known := strings.Cut(request, " ")
			if !known {
				t.Errorf("%s is a call of the contract and not in this table", method.Name)
				continue
			}
			for _, day := range []time.Time{time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)} {
				if notices := matcher.Match(deprecation.Request{Method: verb, URL: path}, day); len(notices) > 0 {
					t.Errorf("%s: %+v", request, notices)
				}
			}
		}
	}
}
