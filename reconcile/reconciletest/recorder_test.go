package reconciletest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// bare is a platform that answers every call with nothing.
type bare struct{ edge.NoWriter }

func (bare) Offers(edge.Call, edge.Level) bool { return true }

func (bare) Rulesets(context.Context, edge.Scope) ([]edge.Ruleset, error) { return nil, nil }

func (bare) Ruleset(context.Context, edge.Scope, edge.RulesetID) (edge.Ruleset, error) {
	return edge.Ruleset{}, nil
}

func (bare) EntryPoint(context.Context, edge.Scope, edge.Phase) (edge.Ruleset, error) {
	return edge.Ruleset{}, nil
}

func (bare) RulesetVersion(context.Context, edge.Scope, edge.RulesetID, string) (edge.Ruleset, error) {
	return edge.Ruleset{}, nil
}

func (bare) Try(context.Context, edge.Write) error                       { return nil }
func (bare) Zones(context.Context, edge.ZoneFilter) ([]edge.Zone, error) { return nil, nil }

func (bare) Zone(context.Context, edge.ZoneID) (edge.Zone, error) { return edge.Zone{}, nil }

func (bare) Accounts(context.Context) ([]edge.Account, error) { return nil, nil }

// Every call is in the list, in its turn, also those of the reference. What may
// only read sends no write.
func TestRecorderKnowsEveryCall(t *testing.T) {
	p, ctx := reconciletest.Record(bare{}), t.Context()
	_, create := p.Send(ctx, edge.CreateEntryPoint(edge.ZoneScope("z"), edge.PhaseFirewallManaged))
	_, add := p.Send(ctx, edge.AddRule(edge.ZoneScope("z"), "e", edge.Rule{}))
	_, remove := p.Send(ctx, edge.DeleteRule(edge.ZoneScope("z"), "e", "r"))
	_, update := p.Send(ctx, edge.UpdateRule(edge.ZoneScope("z"), "e", "r", edge.Rule{}))
	for _, err := range []error{create, add, remove, update} {
		if !errors.Is(err, edge.ErrReadOnly) {
			t.Errorf("got %v", err)
		}
	}
	_, e1 := p.Rulesets(ctx, edge.ZoneScope("z"))
	_, e2 := p.Ruleset(ctx, edge.ZoneScope("z"), "m")
	_, e3 := p.RulesetVersion(ctx, edge.AccountScope("a"), "m", "7/8")
	_, e4 := p.RulesetVersion(ctx, edge.ZoneScope("z"), "m", "7")
	e5 := p.Try(ctx, edge.UpdateRule(edge.ZoneScope("z"), "e", "r", edge.Rule{}))
	e6 := p.Try(ctx, edge.CreateEntryPoint(edge.ZoneScope("z"), edge.PhaseFirewallManaged))
	e7 := p.Try(ctx, edge.AddRule(edge.ZoneScope("z"), "e", edge.Rule{}))
	_, e8 := p.Zones(ctx, edge.ZoneFilter{})
	_, e9 := p.Zone(ctx, "z")
	_, e10 := p.Accounts(ctx)
	_, e11 := p.EntryPoint(ctx, edge.ZoneScope("z"), edge.PhaseFirewallManaged)
	must.Do(t, errors.Join(e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11))
	want := []string{
		"POST /zones/z/rulesets", "POST /zones/z/rulesets/e/rules", "DELETE /zones/z/rulesets/e/rules/r", "PATCH /zones/z/rulesets/e/rules/r",
		"GET /zones/z/rulesets", "GET /zones/z/rulesets/m", "GET /accounts/a/rulesets/m/versions/7%2F8", "GET /zones/z/rulesets/m/versions/7",
		"PATCH /zones/z/rulesets/e/rules/r?dry_run=true", "POST /zones/z/rulesets?dry_run=true", "POST /zones/z/rulesets/e/rules?dry_run=true",
		"GET /zones", "GET /zones/z", "GET /accounts", "GET /zones/z/rulesets/phases/http_request_firewall_managed/entrypoint",
	}
	if calls := p.Calls(); !slices.Equal(calls, want) {
		t.Errorf("recorded %q", calls)
	}
}
