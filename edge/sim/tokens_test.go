package sim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

// policy allows or denies a permission group on one resource.
func policy(effect edge.Effect, group, resource string) string {
	return fmt.Sprintf(`{"effect":%q,"resources":{%q:"*"},"permission_groups":[{"id":%q}]}`, effect, resource, group)
}

func token(more string, policies ...string) string {
	return `{"name":"ci"` + more + `,"policies":[` + strings.Join(policies, ",") + `]}`
}

var zonesToken = token("", policy("allow", mem.RulesGroup, edge.ResourceAllZones))

// as makes a request with a token of one's own.
func as(t testing.TB, r *sim.Running, secret edge.Secret, method, path, body string) reply {
	t.Helper()
	headers := []string{"Authorization: Bearer " + secret.Reveal()}
	if body != "" {
		headers = append(headers, "Content-Type: application/json")
	}
	got, err := send(t, method, r.BaseURL+path, body, headers...)
	must.Do(t, err)
	return got
}

// create creates a token and returns its secret.
func create(t testing.TB, r *sim.Running, body string) edge.Secret {
	t.Helper()
	got := as(t, r, r.TokensToken, "POST", edge.TokensPath(), body)
	value := result[struct{ ID, Value string }](t, got)
	if value.ID == "" || value.Value == "" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return edge.NewSecret(value.Value)
}

func TestCreatedTokenOnTheWire(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	r := start(t, sim.Config{Now: func() time.Time { return at }})
	got := as(t, r, r.TokensToken, "POST", edge.TokensPath(), zonesToken)
	stored := r.Platform.Tokens()[2]
	var policies []edge.Policy
	must.Do(t, json.Unmarshal(stored.Policies, &policies))
	got.want(t, 200, `{"result":{"id":"`+stored.ID+`","name":"ci","policies":[{"id":"`+policies[0].ID+`","effect":"allow",`+
		`"resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"`+mem.RulesGroup+`","name":"Zone WAF Write",`+
		`"scopes":["com.vendor.api.account.zone"]}]}],"status":"active","issued_on":"2026-05-01T00:00:00Z",`+
		`"modified_on":"2026-05-01T00:00:00Z","value":"`+stored.Value+`"},"success":true,"errors":[],"messages":[]}`)
	if tokens := control(t, r, "GET", "/tokens", ""); !strings.Contains(tokens.body, stored.Value) {
		t.Errorf("tokens: %s", tokens.body)
	}
	for _, path := range []string{"/state", "/transcript"} {
		if got := control(t, r, "GET", path, ""); strings.Contains(got.body, stored.Value) {
			t.Errorf("%s has the secret: %s", path, got.body)
		}
	}
}

func TestCreationRefused(t *testing.T) {
	r := start(t, sim.Config{Vendor: "acme"})
	const path = "/policies/0/resources/com.acme.api.account.x"
	as(t, r, r.TokensToken, "POST", edge.TokensPath(), token("", policy("allow", "g", "com.acme.api.account.x"))).want(t, 400,
		`{"result":null,"success":false,"errors":[{"code":10014,"message":"\"com.acme.api.account.x\" is not the key of a resource","source":{"pointer":"`+path+`"}}],"messages":[]}`)
	if got := as(t, r, r.TokensToken, "POST", edge.TokensPath(), zonesToken); got.status != 400 {
		t.Errorf("another vendor's keys: %d %s", got.status, got.body)
	}
	if n := len(r.Platform.Tokens()); n != 2 {
		t.Errorf("%d tokens", n)
	}
}

func TestVendorOnTheWire(t *testing.T) {
	r := start(t, sim.Config{Vendor: "acme"})
	got := as(t, r, r.TokensToken, "POST", edge.TokensPath(), `{"name":"ci","policies":[{"effect":"allow","permission_groups":[{"id":"g"}],"resources":{`+
		`"com.acme.api.account.`+string(mem.Account)+`":{"com.acme.api.account.zone.*":"*"}}}]}`)
	if got.status != 200 || !strings.Contains(got.body, `{"com.acme.api.account.`+string(mem.Account)+`":{"com.acme.api.account.zone.*":"*"}}`) || strings.Contains(got.body, "com.vendor.") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if policies := string(r.Platform.Tokens()[2].Policies); strings.Contains(policies, "acme") || !strings.Contains(policies, `{"com.vendor.api.account.zone.*":"*"}`) {
		t.Errorf("stored %s", policies)
	}
}

// The order of the reference: explicit deny, explicit allow, implicit deny.
func TestPoliciesAreObeyed(t *testing.T) {
	r := start(t, sim.Config{})
	shop, blog := edge.ResourceZone+mem.ShopZone.String(), edge.ResourceZone+mem.BlogZone.String()
	nested := `{"effect":"allow","resources":{"` + edge.ResourceAccount + string(mem.Account) + `":{"` + edge.ResourceAllZones + `":"*"}},"permission_groups":[{"id":"` + mem.RulesGroup + `"}]}`
	for name, test := range map[string]struct {
		policies               []string
		atShop, atBlog, create int
	}{
		"all zones":           {[]string{policy("allow", mem.RulesGroup, edge.ResourceAllZones)}, 200, 200, 403},
		"one zone":            {[]string{policy("allow", mem.RulesGroup, shop)}, 200, 403, 403},
		"zones of an account": {[]string{nested}, 200, 200, 403},
		"all but one":         {[]string{nested, policy("deny", mem.RulesGroup, blog)}, 200, 403, 403},
		"another group":       {[]string{policy("allow", "other", edge.ResourceAllZones)}, 403, 403, 403},
		"the account itself":  {[]string{policy("allow", mem.RulesGroup, edge.ResourceAllAccounts)}, 403, 403, 403},
		"tokens":              {[]string{policy("allow", mem.TokensGroup, edge.ResourceUser+"me")}, 403, 403, 200},
		"both":                {[]string{policy("allow", mem.TokensGroup, edge.ResourceUser+"me"), policy("allow", mem.RulesGroup, shop)}, 200, 403, 200},
	} {
		secret := create(t, r, token("", test.policies...))
		for what, try := range map[string]struct {
			method, path, body string
			want               int
		}{
			"shop":   {"PATCH", rulePath(t, r, mem.ShopZone), anUpdate, test.atShop},
			"blog":   {"PATCH", rulePath(t, r, mem.BlogZone), anUpdate, test.atBlog},
			"create": {"POST", edge.TokensPath(), zonesToken, test.create},
			"read":   {"GET", shopPath, "", 200}, // the seed does not say what reading needs
		} {
			got := as(t, r, secret, try.method, try.path, try.body)
			if got.status != try.want || (got.status == 403) != strings.Contains(got.body, `"code":9109`) {
				t.Errorf("%s, %s: %d %s", name, what, got.status, got.body)
			}
		}
	}
}

// The seed can keep the two credentials apart.
func TestSeededPoliciesAreObeyed(t *testing.T) {
	seed := mem.DefaultSeed()
	seed.User = "me"
	seed.Tokens[0].Policies = json.RawMessage(`[` + policy("allow", mem.RulesGroup, edge.ResourceAllZones) + `]`)
	seed.Tokens[1].Policies = json.RawMessage(`[` + policy("allow", mem.TokensGroup, edge.ResourceUser+"me") + `]`)
	seed.EndpointPermissions = map[string]string{
		"PATCH /zones/{zone}/rulesets/{}/rules/{rule}": mem.RulesGroup, "POST /user/tokens": mem.TokensGroup,
	}
	r := start(t, sim.Config{Seed: seed})
	for secret, want := range map[edge.Secret][2]int{r.RulesetsToken: {200, 403}, r.TokensToken: {403, 200}} {
		update := as(t, r, secret, "PATCH", rulePath(t, r, mem.ShopZone), anUpdate)
		creation := as(t, r, secret, "POST", edge.TokensPath(), zonesToken)
		if update.status != want[0] || creation.status != want[1] {
			t.Errorf("an update %d, a creation %d, want %v", update.status, creation.status, want)
		}
	}
	if n := len(r.Platform.Tokens()); n != 3 {
		t.Errorf("%d tokens", n)
	}
}

func TestWindowIsObeyed(t *testing.T) {
	r := start(t, sim.Config{})
	secret := create(t, r, token(`,"not_before":"2026-01-01T00:00:00Z","expires_on":"2026-02-01T00:00:00Z"`, policy("allow", mem.RulesGroup, edge.ResourceAllZones)))
	for at, want := range map[string]int{
		"2025-12-31T23:59:59Z": 401, "2026-01-01T00:00:00Z": 200, "2026-01-31T23:59:58Z": 200, "2026-02-01T00:00:00Z": 401, "2036-01-01T00:00:00Z": 401,
	} {
		now, err := time.Parse(time.RFC3339, at)
		must.Do(t, err)
		r.SetClock(now)
		if got := as(t, r, secret, "GET", shopPath, ""); got.status != want || (want == 401) != strings.Contains(got.body, `"code":1000`) {
			t.Errorf("%s: %d %s", at, got.status, got.body)
		}
	}
}

func TestStatusIsObeyed(t *testing.T) {
	for status, want := range map[string]int{"": 200, "active": 200, "disabled": 401, "expired": 401, "revoked": 401} {
		seed := mem.DefaultSeed()
		seed.Tokens[0].Status = status
		r := start(t, sim.Config{Seed: seed})
		if got := call(t, r, "GET", shopPath, ""); got.status != want {
			t.Errorf("%q: %d %s", status, got.status, got.body)
		}
	}
}

func TestAddressFilterIsObeyed(t *testing.T) {
	var from netip.Addr
	r := start(t, sim.Config{ClientAddr: func(*http.Request) netip.Addr { return from }})
	secrets := map[string]edge.Secret{}
	for name, filter := range map[string]string{
		"in": `{"in":["192.0.2.0/24","2001:db8::/32"]}`, "not_in": `{"not_in":["192.0.2.128/25"]}`,
		"both": `{"in":["192.0.2.0/24"],"not_in":["192.0.2.128/25"]}`, "nobody": `{"in":[]}`, "all": `{}`,
	} {
		secrets[name] = create(t, r, token(`,"condition":{"request.ip":`+filter+`}`, policy("allow", mem.RulesGroup, edge.ResourceAllZones)))
		if from = (netip.Addr{}); as(t, r, secrets[name], "GET", shopPath, "").status != 403 {
			t.Errorf("%s: an unknown address is let through", name)
		}
	}
	for address, letThrough := range map[string]string{
		"192.0.2.1": "in not_in both all", "192.0.2.200": "in all", "198.51.100.1": "not_in all",
		"2001:db8::1": "in not_in all", "::ffff:192.0.2.1": "in not_in both all", "::1": "not_in all",
	} {
		from = netip.MustParseAddr(address)
		for name, secret := range secrets {
			want := 403
			for through := range strings.SplitSeq(letThrough, " ") {
				if through == name {
					want = 200
				}
			}
			if got := as(t, r, secret, "GET", shopPath, ""); got.status != want || (want == 403) != strings.Contains(got.body, `"code":9109`) {
				t.Errorf("%s from %s: %d %s", name, address, got.status, got.body)
			}
		}
	}
}

// Without a way of one's own, the address is that of the connection.
func TestAddressOfTheConnection(t *testing.T) {
	r := start(t, sim.Config{})
	for filter, want := range map[string]int{`{"in":["127.0.0.1/32"]}`: 200, `{"not_in":["127.0.0.0/8"]}`: 403} {
		secret := create(t, r, token(`,"condition":{"request.ip":`+filter+`}`, policy("allow", mem.RulesGroup, edge.ResourceAllZones)))
		got, err := send(t, "GET", r.BaseURL+shopPath, "", "Authorization: Bearer "+secret.Reveal(), "X-Forwarded-For: 192.0.2.1")
		if err != nil || got.status != want {
			t.Errorf("%s: %d %s %v", filter, got.status, got.body, err)
		}
	}
}

// Each fault befalls creations too: what the client is told and what exists
// afterwards.
func TestQuirksOfCreations(t *testing.T) {
	for quirk, want := range map[string]struct{ status, tokens int }{
		"error-before=1": {500, 0}, "error-after=1": {500, 1}, "cut-after=1": {0, 1}, "truncate=1": {200, 1},
		"html=1": {502, 0}, "throttle=1": {429, 0}, "slow=1ms": {200, 1}, "messages-null": {200, 1}, "reorder": {200, 1},
	} {
		r := quirky(t, quirk)
		got, err := send(t, "POST", r.BaseURL+edge.TokensPath(), zonesToken, "Authorization: Bearer "+r.TokensToken.Reveal(), "Content-Type: application/json")
		if got.status != want.status || (err != nil) != (want.status == 0) {
			t.Errorf("%s: %d %s %v", quirk, got.status, got.body, err)
		}
		if n := len(r.Platform.Tokens()) - 2; n != want.tokens {
			t.Errorf("%s: %d tokens, want %d", quirk, n, want.tokens)
		}
		if whole := json.Valid([]byte(got.body)); quirk == "truncate=1" && whole {
			t.Errorf("%s: the answer is whole: %s", quirk, got.body)
		}
	}
}
