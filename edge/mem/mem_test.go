package mem_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// tester is a test, or one of many cases of a law.
type tester interface {
	must.T
	Context() context.Context
}

func start(t tester, config mem.Config) *mem.Platform {
	t.Helper()
	p, err := mem.New(config)
	must.Do(t, err)
	return p
}

func newPlatform(t tester, quirks ...string) *mem.Platform {
	t.Helper()
	return start(t, mem.Config{Quirks: quirks})
}

func entryPoint(t tester, p edge.Reader, zone edge.Scope) edge.Ruleset {
	t.Helper()
	entry, err := p.EntryPoint(t.Context(), zone, edge.PhaseFirewallManaged)
	must.Do(t, err)
	return entry
}

func coreRuleset(t tester, p edge.Reader) edge.Ruleset {
	t.Helper()
	core, err := p.Ruleset(t.Context(), edge.AccountScope(mem.Account), mem.CoreRuleset)
	must.Do(t, err)
	return core
}

func TestListHasTheCoreRulesetNeitherFirstNorAlone(t *testing.T) {
	list, err := newPlatform(t).Rulesets(t.Context(), edge.AccountScope(mem.Account))
	must.Do(t, err)
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
	must.Do(t, err)
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

func TestAnswersAreCopies(t *testing.T) {
	p := newPlatform(t)
	before := p.State()
	entry := entryPoint(t, p, mem.BlogZone)
	*entry.Rules[0].Enabled = false
	entry.Rules[0].ActionParameters.Overrides.Rules[0].ID = "changed"
	copy(entry.Rules[0].Extra["logging"], "changed")
	core := coreRuleset(t, p)
	core.Rules[0].Categories[0] = "changed"
	state := p.State()
	state.Zones[0].EntryPoint.Rules[0].Expression = "changed"
	state.Tokens[0].Value = "changed"
	if diff := cmp.Diff(before, p.State()); diff != "" {
		t.Errorf("a caller reached into the state:\n%s", diff)
	}
}
