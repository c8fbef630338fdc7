package zone

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// zonesOnly is a credential that may read nothing of accounts. The first zone can deploy
// nothing.
type zonesOnly struct {
	edge.Reader
	lists  []edge.Scope // that were asked for
	hidden bool         // no list is shown
}

func (z *zonesOnly) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if scope.Level == edge.LevelAccount {
		return nil, &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}}
	}
	z.lists = append(z.lists, scope)
	list, err := z.Reader.Rulesets(ctx, scope)
	if scope == mem.FleetZone(1) {
		list = slices.DeleteFunc(list, func(r edge.Ruleset) bool { return r.Kind == edge.KindManaged })
	}
	if z.hidden {
		return nil, &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}}
	}
	return list, err
}

func (z *zonesOnly) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if scope.Level == edge.LevelAccount {
		return edge.Ruleset{}, &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}}
	}
	return z.Reader.Ruleset(ctx, scope, id)
}

// Where the account's rulesets may not be listed, those of a zone serve: of another one
// where the first cannot deploy what is declared; or a ruleset that is declared by its id.
func TestRulesetsByWayOfZones(t *testing.T) {
	platform, err := mem.New(mem.Config{Seed: mem.Fleet(3), Profile: mem.Extended})
	must.Do(t, err)
	account := func(ref desired.RulesetRef, zones ...int) desired.Account {
		ref.Key = "core"
		a := desired.Account{Key: "prod", ID: mem.Account, Rulesets: []desired.RulesetRef{ref}}
		for _, i := range zones {
			a.Zones = append(a.Zones, desired.Zone{Scope: mem.FleetZone(i), Deployments: []desired.Deployment{{Ruleset: "core"}}})
		}
		return a
	}
	byName, byID := desired.RulesetRef{Name: "Core Ruleset"}, desired.RulesetRef{ID: mem.CoreRuleset}
	reader := &zonesOnly{Reader: platform}
	accounts := NewAccounts(reader, time.Now)
	since := time.Now()
	for _, c := range []struct {
		of    desired.Account
		found bool
		lists []edge.Scope
	}{
		{account(byName, 1), false, []edge.Scope{mem.FleetZone(1)}},
		{account(byName, 2), true, []edge.Scope{mem.FleetZone(2)}}, // only for a zone that misses something
		{account(byName, 3), true, nil},
	} {
		live, _, err := accounts.Live(t.Context(), c.of, since)
		if err != nil || (len(live.Managed) == 1) != c.found || !slices.Equal(reader.lists, c.lists) {
			t.Errorf("zone %s: %v, %d rulesets, asked %v", c.of.Zones[0].Scope, err, len(live.Managed), reader.lists)
		}
		for _, m := range live.Managed {
			if m.Err != nil || len(m.Value.Rules) == 0 {
				t.Errorf("the ruleset is %+v", m)
			}
		}
		reader.lists = nil
	}
	live, _, err := NewAccounts(reader, time.Now).Live(t.Context(), account(byName, 1, 2, 3), since)
	if err != nil || len(live.Managed) != 1 || len(reader.lists) != 2 {
		t.Errorf("all at once: %v, %+v, asked %v", err, live, reader.lists)
	}
	reader.hidden = true
	if live, _, _ := NewAccounts(reader, time.Now).Live(t.Context(), account(byName, 2), since); !errors.Is(live.Listed.Err, edge.ErrForbidden) {
		t.Errorf("without any list: %+v", live)
	}
	if live, _, _ := NewAccounts(reader, time.Now).Live(t.Context(), account(byID, 2), since); live.Listed.Err != nil || len(live.Managed) != 1 {
		t.Errorf("by its id: %+v", live)
	}
}
