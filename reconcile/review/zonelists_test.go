package review

import (
	"context"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// zonesOnly is a credential that may read nothing of accounts.
type zonesOnly struct{ edge.Platform }

func (z zonesOnly) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if scope.Level == edge.LevelAccount {
		return nil, &edge.Error{Status: 403}
	}
	return z.Platform.Rulesets(ctx, scope)
}

func (z zonesOnly) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if scope.Level == edge.LevelAccount {
		return edge.Ruleset{}, &edge.Error{Status: 403}
	}
	return z.Platform.Ruleset(ctx, scope, id)
}

// A review plans with the permissions that a plan needs: where the account's list is
// forbidden, that of a zone serves, once for all pull requests of a round.
func TestReviewWithoutTheAccountsList(t *testing.T) {
	f := newFixture(t, 2)
	platform, err := mem.New(mem.Config{Seed: mem.Fleet(2), Profile: mem.Extended})
	if err != nil {
		t.Fatal(err)
	}
	f.Platform = platform
	f.converge("base", zones(2, core())...)
	calls := reconciletest.Record(platform)
	f.Lanes = reconcile.OneLane(reconcile.Lane{Reader: zonesOnly{calls}, Concurrency: 1})
	f.open(1, "p1", zonesBut(2, 1, core("sqli"))...)
	f.round()
	if text := f.forge.comments[1]; !strings.Contains(text, "2 to change") || strings.Contains(text, "orbidden") {
		t.Errorf("comment\n%.3000s", text)
	}
	var lists int
	for _, call := range calls.Calls() {
		if call == "GET "+edge.RulesetsPath(mem.FleetZone(1)) {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("the zone's list is asked for %d times: %v", lists, calls.Calls())
	}
}

// What a zone can deploy is no entry point: the zone is still to be read.
func TestListOfAZoneIsNoReadOfIt(t *testing.T) {
	f := newFixture(t, 1)
	platform, err := mem.New(mem.Config{Seed: mem.Fleet(1), Profile: mem.Extended})
	if err != nil {
		t.Fatal(err)
	}
	since := f.clock.Now()
	reader := keeping{&f.kept, platform, since}
	for range 2 {
		if list, err := reader.Rulesets(t.Context(), mem.FleetZone(1)); err != nil || len(list) == 0 {
			t.Fatalf("%v, %v", list, err)
		}
	}
	if full, err := reader.Ruleset(t.Context(), mem.FleetZone(1), mem.CoreRuleset); err != nil || len(full.Rules) == 0 {
		t.Errorf("%v, %v", full, err)
	}
	if n := f.kept.missing(wanted{State: stateOf("c", zones(1, desired.Deployment{})...)}, since); n != 1 {
		t.Errorf("%d zones are still to be read, want 1", n)
	}
	if len(f.kept.reads) != 2 {
		t.Errorf("%d reads are kept, want 2", len(f.kept.reads))
	}
}
