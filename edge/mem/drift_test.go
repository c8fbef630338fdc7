package mem_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestPlantedDriftIsANewVersion(t *testing.T) {
	p := newPlatform(t)
	planted := entryPoint(t, p, mem.ShopZone)
	second := edge.Rule{Action: edge.ActionLog, Expression: "false"}
	planted.Version = "77" // only the platform writes versions
	planted.Rules[0].Enabled = new(false)
	planted.Rules = append(planted.Rules, second)
	must.Do(t, p.SetEntryPoint(mem.ShopZone, planted))
	got := entryPoint(t, p, mem.ShopZone)
	if got.Version != "2" || got.Rules[0].Version != "2" || *got.Rules[0].Enabled || got.Rules[1].Version != "1" || !edge.ValidID(string(got.Rules[1].ID)) {
		t.Errorf("%+v", got)
	}
	must.Do(t, p.SetEntryPoint(mem.ShopZone, got))
	again := entryPoint(t, p, mem.ShopZone)
	if diff := cmp.Diff(got.Rules, again.Rules); again.Version != "3" || diff != "" {
		t.Errorf("version %s; rules that are the same were touched:\n%s", again.Version, diff)
	}
	must.Do(t, p.SetEntryPoint(mem.NewZone, edge.Ruleset{Rules: got.Rules}))
	entry := entryPoint(t, p, mem.NewZone)
	if entry.Version != "1" || entry.Kind != edge.KindZone || entry.Phase != edge.PhaseFirewallManaged || !edge.ValidID(string(entry.ID)) {
		t.Errorf("in a zone that had none: %+v", entry)
	}
}

func TestPublishedRulesetIsANewVersion(t *testing.T) {
	p := newPlatform(t)
	core := coreRuleset(t, p)
	core.Rules = core.Rules[1:]
	core.Rules[0].Action = edge.ActionLog
	added := edge.Ruleset{ID: "c04e0000000000000000000000000009", Name: "Bots"}
	for _, r := range []edge.Ruleset{core, added} {
		must.Do(t, p.SetRuleset(mem.Account, r))
	}
	got := coreRuleset(t, p)
	if got.Version != "2" || len(got.Rules) != 23 || got.Rules[0].Version != "2" || got.Rules[1].Version != "1" {
		t.Errorf("version %s, rules %d, their versions %s, %s", got.Version, len(got.Rules), got.Rules[0].Version, got.Rules[1].Version)
	}
	list, err := p.Rulesets(t.Context(), edge.AccountScope(mem.Account))
	must.Do(t, err)
	if last := list[len(list)-1]; len(list) != 4 || last.ID != added.ID || last.Kind != edge.KindManaged || last.Version != "1" {
		t.Errorf("list of %d ends with %+v", len(list), last)
	}
}

func TestPlantingIsRefused(t *testing.T) {
	p := newPlatform(t)
	before := p.State()
	const nowhere = "ffffffffffffffffffffffffffffffff"
	for name, err := range map[string]error{
		"zone":    p.SetEntryPoint(edge.ZoneScope(nowhere), edge.Ruleset{}),
		"removal": p.RemoveEntryPoint(edge.ZoneScope(nowhere)),
		"account": p.SetRuleset(nowhere, edge.Ruleset{}),
	} {
		if !errors.Is(err, edge.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"ruleset id":      p.SetRuleset(mem.Account, edge.Ruleset{ID: "core"}),
		"entry point id":  p.SetEntryPoint(mem.ShopZone, edge.Ruleset{ID: "SHOP"}),
		"rule id":         p.SetEntryPoint(mem.ShopZone, edge.Ruleset{Rules: []edge.Rule{{ID: "first"}}}),
		"rule ids, twice": p.SetEntryPoint(mem.ShopZone, edge.Ruleset{Rules: []edge.Rule{{ID: nowhere}, {ID: nowhere}}}),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if diff := cmp.Diff(before, p.State()); diff != "" {
		t.Errorf("the state changed all the same:\n%s", diff)
	}
}
