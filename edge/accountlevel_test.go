package edge

import "testing"

// An account in the place of a zone has addresses of its own, and no id of a zone is taken
// for one.
func TestAccountLevel(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	account := AccountLevel(id)
	if got, ok := account.Account(); !ok || got != id || account.EntryKind() != KindRoot {
		t.Errorf("it is of account %q, %v, of kind %s", got, ok, account.EntryKind())
	}
	if _, ok := ZoneID(id).Account(); ok || ZoneID(id).EntryKind() != KindZone || ValidID(string(account)) {
		t.Error("a zone is taken for an account")
	}
	const rulesets = "/accounts/" + id + "/rulesets"
	for want, got := range map[string]string{
		rulesets: ZoneRulesetsPath(account),
		rulesets + "/phases/http_request_firewall_managed/entrypoint": EntryPointPath(account),
		rulesets + "/e/rules":                  RulesPath(account, "e"),
		rulesets + "/e/rules/r":                RulePath(account, "e", "r"),
		"/zones/" + id + "/rulesets/e/rules/r": RulePath(id, "e", "r"),
	} {
		if got != want {
			t.Errorf("the path is %s, want %s", got, want)
		}
	}
}
