package mem_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestSeedsSurviveJSON(t *testing.T) {
	for name, seed := range map[string]mem.Seed{"default": mem.DefaultSeed(), "fleet": mem.Fleet(3)} {
		var out bytes.Buffer
		must.Do(t, mem.WriteSeed(&out, seed))
		text := out.String()
		got, err := mem.ReadSeed(&out)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var again bytes.Buffer
		must.Do(t, mem.WriteSeed(&again, got))
		if diff := cmp.Diff(text, again.String()); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// A platform made from the state of another is equal to it.
func TestStateIsASeed(t *testing.T) {
	p := newPlatform(t)
	if _, err := update(t, p, mem.BlogZone, `{"action":"execute","action_parameters":{"id":"c04e0000000000000000000000000001"},"expression":"true","note":1}`); err != nil {
		t.Fatal(err)
	}
	must.Do(t, p.SetEntryPoint(mem.NewZone, edge.Ruleset{}))
	q := start(t, mem.Config{Seed: p.State()})
	if diff := cmp.Diff(p.State(), q.State()); diff != "" {
		t.Error(diff)
	}
}

func TestFleet(t *testing.T) {
	p := start(t, mem.Config{Seed: mem.Fleet(12)})
	state := p.State()
	last := state.Zones[11]
	if len(state.Zones) != 12 || last.Name != "zone-00012.example" || edge.ZoneScope(last.ID) != mem.FleetZone(12) {
		t.Errorf("%d zones, the last %s %s", len(state.Zones), last.Name, last.ID)
	}
	if entry := entryPoint(t, p, mem.FleetZone(1)); !entry.Rules[0].Executes(mem.CoreRuleset) {
		t.Errorf("%+v", entry)
	}
}

func TestSeedFillsInWhatThePlatformWrites(t *testing.T) {
	seed, err := mem.ReadSeed(strings.NewReader(`{"accounts":[{"id":"0123456789abcdef0123456789abcdef","rulesets":[]}],
		"zones":[{"id":"00000000000000000000000000000a01","account_id":"0123456789abcdef0123456789abcdef","name":"a.example",
			"entrypoint":{"id":"00000000000000000000000000000b01","rules":[{"action":"log","expression":"true"}]}}]}`))
	must.Do(t, err)
	p := start(t, mem.Config{Seed: seed})
	entry := entryPoint(t, p, mem.ShopZone)
	rule := entry.Rules[0]
	if entry.Kind != edge.KindZone || entry.Phase != edge.PhaseFirewallManaged || entry.Version != "1" || entry.LastUpdated == "" ||
		!edge.ValidID(string(rule.ID)) || rule.Version != "1" || rule.LastUpdated != entry.LastUpdated {
		t.Errorf("%+v", entry)
	}
}

func TestSeedMistakesAreExplained(t *testing.T) {
	const account = `"accounts":[{"id":"0123456789abcdef0123456789abcdef","rulesets":[]}]`
	const zone = `{"id":"00000000000000000000000000000a01","account_id":"0123456789abcdef0123456789abcdef"`
	for text, want := range map[string]string{
		"{\n  \"accounts\": [,]}": "line 2 column 16",
		`{"accounts":[`:           "the seed ends too early",
		``:                        "the seed ends too early",
		`{} {}`:                   "more follows",
		`{"acounts":[]}`:          `unknown field "acounts"`,
		`{` + account + `,"zones":[` + zone + `,"entry_point":null}]}`:       `zone "00000000000000000000000000000a01": json: unknown field "entry_point"`,
		`{` + account + `,"zones":[` + zone + `,"entrypoint":{"rules":3}}]}`: `zone "00000000000000000000000000000a01"`,
		`{` + account + `,"zones":[` + zone + `,"entrypoint":{}}]}`:          `ruleset "": the id is not 32`,
		`{` + account + `,"zones":[` + zone + `},` + zone + `}]}`:            "there twice",
		`{"zones":[` + zone + `,"name":"a.example"}]}`:                       "(a.example): account_id",
		`{"accounts":[{"id":"x"}]}`:                                          `account "x": the id is not 32`,
		`{"tokens":[{"value":"v"}]}`:                                         "needs an id",
		`{"tokens":[{"id":"a"},{"id":"b"},{"id":"a"}]}`:                      "token a: it is there twice",
		`{"tokens":[{"id":"a","value":"v"},{"id":"b","value":"v"}]}`:         "token b: another has the same value",
		`{"accounts":[{"id":"0123456789abcdef0123456789abcdef","rulesets":[{"id":"c04e0000000000000000000000000001","version":"new"}]}]}`: `version "new" is not a whole number`,
	} {
		_, err := mem.ReadSeed(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n\t%v\n\twant %q in it", text, err, want)
		}
	}
	if _, err := mem.New(mem.Config{Seed: mem.Seed{Accounts: []mem.SeedAccount{{ID: "x"}}}}); err == nil {
		t.Error("a platform is made from a wrong seed")
	}
}
