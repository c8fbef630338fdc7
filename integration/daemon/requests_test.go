package daemon

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

var aZone, anAccount = edge.ZoneScope("2123456789abcdef0123456789abcdef"), edge.AccountScope("0123456789abcdef0123456789abcdef")

// everyWrite is each write of the contract.
var everyWrite = []edge.Write{
	edge.CreateEntryPoint(aZone, edge.PhaseFirewallManaged), edge.AddRule(aZone, "3123456789abcdef0123456789abcdef", edge.Rule{}),
	edge.UpdateRule(aZone, "3123456789abcdef0123456789abcdef", "4123456789abcdef0123456789abcdef", edge.Rule{}),
	edge.DeleteRule(aZone, "3123456789abcdef0123456789abcdef", "4123456789abcdef0123456789abcdef"),
}

// everyRequest is each other call of the contract, as it is sent.
var everyRequest = map[string]string{
	"Rulesets":       "GET " + edge.RulesetsPath(anAccount) + "?cursor=x",
	"Ruleset":        "GET " + edge.RulesetPath(anAccount, "1123456789abcdef0123456789abcdef"),
	"RulesetVersion": "GET " + edge.VersionPath(anAccount, "1123456789abcdef0123456789abcdef", "7"),
	"EntryPoint":     "GET " + edge.EntryPointPath(aZone, edge.PhaseFirewallManaged),
	"Zones":          "GET " + edge.ZonesPath() + "?page=1&per_page=50",
	"Zone":           "GET " + edge.ZonePath("2123456789abcdef0123456789abcdef"),
	"Accounts":       "GET " + edge.AccountsPath() + "?page=1&per_page=50",

	"CreateToken":      "POST " + edge.TokensPath(),
	"UserTokens":       "GET " + edge.TokensPath() + "?page=1&per_page=50",
	"UserToken":        "GET " + edge.OwnedTokenPath("", "5123456789abcdef0123456789abcdef"),
	"UpdateToken":      "PUT " + edge.OwnedTokenPath("", "5123456789abcdef0123456789abcdef"),
	"DeleteToken":      "DELETE " + edge.OwnedTokenPath("", "5123456789abcdef0123456789abcdef"),
	"RollToken":        "PUT " + edge.OwnedTokenPath("", "5123456789abcdef0123456789abcdef") + "/value",
	"VerifyToken":      "GET " + edge.VerifyTokenPath(),
	"PermissionGroups": "GET " + edge.PermissionGroupsPath(""),
}

// Nothing that Seawall itself can send is on the schedule, on any day.
func TestOwnRequestsAreNotDeprecated(t *testing.T) {
	calendar := must.JSON[deprecation.Calendar](t, filepath.Join(harness.Root, "cue", "schema", "calendar.json"))
	matcher, err := deprecation.NewMatcher(calendar)
	must.Do(t, err)
	refuse := func(request string) {
		verb, path, _ := strings.Cut(request, " ")
		for _, day := range []time.Time{time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)} {
			notices := matcher.Match(deprecation.Request{Method: verb, URL: path}, day)
			// What only informs is about members of an answer that Seawall does not read.
			notices = slices.DeleteFunc(notices, func(n deprecation.Notice) bool { return n.Info })
			if len(notices) > 0 {
				t.Errorf("%s: %+v", request, notices)
			}
		}
	}
	for _, write := range everyWrite {
		refuse(write.String())
		refuse(write.String() + "?dry_run=true")
	}
	for _, contract := range []reflect.Type{reflect.TypeFor[edge.Platform](), reflect.TypeFor[edge.Tokens]()} {
		for method := range contract.Methods() {
			request := everyRequest[method.Name]
			switch {
			case slices.Contains([]string{"Offers", "Send", "Try"}, method.Name): // it sends nothing, or one of everyWrite
			case request == "":
				t.Errorf("%s is a call of the contract and not in this table", method.Name)
			default:
				refuse(request)
			}
		}
	}
}
