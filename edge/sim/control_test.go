package sim_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

func control(t testing.TB, r *sim.Running, method, path, body string) reply {
	t.Helper()
	got, err := send(t, method, r.ControlURL()+path, body)
	must.Do(t, err)
	return got
}

func TestControlPlantsDrift(t *testing.T) {
	r := start(t, sim.Config{})
	planted := result[edge.Ruleset](t, call(t, r, "GET", shopPath, ""))
	planted.Rules[0].Enabled = new(false)
	body, err := json.Marshal(planted)
	must.Do(t, err)
	var told edge.Ruleset
	control(t, r, "PUT", "/zones/"+mem.ShopZone.String()+"/entrypoint", string(body)).decode(t, &told)
	live := result[edge.Ruleset](t, call(t, r, "GET", shopPath, ""))
	if diff := cmp.Diff(told, live); diff != "" {
		t.Errorf("told and live differ:\n%s", diff)
	}
	if live.Version != "2" || live.Rules[0].Version != "2" || *live.Rules[0].Enabled {
		t.Errorf("%+v", live)
	}
	control(t, r, "PUT", "/zones/"+mem.ShopZone.String()+"/entrypoint", "null").want(t, 200, "null\n")
	if got := call(t, r, "GET", shopPath, ""); got.status != 404 || !strings.Contains(got.body, "10003") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestControlPublishesRulesets(t *testing.T) {
	r := start(t, sim.Config{})
	path := "/accounts/" + string(mem.Account) + "/rulesets/" + string(mem.CoreRuleset)
	control(t, r, "PUT", path, `{"name":"Core Ruleset","rules":[{"action":"block","score_threshold":60,"ref":"anomaly-score"}]}`)
	core := result[edge.Ruleset](t, call(t, r, "GET", corePath, ""))
	if last, ok := core.Last(); core.Version != "2" || !ok || *last.ScoreThreshold != 60 || len(core.Rules) != 1 {
		t.Errorf("%+v", core)
	}
}

func TestControlSetsQuirks(t *testing.T) {
	r := start(t, sim.Config{Quirks: []string{"reorder"}})
	control(t, r, "PUT", "/quirks", `["throttle=2","defaults"]`).want(t, 200, `["defaults","throttle=2"]`+"\n")
	wantStatuses(t, statuses(t, r, 2, "GET", shopPath, ""), 200, 429)
	refused := control(t, r, "PUT", "/quirks", `["html=1","trottle=2"]`)
	if refused.status != 400 || !strings.Contains(refused.body, "did you mean throttle=N?") {
		t.Errorf("%d %s", refused.status, refused.body)
	}
	control(t, r, "GET", "/quirks", "").want(t, 200, `["defaults","throttle=2"]`+"\n")
	control(t, r, "PUT", "/quirks", `[]`).want(t, 200, "[]\n")
	wantStatuses(t, statuses(t, r, 2, "GET", shopPath, ""), 200, 200)
}

func TestControlSetsTheClock(t *testing.T) {
	base := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	r := start(t, sim.Config{Now: func() time.Time { return base }})
	control(t, r, "PUT", "/clock", `{"at":"2025-06-15T12:00:00+02:00"}`).want(t, 200, `{"at":"2025-06-15T10:00:00Z"}`+"\n")
	answer := call(t, r, "PATCH", rulePath(t, r, mem.ShopZone), anUpdate)
	if date := answer.header.Get("Date"); date != "Sun, 15 Jun 2025 10:00:00 GMT" {
		t.Errorf("the answer is of %s", date)
	}
	got := result[edge.Ruleset](t, answer)
	if got.LastUpdated != "2025-06-15T10:00:00.000000Z" {
		t.Errorf("last_updated %s", got.LastUpdated)
	}
	if at := r.Transcript()[0].At; at.Format(time.RFC3339) != "2025-06-15T10:00:00Z" {
		t.Errorf("recorded at %s", at)
	}
}

func TestControlTellsTokensApart(t *testing.T) {
	r := start(t, sim.Config{})
	value := r.RulesetsToken.Reveal()
	if state := control(t, r, "GET", "/state", ""); strings.Contains(state.body, value) || !strings.Contains(state.body, mem.ShopZone.String()) {
		t.Errorf("state: %s", state.body)
	}
	if tokens := control(t, r, "GET", "/tokens", ""); !strings.Contains(tokens.body, `"value":"`+value+`"`) {
		t.Errorf("tokens: %s", tokens.body)
	}
	state, err := mem.ReadSeed(strings.NewReader(control(t, r, "GET", "/state", "").body))
	must.Do(t, err)
	if len(state.Zones) != 3 {
		t.Errorf("the state read as a seed has %d zones", len(state.Zones))
	}
}

// The state of a simulator is a seed of another, which accepts the same credentials.
func TestStateIsASeed(t *testing.T) {
	for _, profile := range mem.Profiles() {
		first := start(t, sim.Config{Profile: profile})
		seed, err := mem.ReadSeed(strings.NewReader(control(t, first, "GET", "/state", "").body))
		must.Do(t, err)
		second := start(t, sim.Config{Profile: profile, Seed: seed})
		if first.RulesetsToken != second.RulesetsToken || first.TokensToken != second.TokensToken {
			t.Errorf("%s: the credentials differ", profile)
		}
		if a, b := control(t, first, "GET", "/tokens", "").body, control(t, second, "GET", "/tokens", "").body; a != b {
			t.Errorf("%s: tokens\n%s\nwant\n%s", profile, b, a)
		}
	}
}

func TestControlExplainsMistakes(t *testing.T) {
	r := start(t, sim.Config{})
	before := r.Platform.State()
	account := "/accounts/" + string(mem.Account) + "/rulesets/"
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/", "", 404, "GET /__sim/transcript"},
		{"POST", "/state", "", 404, "GET /__sim/state"},
		{"PUT", "/zones/" + nowhere + "/entrypoint", `{}`, 404, "could not find zone"},
		{"PUT", "/zones/" + nowhere + "/entrypoint", `null`, 404, "could not find zone"},
		{"PUT", "/zones/" + mem.ShopZone.String() + "/entrypoint", `{"rules":3}`, 400, "GET /__sim/state"},
		{"PUT", "/zones/" + mem.ShopZone.String() + "/entrypoint", `{"id":"shop"}`, 400, "32 lower-case"},
		{"PUT", "/accounts/" + nowhere + "/rulesets/" + nowhere, `{}`, 404, "could not find account"},
		{"PUT", account + "core", `{}`, 400, "32 lower-case"},
		{"PUT", account + nowhere, `[]`, 400, "send a ruleset"},
		{"PUT", account + nowhere, `{"id":"` + string(mem.CoreRuleset) + `"}`, 400, "another id than the path"},
		{"PUT", "/quirks", `{"throttle":3}`, 400, "send a list"},
		{"PUT", "/clock", `{"at":"tomorrow"}`, 400, "2025-06-15T00:00:00Z"},
		{"PUT", "/clock", `{}`, 400, "2025-06-15T00:00:00Z"},
	} {
		got := control(t, r, test.method, test.path, test.body)
		var told struct{ Error, Hint string }
		got.decode(t, &told)
		if got.status != test.status || told.Error == "" || told.Hint == "" || !strings.Contains(got.body, test.want) {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, got.status, got.body)
		}
	}
	if diff := cmp.Diff(before, r.Platform.State()); diff != "" {
		t.Errorf("a mistake changed the state:\n%s", diff)
	}
}

func TestControlIsForThisMachine(t *testing.T) {
	for remote, wants := range map[string][2]int{
		"192.0.2.1:1234":        {403, 200},
		"127.0.0.1:1234":        {200, 200},
		"[::1]:1234":            {200, 200},
		"[::ffff:127.0.0.1]:12": {200, 200},
		"nonsense":              {403, 200},
	} {
		for i, allowed := range []bool{false, true} {
			s, err := sim.New(sim.Config{AllowRemoteControl: allowed})
			must.Do(t, err)
			req := httptest.NewRequest("GET", "/__sim/tokens", nil)
			req.RemoteAddr = remote
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, req)
			if w.Code != wants[i] {
				t.Errorf("%s, allowed %v: %d", remote, allowed, w.Code)
			}
		}
	}
}
