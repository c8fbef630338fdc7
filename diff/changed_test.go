package diff_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

func TestChangedZones(t *testing.T) {
	second := edge.ZoneScope("000000000000000000000000000000a2")
	state := func(change func(*desired.Account)) desired.State {
		s := difftest.State(difftest.Deployment(difftest.Paranoia(2), difftest.DisabledRule(0)))
		zone := difftest.State(difftest.Deployment(difftest.Threshold(40, "block"))).Accounts[0].Zones[0]
		zone.Key, zone.Scope = "other.example", second
		s.Accounts[0].Zones = append(s.Accounts[0].Zones, zone)
		change(&s.Accounts[0])
		return s
	}
	before := state(func(*desired.Account) {})
	for name, test := range map[string]struct {
		change func(*desired.Account)
		want   []edge.Scope
	}{
		"nothing": {func(*desired.Account) {}, nil},
		"only places": {func(a *desired.Account) {
			a.Origin, a.Zones[0].Origin, a.Zones[0].Deployments[0].Origin = difftest.At(40), difftest.At(41), difftest.At(42)
			a.Zones[0].Deployments[0].Paranoia.Origin = difftest.At(43)
			a.Zones[0].Deployments[0].Disable.Rules[0].Origin = difftest.At(44)
		}, nil},
		"a level":           {func(a *desired.Account) { a.Zones[0].Deployments[0].Paranoia.Value = 3 }, []edge.Scope{difftest.Zone}},
		"a level no longer": {func(a *desired.Account) { a.Zones[0].Deployments[0].Paranoia = nil }, []edge.Scope{difftest.Zone}},
		"a score":           {func(a *desired.Account) { a.Zones[1].Deployments[0].Threshold.Score.Value = 41 }, []edge.Scope{second}},
		"no deployment":     {func(a *desired.Account) { a.Zones[1].Deployments = nil }, []edge.Scope{second}},
		"an id":             {func(a *desired.Account) { a.Zones[1].Scope = edge.ZoneScope("new") }, []edge.Scope{edge.ZoneScope("new")}},
		"a zone gone":       {func(a *desired.Account) { a.Zones = a.Zones[:1] }, nil},
		"another ruleset":   {func(a *desired.Account) { a.Rulesets[0].Name = "Other" }, []edge.Scope{difftest.Zone, second}},
		"another account":   {func(a *desired.Account) { a.ID = "new" }, []edge.Scope{difftest.Zone, second}},
	} {
		got := slices.SortedFunc(maps.Keys(diff.ChangedZones(before, state(test.change))), edge.Scope.Compare)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	if got := diff.ChangedZones(desired.State{}, before); len(got) != 2 {
		t.Errorf("at first: got %v", got)
	}
}
