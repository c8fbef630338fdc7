package mem_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

func newPlatform(t testing.TB, quirks ...string) *mem.Platform {
	t.Helper()
	p, err := mem.New(mem.Config{Quirks: quirks})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func entryPoint(t testing.TB, p edge.Reader, zone edge.Scope) edge.Ruleset {
	t.Helper()
	entry, err := p.EntryPoint(t.Context(), zone, edge.PhaseFirewallManaged)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func TestListHasTheCoreRulesetNeitherFirstNorAlone(t *testing.T) {
	list, err := newPlatform(t).Rulesets(t.Context(), edge.AccountScope(mem.Account))
	if err != nil {
		t.Fatal(err)
	}
	var managed, named int
	for _, r := range list {
		if r.Rules != nil {
			t.Errorf("ruleset %s is listed with rules", r.ID)
		}
		if r.Kind == edge.KindManaged && r.Phase == edge.PhaseFirewallManaged {
			managed++
		}
		if r.Name == "Core Ruleset" {
			named++
		}
	}
	if managed < 2 || named < 2 || list[0].ID == mem.CoreRuleset {
		t.Errorf("place, phase or name alone would find the core ruleset: %d managed, %d of the name, first %s", managed, named, list[0].Name)
	}
}

func TestCoreRuleset(t *testing.T) {
	core, err := newPlatform(t).Ruleset(t.Context(), edge.AccountScope(mem.Account), mem.CoreRuleset)
	if err != nil {
		t.Fatal(err)
	}
	last, _ := core.Last()
	if last.ScoreThreshold == nil || *last.ScoreThreshold != 40 || last.Action != edge.ActionBlock || last.Ref != "anomaly-score" {
		t.Errorf("last rule: %+v", last)
	}
	var levels [edge.MaxParanoia + 1]int
	var off int
	for _, rule := range core.Rules {
		if !rule.IsEnabled() {
			off++
		}
		for _, tag := range rule.Categories {
			if level, ok := edge.ParanoiaLevel(tag); ok {
				levels[level]++
			}
		}
	}
	if off != 1 || slices.Contains(levels[1:], 0) || len(core.Rules) != 24 {
		t.Errorf("%d rules, of them off %d, by paranoia level %v", len(core.Rules), off, levels[1:])
	}
}

func TestWhatIsNotThere(t *testing.T) {
	p := newPlatform(t)
	shop := entryPoint(t, p, mem.ShopZone)
	nowhere := "ffffffffffffffffffffffffffffffff"
	body := shop.Rules[0].Update()
	first := func(_ any, err error) error { return err }
	ctx := t.Context()
	for name, test := range map[string]struct {
		err  error
		want error
		code int
	}{
		"account":                  {first(p.Rulesets(ctx, edge.AccountScope(edge.AccountID(nowhere)))), edge.ErrNotFound, edge.CodeRulesetNotFound},
		"ruleset":                  {first(p.Ruleset(ctx, edge.AccountScope(mem.Account), edge.RulesetID(nowhere))), edge.ErrNotFound, edge.CodeRulesetNotFound},
		"account of a ruleset":     {first(p.Ruleset(ctx, edge.AccountScope(edge.AccountID(nowhere)), mem.CoreRuleset)), edge.ErrNotFound, edge.CodeRulesetNotFound},
		"zone":                     {first(p.EntryPoint(ctx, edge.ZoneScope(edge.ZoneID(nowhere)), edge.PhaseFirewallManaged)), edge.ErrNotFound, edge.CodeRulesetNotFound},
		"entry point":              {first(p.EntryPoint(ctx, mem.NewZone, edge.PhaseFirewallManaged)), edge.ErrEntryPointNotFound, edge.CodeEntryPointNotFound},
		"zone of an update":        {first(p.UpdateRule(ctx, edge.ZoneScope(edge.ZoneID(nowhere)), shop.ID, shop.Rules[0].ID, body)), edge.ErrNotFound, edge.CodeRulesetNotFound},
		"ruleset of an update":     {first(p.UpdateRule(ctx, mem.ShopZone, mem.CoreRuleset, shop.Rules[0].ID, body)), edge.ErrNotFound, edge.CodeRulesetNotFound},
		"entry point of an update": {first(p.UpdateRule(ctx, mem.NewZone, shop.ID, shop.Rules[0].ID, body)), edge.ErrNotFound, edge.CodeRulesetNotFound},
		"rule of an update":        {first(p.UpdateRule(ctx, mem.ShopZone, shop.ID, edge.RuleID(nowhere), body)), edge.ErrNotFound, 0},
	} {
		var e *edge.Error
		if !errors.As(test.err, &e) || !errors.Is(test.err, test.want) || e.Code() != test.code || e.Status != 404 {
			t.Errorf("%s: %v", name, test.err)
		}
		if test.want == edge.ErrNotFound && errors.Is(test.err, edge.ErrEntryPointNotFound) {
			t.Errorf("%s: %v reads as nothing deployed", name, test.err)
		}
	}
	if diff := cmp.Diff(newPlatform(t).State(), p.State()); diff != "" {
		t.Errorf("a failed call changed the state:\n%s", diff)
	}
}

func TestCancelledCallDoesNothing(t *testing.T) {
	p := newPlatform(t)
	shop := entryPoint(t, p, mem.ShopZone)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.UpdateRule(ctx, mem.ShopZone, shop.ID, shop.Rules[0].ID, shop.Rules[0].Update()); !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
	if got := entryPoint(t, p, mem.ShopZone); got.Version != shop.Version {
		t.Errorf("version %s became %s", shop.Version, got.Version)
	}
	_, listErr := p.Rulesets(ctx, edge.AccountScope(mem.Account))
	_, getErr := p.Ruleset(ctx, edge.AccountScope(mem.Account), mem.CoreRuleset)
	_, entryErr := p.EntryPoint(ctx, mem.ShopZone, edge.PhaseFirewallManaged)
	for _, err := range []error{listErr, getErr, entryErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
	}
}

func TestAnswersAreCopies(t *testing.T) {
	p := newPlatform(t)
	before := p.State()
	entry := entryPoint(t, p, mem.BlogZone)
	*entry.Rules[0].Enabled = false
	entry.Rules[0].ActionParameters.Overrides.Rules[0].ID = "changed"
	copy(entry.Rules[0].Extra["logging"], "changed")
	core, err := p.Ruleset(t.Context(), edge.AccountScope(mem.Account), mem.CoreRuleset)
	if err != nil {
		t.Fatal(err)
	}
	core.Rules[0].Categories[0] = "changed"
	state := p.State()
	state.Zones[0].EntryPoint.Rules[0].Expression = "changed"
	state.Tokens[0].Value = "changed"
	if diff := cmp.Diff(before, p.State()); diff != "" {
		t.Errorf("a caller reached into the state:\n%s", diff)
	}
}
