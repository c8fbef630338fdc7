package sim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

func startExtended(t testing.TB, config sim.Config) *sim.Running {
	t.Helper()
	config.Profile = mem.Extended
	return start(t, config)
}

// manyTokens is a seed with n tokens in all.
func manyTokens(n int) mem.Seed {
	seed := mem.DefaultSeed()
	for i := len(seed.Tokens); i < n; i++ {
		seed.Tokens = append(seed.Tokens, mem.SeedToken{ID: fmt.Sprintf("%032d", i), Name: fmt.Sprint("token ", i)})
	}
	return seed
}

// A list of 120 tokens is three requests, and exactly these.
func TestTranscriptOfAList(t *testing.T) {
	r := startExtended(t, sim.Config{Seed: manyTokens(120)})
	c, err := client.New(client.Config{BaseURL: r.BaseURL, Token: func() (edge.Secret, error) { return r.TokensToken, nil }})
	must.Do(t, err)
	tokens, err := c.UserTokens(t.Context())
	if err != nil || len(tokens) != 120 {
		t.Fatalf("%d tokens: %v", len(tokens), err)
	}
	for i, token := range tokens[2:] {
		if token.Name != fmt.Sprint("token ", i+2) {
			t.Fatalf("token %d is %q", i+2, token.Name)
		}
	}
	var got []string
	for _, e := range r.Transcript() {
		got = append(got, fmt.Sprint(e.Call(), "?", e.Query, " ", e.Status))
	}
	want := []string{
		"GET /user/tokens?page=1&per_page=50 200", "GET /user/tokens?page=2&per_page=50 200", "GET /user/tokens?page=3&per_page=50 200",
	}
	if !slices.Equal(got, want) {
		t.Errorf("requests %q", got)
	}
}

func TestPagesOfTokens(t *testing.T) {
	r := startExtended(t, sim.Config{Seed: manyTokens(52)})
	for query, want := range map[string]struct {
		info string
		ids  int
	}{
		"":                     {`{"page":1,"per_page":20,"count":20,"total_count":52,"total_pages":3}`, 20},
		"?page=3":              {`{"page":3,"per_page":20,"count":12,"total_count":52,"total_pages":3}`, 12},
		"?per_page=50&page=2":  {`{"page":2,"per_page":50,"count":2,"total_count":52,"total_pages":2}`, 2},
		"?per_page=50&page=3":  {`{"page":3,"per_page":50,"count":0,"total_count":52,"total_pages":2}`, 0},
		"?per_page=5&page=999": {`{"page":999,"per_page":5,"count":0,"total_count":52,"total_pages":11}`, 0},
	} {
		got := as(t, r, r.TokensToken, "GET", edge.TokensPath()+query, "")
		if got.status != 200 || !strings.HasSuffix(got.body, `,"result_info":`+want.info+`}`) || strings.Count(got.body, `"status":`) != want.ids {
			t.Errorf("%q: %d %s", query, got.status, got.body)
		}
		if want.ids == 0 && !strings.HasPrefix(got.body, `{"result":[],`) {
			t.Errorf("%q: %s", query, got.body)
		}
	}
	for _, query := range []string{"per_page=4", "per_page=51", "per_page=0", "per_page=x", "page=0", "page=-1", "page=x"} {
		if got := as(t, r, r.TokensToken, "GET", edge.TokensPath()+"?"+query, ""); got.status != 400 {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// The life of a token in requests, to the letter.
func TestTokenOnTheWire(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	r := startExtended(t, sim.Config{Vendor: "acme", Now: func() time.Time { return at }})
	const policies = `[{"effect":"allow","resources":{"com.acme.api.account.zone.*":"*"},"permission_groups":[{"id":"` + mem.TokensGroup + `"}]}]`
	create(t, r, `{"name":"ci","policies":`+policies+`}`)
	stored := func() (mem.SeedToken, edge.Policy) {
		var policies []edge.Policy
		token := r.Platform.Tokens()[2]
		must.Do(t, json.Unmarshal(token.Policies, &policies))
		return token, policies[0]
	}
	token, policy := stored()
	record := func(name, more string) string {
		return `{"id":"` + token.ID + `","name":"` + name + `","policies":[{"effect":"allow","id":"` + policy.ID + `","permission_groups":[{"id":"` + mem.TokensGroup +
			`","meta":{"key":"tokens","value":"write"},"name":"API Tokens Write","scopes":["com.acme.api.user"]}],"resources":{"com.acme.api.account.zone.*":"*"}}]` + more
	}
	sorted := func(s string) string { // members of a translated token are in the order of their names
		var v any
		must.Do(t, json.Unmarshal([]byte(s), &v))
		data, _ := json.Marshal(v)
		return string(data)
	}
	path := edge.OwnedTokenPath("", edge.TokenID(token.ID))
	const times = `,"issued_on":"2026-05-01T00:00:00Z","modified_on":"2026-05-01T00:00:00Z"`
	as(t, r, r.TokensToken, "GET", path, "").want(t, 200,
		`{"result":`+sorted(record("ci", `,"status":"active"`+times+`}`))+`,"success":true,"errors":[],"messages":[]}`)

	at = at.Add(time.Hour)
	was := policy.ID
	got := as(t, r, r.TokensToken, "PUT", path, `{"id":"other","name":"cd","status":"disabled","issued_on":"1999-01-01T00:00:00Z","condition":{"request_ip":{"in":["::1/128"]}},"policies":`+policies+`}`)
	if token, policy = stored(); policy.ID == was || token.Name != "cd" || token.Status != "disabled" {
		t.Errorf("stored %+v, a policy %s", token, policy.ID)
	}
	got.want(t, 200, `{"result":`+sorted(record("cd", `,"condition":{"request.ip":{"in":["::1/128"]}},"status":"disabled",`+
		`"issued_on":"2026-05-01T00:00:00Z","modified_on":"2026-05-01T01:00:00Z"}`))+`,"success":true,"errors":[],"messages":[]}`)

	old := token.Value
	for _, body := range []string{"", "{}"} {
		rolled := as(t, r, r.TokensToken, "PUT", path+"/value", body)
		token, _ = stored()
		rolled.want(t, 200, `{"result":"`+token.Value+`","success":true,"errors":[],"messages":[]}`)
		if token.Value == old {
			t.Error("the secret is the old one")
		}
		old = token.Value
	}
	as(t, r, r.TokensToken, "GET", edge.VerifyTokenPath(), "").want(t, 200,
		`{"result":{"id":"`+mem.DefaultTokens()[1].ID+`","status":"active"},"success":true,"errors":[],"messages":[]}`)
	as(t, r, r.TokensToken, "DELETE", path, "").want(t, 200, `{"result":{"id":"`+token.ID+`"},"success":true,"errors":[],"messages":[]}`)
	gone := `{"result":null,"success":false,"errors":[{"message":"could not find token ` + token.ID + `"}],"messages":[]}`
	for _, call := range []string{"GET", "DELETE", "PUT"} {
		body := ""
		if call == "PUT" {
			body = `{"name":"x"}`
		}
		as(t, r, r.TokensToken, call, path, body).want(t, 404, gone)
	}
	as(t, r, r.TokensToken, "GET", edge.PermissionGroupsPath(""), "").want(t, 200, `{"result":[`+
		`{"id":"`+mem.RulesGroup+`","name":"Zone WAF Write","scopes":["com.acme.api.account.zone"]},{"id":"`+mem.TokensGroup+`","name":"API Tokens Write","scopes":["com.acme.api.user"]},`+
		`{"id":"`+mem.ZoneLogsGroup+`","name":"Logs Read","scopes":["com.acme.api.account.zone"]},{"id":"`+mem.AccountLogsGroup+`","name":"Logs Read","scopes":["com.acme.api.account"]}]`+
		`,"success":true,"errors":[],"messages":[]}`)
}

var extendedCalls = [][2]string{
	{"GET", "/user/tokens"},
	{"GET", "/user/tokens/verify"},
	{"GET", "/user/tokens/permission_groups"},
	{"GET", "/user/tokens/a"},
	{"PUT", "/user/tokens/a"},
	{"DELETE", "/user/tokens/a"},
	{"PUT", "/user/tokens/a/value"},
}

// A platform that is documented knows none of them.
func TestDocumentedProfileHasNoSuchRoutes(t *testing.T) {
	r := start(t, sim.Config{})
	for _, call := range extendedCalls {
		want := 404
		if call[1] == edge.TokensPath() {
			want = 405 // the path is known, for creations
		}
		if got := as(t, r, r.TokensToken, call[0], call[1], ""); got.status != want || !strings.Contains(got.body, `"code":7003`) {
			t.Errorf("%s %s: %d %s", call[0], call[1], got.status, got.body)
		}
	}
}

// The default seed says what the calls need: the right to create tokens, and to
// verify none.
func TestCallsOnTokensNeedPermission(t *testing.T) {
	r := startExtended(t, sim.Config{})
	rules := create(t, r, zonesToken)
	tokens := create(t, r, token("", policy("allow", mem.TokensGroup, edge.ResourceUser+"me")))
	for _, call := range extendedCalls {
		got := as(t, r, rules, call[0], call[1], "")
		if open := call[1] == edge.VerifyTokenPath(); open != (got.status == 200) || !open && (got.status != 403 || !strings.Contains(got.body, `"code":9109`)) {
			t.Errorf("%s %s: %d %s", call[0], call[1], got.status, got.body)
		}
		if got := as(t, r, tokens, call[0], call[1], ""); got.status == 403 || got.status == 401 {
			t.Errorf("with the permission, %s %s: %d %s", call[0], call[1], got.status, got.body)
		}
	}
}

// No secret is in what a transcript or the state says: not one that was created
// or rolled, nor one that a client sends back.
func TestSecretsStayOutOfTheTranscript(t *testing.T) {
	r := startExtended(t, sim.Config{})
	created := create(t, r, zonesToken)
	path := edge.OwnedTokenPath("", edge.TokenID(r.Platform.Tokens()[2].ID))
	rolled := result[string](t, as(t, r, r.TokensToken, "PUT", path+"/value", "{}"))
	for _, secret := range []string{created.Reveal(), rolled} {
		as(t, r, r.TokensToken, "PUT", path, strings.Replace(zonesToken, "{", `{"value":"`+secret+`",`, 1))
		as(t, r, edge.NewSecret(secret), "GET", edge.VerifyTokenPath(), "")
	}
	said := control(t, r, "GET", "/transcript", "").body + control(t, r, "GET", "/state", "").body
	for _, secret := range []string{created.Reveal(), rolled, r.TokensToken.Reveal()} {
		if secret == "" || strings.Contains(said, secret) {
			t.Errorf("it says %q: %s", secret, said)
		}
	}
	if !strings.Contains(said, `"value":"[redacted]"`) {
		t.Error("nothing was redacted")
	}
}

// What befalls writes befalls these, and what befalls reads: what the client is
// told, and whether it took effect.
func TestQuirksOfTokenCalls(t *testing.T) {
	for quirk, want := range map[string]struct {
		write, roll, read int
		effect            bool
	}{
		"error-before=1": {500, 500, 200, false}, "error-after=1": {500, 500, 200, true}, "cut-after=1": {0, 0, 200, true},
		"truncate=1": {200, 200, 200, true}, "html=1": {502, 502, 502, false}, "throttle=1": {429, 429, 429, false}, "reorder": {200, 200, 200, true},
	} {
		for _, write := range []string{"PUT", "DELETE", "roll"} {
			seed := manyTokens(3)
			seed.Tokens[2].Value = "the-old-secret"
			r := startExtended(t, sim.Config{Seed: seed, Quirks: []string{quirk}})
			path := edge.OwnedTokenPath("", edge.TokenID(seed.Tokens[2].ID))
			method, target, body, status := write, path, "", want.write
			switch write {
			case "PUT":
				body = zonesToken
			case "roll":
				method, target, status = "PUT", path+"/value", want.roll
			}
			before := r.Platform.Tokens()
			headers := []string{"Authorization: Bearer " + r.TokensToken.Reveal(), "Content-Type: application/json"}
			got, err := send(t, method, r.BaseURL+target, body, headers...)
			if got.status != status || (err != nil) != (status == 0) {
				t.Errorf("%s, %s: %d %s %v", quirk, write, got.status, got.body, err)
			}
			after := r.Platform.Tokens()
			if effect := len(before) != len(after) || after[2].Value != before[2].Value || after[2].Name != before[2].Name; effect != want.effect {
				t.Errorf("%s, %s: it took effect: %v", quirk, write, effect)
			}
			if cut := !json.Valid([]byte(got.body)); strings.HasPrefix(quirk, "truncate") && cut != (write == "roll") {
				t.Errorf("%s, %s: %s", quirk, write, got.body)
			}
			list := as(t, r, r.TokensToken, "GET", edge.TokensPath(), "")
			if list.status != want.read || strings.HasPrefix(quirk, "truncate") != (list.status == 200 && !json.Valid([]byte(list.body))) {
				t.Errorf("%s: a list is %d %s", quirk, list.status, list.body)
			}
		}
	}
}

func observeRequestIP(t *testing.T) {
	for quirk, key := range map[string]string{"request-ip": `"request_ip"`, "reorder": `"request.ip"`} {
		r := startExtended(t, sim.Config{Quirks: []string{quirk}})
		created := as(t, r, r.TokensToken, "POST", edge.TokensPath(), token(`,"condition":{"request.ip":{"in":["::1/128"]}}`, policy("allow", mem.RulesGroup, edge.ResourceAllZones)))
		path := edge.OwnedTokenPath("", edge.TokenID(r.Platform.Tokens()[2].ID))
		updated := as(t, r, r.TokensToken, "PUT", path, token(`,"condition":{"request_ip":{"in":["::1/128"]}}`, policy("allow", mem.RulesGroup, edge.ResourceAllZones)))
		for _, got := range []reply{created, updated, as(t, r, r.TokensToken, "GET", path, ""), as(t, r, r.TokensToken, "GET", edge.TokensPath(), "")} {
			if got.status != 200 || !strings.Contains(got.body, `"condition":{`+key+`:{"in":["::1/128"]}}`) {
				t.Errorf("%s: %d %s", quirk, got.status, got.body)
			}
		}
	}
}

func observeQuota(t *testing.T) {
	r := startExtended(t, sim.Config{Quirks: []string{"quota=3"}})
	create(t, r, zonesToken)
	if got := as(t, r, r.TokensToken, "POST", edge.TokensPath(), zonesToken); got.status != 400 || !strings.Contains(got.body, "the user has 3 tokens already") {
		t.Errorf("%d %s", got.status, got.body)
	}
	path := edge.OwnedTokenPath("", edge.TokenID(r.Platform.Tokens()[2].ID))
	if got := as(t, r, r.TokensToken, "PUT", path, zonesToken); got.status != 200 {
		t.Errorf("an update: %d %s", got.status, got.body)
	}
	as(t, r, r.TokensToken, "DELETE", path, "")
	create(t, r, zonesToken)
}

func TestUpdatesNeedABody(t *testing.T) {
	r := startExtended(t, sim.Config{})
	path := edge.OwnedTokenPath("", edge.TokenID(mem.DefaultTokens()[0].ID))
	for _, test := range [][2]string{{path, ""}, {path, "{"}, {path, "null"}, {path + "/value", "[]"}, {path + "/value", "{"}} {
		if got := as(t, r, r.TokensToken, "PUT", test[0], test[1]); got.status != http.StatusBadRequest {
			t.Errorf("%s %q: %d %s", test[0], test[1], got.status, got.body)
		}
	}
}
