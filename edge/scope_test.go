package edge

import (
	"encoding/json"
	"testing"
)

const anID = "0123456789abcdef0123456789abcdef"

// Zones and accounts have addresses of their own, and a scope without either has none that a
// platform knows.
func TestScopePaths(t *testing.T) {
	zone, account := ZoneScope(anID), AccountScope(anID)
	const rulesets = "/accounts/" + anID + "/rulesets"
	for want, got := range map[string]string{
		rulesets: RulesetsPath(account),
		rulesets + "/phases/http_request_firewall_managed/entrypoint": EntryPointPath(account, PhaseFirewallManaged),
		rulesets + "/e/rules":                    RulesPath(account, "e"),
		rulesets + "/e/rules/r":                  RulePath(account, "e", "r"),
		"/zones/" + anID + "/rulesets/e/rules/r": RulePath(zone, "e", "r"),
	} {
		if got != want {
			t.Errorf("the path is %s, want %s", got, want)
		}
	}
	if account.EntryKind() != KindRoot || zone.EntryKind() != KindZone {
		t.Errorf("the kinds are %s and %s", account.EntryKind(), zone.EntryKind())
	}
}

// A scope is read back from its text as what it was, and nothing is taken for what it is not.
func TestScopeText(t *testing.T) {
	for want, scope := range map[string]Scope{
		anID: ZoneScope(anID), "account:" + anID: AccountScope(anID), "": {}, "?list:" + anID: {"list", anID}, // no known level
	} {
		text, err := json.Marshal(scope)
		if err != nil || string(text) != `"`+want+`"` || scope.IsZero() != (want == "") {
			t.Errorf("%+v is %s, %v", scope, text, err)
		}
		var back Scope
		if err := json.Unmarshal(text, &back); err != nil || back != scope {
			t.Errorf("%s is read as %+v, %v", text, back, err)
		}
		if column := scope.Text(); column != want || back.Scan(column) != nil || back != scope {
			t.Errorf("the column is %q, and read as %+v", column, back)
		}
	}
	for _, scope := range []Scope{{}, {ID: anID}, AccountScope(anID), CredentialScope(anID), {Level: "list", ID: anID}} {
		if id, ok := scope.Zone(); ok {
			t.Errorf("%+v is zone %s", scope, id)
		}
	}
	for _, scope := range []Scope{ZoneScope(""), AccountScope(""), CredentialScope(""), CredentialScope(anID)} {
		if text, err := scope.MarshalText(); err != nil || len(text) > 0 || !scope.IsZero() {
			t.Errorf("%+v has the text %q, %v", scope, text, err)
		}
	}
}

// Scopes are in the order of their texts, as lists of them on record are.
func TestScopeOrder(t *testing.T) {
	zone := func(first string) Scope { return ZoneScope(ZoneID(first + anID[1:])) }
	for _, pair := range [][2]Scope{{zone("0"), zone("a")}, {zone("9"), AccountScope(anID)}, {AccountScope(anID), zone("b")}, {{}, zone("0")}} {
		if pair[0].Compare(pair[1]) >= 0 || pair[1].Compare(pair[0]) <= 0 || pair[0].Compare(pair[0]) != 0 {
			t.Errorf("%s is not before %s", pair[0], pair[1])
		}
	}
}
