package once

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

var skipAll = reconciletest.SkipManaged("true")

// looks has runs look at phases of zones.
func (f *fixture) looks(phases ...edge.Phase) {
	f.guards.Looking = reconcile.Looking{Phases: phases, Every: 24 * time.Hour}
}

// A plan and an apply look at each zone's phases, and at the account's once. Without phases of
// zones and without an entry point of the account that costs nothing.
func TestRequestsOfLooks(t *testing.T) {
	f := newFixture(t, 3)
	f.repo.Push("c1", declareAll(3, core())...)
	plan := func(order Order, want ...string) diff.Plan {
		t.Helper()
		report, calls := f.plan(order)
		must.Do(t, report.Err)
		if d := cmp.Diff(want, calls); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
		looks := 0
		for _, call := range calls {
			if strings.HasPrefix(call, "look") || call == "managed a0070000000000000000000000000001" {
				looks++
			}
		}
		if report.Plan.Requests.Looks != int64(looks) {
			t.Errorf("%d looks are counted, of %d", report.Plan.Requests.Looks, looks)
		}
		return report.Plan
	}
	p := plan(Order{}, "list", "managed core", "read 1", "read 2", "read 3")
	wantNotLooked(t, p, "zone http_request_firewall_custom 3 off: bypass.phases is not set")
	f.looks(edge.PhaseFirewallCustom)
	p = plan(Order{}, "list", "managed core", "read 1", "look 1", "read 2", "look 2", "read 3", "look 3")
	wantNotLooked(t, p)
	if p.Summary.Bypassed != 0 {
		t.Errorf("bypassed without a skip rule: %+v", p.Summary)
	}
	plan(Order{Zones: []string{zoneKey(2)}}, "list", "managed core", "read 2", "look 2")
	must.Do(t, f.Platform.SetRuleset(mem.Account, edge.Ruleset{
		ID: "a0070000000000000000000000000001", Name: "default", Kind: edge.KindRoot, Phase: edge.PhaseFirewallCustom,
	}))
	f.Put(mem.FleetZone(2), edge.PhaseFirewallCustom, skipAll)
	p = plan(Order{}, "list", "managed core", "read 1", "look 1", "read 2", "look 2", "read 3", "look 3", "managed a0070000000000000000000000000001")
	if p.Summary.Bypassed != 1 || len(p.Bypasses) != 1 || p.Bypasses[0].Zone != zoneKey(2) {
		t.Errorf("bypasses %+v, %+v", p.Bypasses, p.Summary)
	}
	report, calls := f.apply(Order{})
	if n := strings.Count(strings.Join(calls, " "), "look "); n != 3 || report.Converged() {
		t.Errorf("%d looks of an apply: %v; converged %v", n, calls, report.Converged())
	}
	f.looks(edge.PhaseFirewallCustom, edge.PhaseRateLimit)
	plan(Order{Zones: []string{zoneKey(2)}}, "list", "managed core", "read 2", "look 2", "look 2", "managed a0070000000000000000000000000001")
}

func wantNotLooked(t *testing.T, p diff.Plan, want ...string) {
	t.Helper()
	var got []string
	for _, n := range p.NotLookedAt {
		got = append(got, fmt.Sprint(n.Level, " ", n.Phase, " ", n.Zones, " ", n.Reason))
	}
	if !slices.Equal(got, want) {
		t.Errorf("not looked at %q, want %q", got, want)
	}
}

// The sweep that a plan holds against the budget has the looks in it, as often as they are.
func TestOverloadOfLooks(t *testing.T) {
	f := newFixture(t, 10)
	f.repo.Push("c1", declareAll(10, core())...)
	f.adjust = func(r *Run) { r.Interval = 12 * time.Hour }
	sweep := func(want int64) {
		t.Helper()
		if report, _ := f.plan(Order{}); report.Sweep != want || report.Err != nil {
			t.Errorf("a sweep takes %d, want %d; error %v", report.Sweep, want, report.Err)
		}
	}
	sweep(11)
	f.looks(edge.PhaseFirewallCustom)
	sweep(11 + 5)
	f.guards.Looking.Every = time.Hour
	sweep(11 + 10)
}

// A zone whose earlier phase cannot be read is planned and applied all the same.
func TestApplyWithoutALook(t *testing.T) {
	f := newFixture(t, 2)
	f.looks(edge.PhaseFirewallCustom)
	f.repo.Push("c1", declareAll(2, core("xss"))...)
	f.tamper.Look = func(edge.Place) error {
		return &edge.Error{Status: 403, Call: "GET /x", Details: []edge.ErrorDetail{{Message: "no permission"}}}
	}
	report, _ := f.apply(Order{})
	if report.Err != nil || !report.Converged() {
		t.Errorf("converged %v, error %v", report.Converged(), report.Err)
	}
	wantNotLooked(t, report.Plan, "zone http_request_firewall_custom 2 403 Forbidden: no permission")
	if !errors.Is(report.Plan.NotLookedAt[0].Err, edge.ErrForbidden) {
		t.Errorf("%+v", report.Plan.NotLookedAt)
	}
}
