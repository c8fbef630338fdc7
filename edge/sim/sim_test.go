package sim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

func start(t testing.TB, config sim.Config) *sim.Running {
	t.Helper()
	running, err := sim.Start(config)
	must.Do(t, err)
	t.Cleanup(func() {
		if err := running.Close(); err != nil {
			t.Error(err)
		}
	})
	return running
}

// reply is an answer that was read to its end, or as far as it went.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

// send makes one request with exactly the given headers, each "Name: value".
func send(t testing.TB, method, url, body string, headers ...string) (reply, error) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, reader)
	must.Do(t, err)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(data), err}, nil
}

// call makes a request as a client does.
func call(t testing.TB, r *sim.Running, method, path, body string) reply {
	t.Helper()
	got, err := try(t, r, method, path, body)
	must.Do(t, err)
	return got
}

func try(t testing.TB, r *sim.Running, method, path, body string) (reply, error) {
	t.Helper()
	headers := []string{"Authorization: Bearer " + r.RulesetsToken.Reveal()}
	if body != "" {
		headers = append(headers, "Content-Type: application/json")
	}
	return send(t, method, r.BaseURL+path, body, headers...)
}

func (got reply) want(t testing.TB, status int, body string) {
	t.Helper()
	if got.status != status || got.body != body {
		t.Errorf("%d %s\nwant %d %s", got.status, got.body, status, body)
	}
}

func (got reply) decode(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(got.body), into); err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
}

// result decodes the result of an envelope.
func result[T any](t testing.TB, got reply) T {
	t.Helper()
	var envelope struct {
		Success bool `json:"success"`
		Result  T    `json:"result"`
	}
	got.decode(t, &envelope)
	if !envelope.Success {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return envelope.Result
}

var (
	shopPath   = edge.EntryPointPath(mem.ShopZone, edge.PhaseFirewallManaged)
	blogPath   = edge.EntryPointPath(mem.BlogZone, edge.PhaseFirewallManaged)
	newPath    = edge.EntryPointPath(mem.NewZone, edge.PhaseFirewallManaged)
	corePath   = edge.RulesetPath(edge.AccountScope(mem.Account), mem.CoreRuleset)
	customPath = edge.RulesetPath(edge.AccountScope(mem.Account), mem.CustomRuleset)
	listPath   = edge.RulesetsPath(edge.AccountScope(mem.Account))
)

// rulePath is the path of the execute rule of a zone.
func rulePath(t testing.TB, r *sim.Running, zone edge.Scope) string {
	t.Helper()
	for _, z := range r.Platform.State().Zones {
		if edge.ZoneScope(z.ID) == zone {
			return edge.RulePath(zone, z.EntryPoint.ID, z.EntryPoint.Rules[0].ID)
		}
	}
	t.Fatalf("no zone %s", zone)
	return ""
}

const anUpdate = `{"action":"execute","expression":"true","action_parameters":{"id":"c04e0000000000000000000000000001",` +
	`"overrides":{"rules":[{"id":"a","enabled":false},{"id":"b","enabled":false}]}}}`

// shopVersion is the version of the shop's entry point, read behind the server.
func shopVersion(t testing.TB, r *sim.Running) string {
	t.Helper()
	entry, err := r.Platform.EntryPoint(t.Context(), mem.ShopZone, edge.PhaseFirewallManaged)
	must.Do(t, err)
	return entry.Version
}

func TestConfigMistakes(t *testing.T) {
	for name, config := range map[string]sim.Config{
		"quirk":     {Quirks: []string{"throtle=3"}},
		"profile":   {Profile: "full"},
		"vendor":    {Vendor: "a.b"},
		"base path": {BasePath: "client"},
		"control":   {BasePath: "/__sim"},
		"page size": {PageSize: -1},
		"wait":      {RetryAfter: -1},
		"seed":      {Seed: mem.Seed{Zones: []mem.SeedZone{{ID: "x"}}}},
	} {
		if _, err := sim.New(config); err == nil {
			t.Errorf("%s: a mistake is taken", name)
		}
	}
}

func TestSeedWithoutTokensGetsSome(t *testing.T) {
	r := start(t, sim.Config{Seed: mem.Seed{Accounts: []mem.SeedAccount{{ID: mem.Account}}}})
	if r.RulesetsToken.IsZero() || r.TokensToken.IsZero() {
		t.Fatal("nobody can sign in")
	}
	call(t, r, "GET", listPath, "").want(t, 200, `{"result":[],"success":true,"errors":[],"messages":[]}`)
}

func TestBasePath(t *testing.T) {
	for path, want := range map[string]string{"/": "", "/api/v9/": "/api/v9", "": "/client/v4"} {
		r := start(t, sim.Config{BasePath: path})
		if !strings.HasSuffix(r.BaseURL, want) || strings.HasSuffix(r.BaseURL, "/") {
			t.Errorf("%q: %s", path, r.BaseURL)
		}
		if got := call(t, r, "GET", shopPath, ""); got.status != 200 {
			t.Errorf("%q: %d %s", path, got.status, got.body)
		}
		if got := r.Transcript()[0].Path; got != shopPath {
			t.Errorf("%q: recorded %s", path, got)
		}
	}
}

func TestGreeting(t *testing.T) {
	r := start(t, sim.Config{Seed: mem.Seed{Tokens: []mem.SeedToken{
		{ID: "1", Name: "lost"}, {ID: "2", Name: "tokens", Value: "b"}, {ID: "3", Name: "else", Value: "c"}, {ID: "4", Name: "rulesets", Value: "a"},
	}}})
	var out bytes.Buffer
	must.Do(t, r.Greeting(fakeAddr("127.0.0.1:8080")).Write(&out))
	want := `{"base_url":"http://127.0.0.1:8080/client/v4","rulesets_token":"a","tokens_token":"b"}` + "\n"
	if out.String() != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	unnamed := start(t, sim.Config{Seed: mem.Seed{Tokens: []mem.SeedToken{{ID: "1", Value: "x"}, {ID: "2", Value: "y"}}}})
	if unnamed.RulesetsToken.Reveal() != "x" || unnamed.TokensToken.Reveal() != "y" {
		t.Error("tokens without names are not first and last")
	}
}

type fakeAddr string

func (a fakeAddr) Network() string { return "tcp" }
func (a fakeAddr) String() string  { return string(a) }
