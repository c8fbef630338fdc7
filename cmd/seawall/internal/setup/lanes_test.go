package setup

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
)

// TestLanes: accounts with the same credential for the same platform share a lane.
func TestLanes(t *testing.T) {
	of := func(env, base string) schema.Account {
		return schema.Account{Rulesets: schema.SecretRef{Env: env}, BaseURL: base, OwnRulesets: true}
	}
	s := Settings{Config: schema.Config{
		Platform: schema.Platform{BaseURL: "https://one"},
		Credentials: schema.Credentials{Rulesets: schema.SecretRef{Env: "TOP"}, Accounts: schema.Accounts{
			"a": of("A", "https://one"), "b": of("A", "https://one"), "c": of("A", "https://two"), "d": of("TOP", "https://one"), "e": {Skip: true},
		}},
	}}
	list, m := s.lanes()
	names := []string{}
	for _, l := range list {
		names = append(names, l.Name)
	}
	if !slices.Equal(names, []string{"default", "a, b", "c"}) || m.Of["d"] != 0 || m.Of["b"] != 1 || m.Of["c"] != 2 || m.Of["e"] != -1 || m.Rest != 0 {
		t.Errorf("lanes %q, of %v, rest %d", names, m.Of, m.Rest)
	}
	if l, ok := s.LaneOf("other"); !ok || l.Path != rulesetsPath {
		t.Errorf("lane %+v", l)
	}
	if _, ok := s.LaneOf("e"); ok {
		t.Error("an account that is left out has a lane")
	}
	for lanes, of := range map[int]Settings{3: s, 1: {Config: schema.Config{Credentials: schema.Credentials{Rulesets: schema.SecretRef{Env: "TOP"}}}}} {
		var line bytes.Buffer
		of.logOf(list[1], slog.New(slog.NewTextHandler(&line, nil))).Warn("the platform throttles this credential")
		if named := strings.Contains(line.String(), "credential="+list[1].Path); named != (lanes > 1) {
			t.Errorf("of %d credentials: %s", lanes, line.String())
		}
	}
	s.setBaseURL("http://127.0.0.1:1")
	if a, c := s.Credentials.Accounts["a"].BaseURL, s.Credentials.Accounts["c"].BaseURL; a != "http://127.0.0.1:1" || c != "https://two" {
		t.Errorf("addresses %s, %s", a, c)
	}
}

// TestObservedAccounts: a mode of an account is an exception from that of the top level.
func TestObservedAccounts(t *testing.T) {
	config := schema.Config{Credentials: schema.Credentials{Accounts: schema.Accounts{"a": {Observing: true}, "b": {}, "c": {Skip: true, Observing: true}}}}
	if got := observed(config); len(got) != 1 || got[0].Account != "a" {
		t.Errorf("observed %+v", got)
	}
	config.Guards.Observing = true
	if got := observed(config); len(got) != 1 || !slices.Equal(got[0].Except, []string{"b"}) || got[0].Account != "" {
		t.Errorf("observed %+v", got)
	}
	var _ []guard.Observe = observed(config)
}

// TestSettingsOfUnknownAccounts: settings without an account have no effect, and that is
// said with the nearest key.
func TestSettingsOfUnknownAccounts(t *testing.T) {
	config := schema.Config{Credentials: schema.Credentials{Rulesets: schema.SecretRef{Env: "TOP"}, Accounts: schema.Accounts{"prd": {}}}}
	state := desired.State{Accounts: []desired.Account{{Key: "prod", Zones: []desired.Zone{{Key: "z"}}}}}
	problems := AccountProblems(Settings{Config: config}, state)
	if len(problems) != 1 || !problems[0].Warning || problems[0].Hint != `did you mean "prod"?` {
		t.Errorf("problems %+v", problems)
	}
}
