package sim_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

func startVendor(t *testing.T, quirks ...string) *sim.Running {
	t.Helper()
	return start(t, sim.Config{Profile: mem.Vendor, Vendor: "acme", Quirks: quirks, Calendar: calendar(t), Now: stopped("2027-01-01")})
}

// credential is the value of a seeded token.
func credential(t *testing.T, r *sim.Running, name string) edge.Secret {
	t.Helper()
	for _, token := range r.Platform.Tokens() {
		if token.Name == name {
			return edge.NewSecret(token.Value)
		}
	}
	t.Fatalf("there is no token %s", name)
	return edge.Secret{}
}

var zoneRulesets = "/zones/" + mem.NewZone.String() + "/rulesets"

const customRules = `{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rules":[{"action":"log","expression":"true"}]}`

func TestVendorStatuses(t *testing.T) {
	r := startVendor(t)
	admin := credential(t, r, "administrator")
	made := as(t, r, admin, "POST", zoneRulesets, customRules)
	id := result[edge.Ruleset](t, made).ID
	one := zoneRulesets + "/" + string(id)
	for _, test := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"PUT", "/zones/" + mem.ShopZone.String(), `{}`, 501, "not implemented by this simulator"},
		{"GET", "/zones/" + mem.ShopZone.String() + "/settings", "", 501, ""},
		{"GET", "/nothing", "", 501, ""},
		{"GET", "/zones/" + mem.ShopZone.String() + "/rate_limits", "", 404, "7003"}, // gone by the calendar
		{"POST", zoneRulesets + "?dry_run=yes", customRules, 400, "dry_run"},
		{"POST", zoneRulesets + "?dry_run=true", customRules, 400, "20217"},
		{"DELETE", one + "?dry_run=true", "", 204, ""},
		{"GET", one, "", 200, `"kind":"zone"`},
		{"GET", zoneRulesets + "?per_page=51", "", 400, "per_page"},
		{"GET", zoneRulesets + "?per_page=50", "", 200, ""},
		{"GET", "/zones?per_page=4", "", 400, "per_page"},
		{"GET", "/zones?per_page=51", "", 400, "per_page"},
		{"GET", "/zones?order=size", "", 400, "order"},
		{"GET", "/zones?match=some", "", 400, "match"},
		{"GET", "/accounts/" + nowhere, "", 404, "10001"},
		{"GET", "/accounts/" + nowhere + "/tokens", "", 404, "10001"},
		{"GET", zoneRulesets + "/phases/ddos_l7/entrypoint", "", 404, "10003"},
		{"PATCH", one + "/rules/" + nowhere, `{"action":"log","expression":"true"}`, 404, `"errors":[{"message":"could not find rule`},
		{"DELETE", one, "", 204, ""},
		{"DELETE", one, "", 404, "10001"},
	} {
		got := as(t, r, admin, test.method, test.path, test.body)
		if got.status != test.status || !strings.Contains(got.body, test.text) || test.status == 204 && got.body != "" {
			t.Errorf("%s %s: %d %s, want %d %s", test.method, test.path, got.status, got.body, test.status, test.text)
		}
	}
}

// A dry run answers without a result and changes nothing, not even an id.
func TestDryRunHasNoResult(t *testing.T) {
	r := startVendor(t)
	admin := credential(t, r, "administrator")
	before, err := json.Marshal(r.Platform.State())
	must.Do(t, err)
	for _, call := range [][3]string{
		{"POST", zoneRulesets, customRules},
		{"PUT", "/zones/" + mem.ShopZone.String() + "/rulesets/phases/http_request_firewall_managed/entrypoint", `{"rules":[]}`},
		{"PATCH", rulePath(t, r, mem.ShopZone), anUpdate},
		{"DELETE", rulePath(t, r, mem.ShopZone), ""},
	} {
		as(t, r, admin, call[0], call[1]+"?dry_run=true", call[2]).want(t, 200, `{"result":null,"success":true,"errors":[],"messages":[]}`)
	}
	after, err := json.Marshal(r.Platform.State())
	if err != nil || string(before) != string(after) {
		t.Errorf("the state changed: %v", err)
	}
}

// A platform that does not know dry_run would write; the documented one refuses.
func TestDocumentedRefusesADryRun(t *testing.T) {
	r := start(t, sim.Config{})
	if got := call(t, r, "PATCH", rulePath(t, r, mem.ShopZone)+"?dry_run=true", anUpdate); got.status != 501 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if version := shopVersion(t, r); version != "1" {
		t.Errorf("version %s", version)
	}
}

func TestVendorZones(t *testing.T) {
	r := startVendor(t)
	for query, want := range map[string]string{
		"":                                   "shop blog new staging free",
		"?name=shop.example":                 "shop",
		"?name=SHOP.example":                 "shop",
		"?name=contains:s":                   "shop staging",
		"?name=starts_with:st":               "staging",
		"?name=ends_with:g.example":          "blog staging",
		"?name=not_equal:shop.example":       "blog new staging free",
		"?name=near:shop":                    "",
		"?account.id=" + string(mem.Staging): "staging free",
		"?account.name=Production":           "shop blog new",
		"?account.name=Production&name=staging.example":           "",
		"?account.name=Production&name=staging.example&match=any": "shop blog new staging",
		"?status=pending":                    "",
		"?order=name":                        "blog free new shop staging",
		"?order=name&direction=desc":         "staging shop new free blog",
		"?per_page=5&page=2":                 "",
		"?order=account.name&per_page=5":     "shop blog new staging free",
		"?name=contains:.example&per_page=5": "shop blog new staging free",
	} {
		var names []string
		for _, z := range result[[]edge.Zone](t, as(t, r, r.RulesetsToken, "GET", "/zones"+query, "")) {
			names = append(names, strings.TrimSuffix(z.Name, ".example"))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

// Each credential sees and does what its permissions say.
func TestVendorCredentials(t *testing.T) {
	r := startVendor(t)
	for name, want := range map[string]struct {
		zones, accounts        int
		rulesets, write, token int
	}{
		"rulesets":      {5, 2, 200, 200, 403},
		"tokens":        {0, 0, 403, 403, 200},
		"staging":       {2, 1, 403, 403, 403},
		"zone-only":     {5, 0, 403, 200, 403},
		"reader":        {5, 2, 200, 403, 403},
		"administrator": {5, 2, 200, 200, 200},
	} {
		secret := credential(t, r, name)
		zones := result[[]edge.Zone](t, as(t, r, secret, "GET", "/zones", ""))
		accounts := result[[]edge.Account](t, as(t, r, secret, "GET", "/accounts", ""))
		rulesets := as(t, r, secret, "GET", edge.RulesetsPath(edge.AccountScope(mem.Account)), "").status
		write := as(t, r, secret, "PATCH", rulePath(t, r, mem.ShopZone), anUpdate).status
		token := as(t, r, secret, "GET", edge.TokensPath(), "").status
		if len(zones) != want.zones || len(accounts) != want.accounts || rulesets != want.rulesets || write != want.write || token != want.token {
			t.Errorf("%s: %d zones, %d accounts, statuses %d %d %d; want %+v", name, len(zones), len(accounts), rulesets, write, token, want)
		}
	}
}

// The secret of a token that an account owns is in no transcript either.
func TestAccountTokensAreConcealed(t *testing.T) {
	r := startVendor(t)
	path := edge.AccountTokensPath(mem.Staging)
	body := `{"name":"x","value":"hunter2","policies":[{"effect":"allow","resources":{"com.acme.api.account.` + string(mem.Staging) +
		`":"*"},"permission_groups":[{"id":"9a0f0000000000000000000000000003"}]}]}`
	got := as(t, r, r.TokensToken, "POST", path, body)
	if got.status != 200 || !strings.Contains(got.body, `"value":"sim-token-`) || !strings.Contains(got.body, "com.acme.api.account."+string(mem.Staging)) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if transcript := control(t, r, "GET", "/transcript", ""); strings.Contains(transcript.body, "hunter2") || strings.Contains(transcript.body, "sim-token-") {
		t.Errorf("the transcript has a secret: %s", transcript.body)
	}
}

// The vendor answers the spelling that it was sent, each token with its own.
func TestVendorAnswersTheKeyItWasSent(t *testing.T) {
	r := startVendor(t)
	with := func(key string) string {
		return token(`,"condition":{"`+key+`":{"in":["::1/128"]}}`, policy("allow", mem.RulesGroup, "com.acme.api.account.zone.*"))
	}
	spelt := func(got reply, want ...string) {
		t.Helper()
		if got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
		for _, key := range []string{"request_ip", "request.ip"} {
			if n := strings.Count(got.body, `"condition":{"`+key+`":{"in":["::1/128"]}}`); n > 0 != slices.Contains(want, key) || n > 1 {
				t.Errorf("%s is %d times in %s, want %q", key, n, got.body, want)
			}
		}
	}
	spelt(as(t, r, r.TokensToken, "POST", edge.TokensPath(), with("request.ip")), "request.ip")
	made := as(t, r, r.TokensToken, "POST", edge.TokensPath(), with("request_ip"))
	spelt(made, "request_ip")
	path := edge.OwnedTokenPath("", result[edge.Token](t, made).ID)
	spelt(as(t, r, r.TokensToken, "GET", path, ""), "request_ip")
	spelt(as(t, r, r.TokensToken, "GET", edge.TokensPath(), ""), "request_ip", "request.ip")
	spelt(as(t, r, r.TokensToken, "PUT", path, with("request.ip")), "request.ip")
	spelt(as(t, r, r.TokensToken, "GET", path, ""), "request.ip")
}
