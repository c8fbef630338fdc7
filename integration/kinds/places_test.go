package kinds_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/once"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

// both has a rule of each toy: one in a phase of its own, one beside the deployments.
func both(expression string) []desired.Other {
	return []desired.Other{declareOf(guestName, "admins", toyRule{expression, true}), declare("admins", toyRule{expression, true})}
}

// rules are the expressions of the toy rules of a scope, by phase.
func rules(t *testing.T, p *mem.Platform, scope edge.Scope) [2]string {
	t.Helper()
	return [2]string{expressionAt(p, scope.At(edge.PhaseFirewallManaged)), expressionAt(p, scope.At(toyPhase))}
}

// reads are the phases of the entry points of a scope that were read.
func reads(calls []string, scope edge.Scope) (phases []string) {
	prefix := "GET " + strings.TrimSuffix(edge.EntryPointPath(scope, ""), "/entrypoint")
	for _, call := range calls {
		if rest, ok := strings.CutPrefix(call, prefix); ok {
			phases = append(phases, strings.TrimSuffix(rest, "/entrypoint"))
		}
	}
	return phases
}

// A kind may share the phase of deployments, and live in an account: there it is read, planned,
// written in one visit with them, proved, put back and removed as anywhere else.
func TestKindsShareAPhaseAndAnAccount(t *testing.T) {
	account := edge.AccountScope(mem.Account)
	inBubble(t, func(t *testing.T) {
		d := newDaemon(t, reconcile.Guards{Shrink: guard.Shrink{Floor: 100}}, "")
		zone, other := reconciletest.Zone(1, reconciletest.Core("xss")), reconciletest.Zone(2)
		other.Others = both("true") // so that not all of them go
		own := desired.Zone{Key: desired.AccountKey("prod"), Scope: account}
		declared := func(expression string) []desired.Zone {
			zone.Others, own.Others = both(expression), both(expression)
			return []desired.Zone{zone, other, own}
		}
		d.repo.Push("c1", declared("ip.src eq 192.0.2.1")...)
		d.start()
		wanted := func(expression string) {
			t.Helper()
			for _, scope := range []edge.Scope{zone.Scope, account} {
				if got := rules(t, d.platform.Platform, scope); got != [2]string{expression, expression} {
					t.Errorf("%s has %q, want %q", scope, got, expression)
				}
			}
			if s := d.Status(); s.Zones.Outcomes[inspect.InSync] != 3 {
				t.Errorf("zones %+v", s.Zones)
			}
		}
		wanted("ip.src eq 192.0.2.1")
		zone.Deployments = []desired.Deployment{reconciletest.Core("sqli")}
		d.push("c2", declared("ip.src eq 192.0.2.2")...)
		wanted("ip.src eq 192.0.2.2")
		driftAt(d, account.At(edge.PhaseFirewallManaged), "ip.src eq 203.0.113.9")
		driftAt(d, account.At(toyPhase), "ip.src eq 203.0.113.9")
		driftAt(d, zone.Scope.At(edge.PhaseFirewallManaged), "ip.src eq 203.0.113.9")
		d.pass(sweeps)
		wanted("ip.src eq 192.0.2.2")
		zone.Others, own.Others = nil, nil
		d.push("c3", zone, other, own)
		for _, scope := range []edge.Scope{zone.Scope, account} {
			if got := rules(t, d.platform.Platform, scope); got != [2]string{} {
				t.Errorf("after its removal %s has %q", scope, got)
			}
		}
	})
}

// What of a zone cannot be read is unknown, whichever phase it is in, and the rest is as it is:
// the zone exists, the platform is not away, and nothing is written blindly.
func TestOnePhaseOfAZoneCannotBeRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDaemon(t, reconcile.Guards{}, "ip.src eq 192.0.2.1")
		d.platform.hides = true
		d.start()
		for i := 1; i <= 2; i++ {
			z, why := d.why(i)
			if z.Outcome != inspect.Unknown || len(z.Decisions) != 1 || z.Decisions[0].Kind != toyName {
				t.Errorf("zone %d is %s:\n%s", i, z.Outcome, why)
			}
		}
		if s := d.Status(); s.Judged().Verdict == inspect.Healthy || len(s.Outages) == 0 {
			t.Errorf("it is called %s, outages %+v", s.Judged().Verdict, s.Outages)
		}
		for _, o := range d.Status().Outages {
			if o.Subject != reconcile.OutageZone {
				t.Errorf("more than zones are said to be away: %+v", o)
			}
		}
		d.platform.hides = false
		d.pass(sweeps)
		d.want("ip.src eq 192.0.2.1", inspect.InSync)
	})
}

// A zone is read where something is declared, and nowhere else: one request each. One that
// declares nothing is read, too.
func TestReadsOfAZone(t *testing.T) {
	for name, test := range map[string]struct {
		zone desired.Zone
		want []string
	}{
		"nothing":     {reconciletest.Zone(1), []string{string(edge.PhaseFirewallManaged)}},
		"deployments": {reconciletest.Zone(1, reconciletest.Core()), []string{string(edge.PhaseFirewallManaged)}},
		"toys":        {desired.Zone{Key: "a", Scope: mem.FleetZone(1), Others: both("true")[1:]}, []string{string(toyPhase)}},
		"a guest":     {desired.Zone{Key: "a", Scope: mem.FleetZone(1), Others: both("true")[:1]}, []string{string(edge.PhaseFirewallManaged)}},
		"an account": {
			desired.Zone{Key: desired.AccountKey("prod"), Scope: edge.AccountScope(mem.Account), Others: both("true")},
			[]string{string(toyPhase), string(edge.PhaseFirewallManaged)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.zones = []desired.Zone{test.zone}
			report := f.run().Plan(t.Context(), once.Order{})
			if got := reads(f.calls.Calls(), test.zone.Scope); !slices.Equal(got, test.want) {
				t.Errorf("it has read %q", got)
			}
			if report.Plan.Summary.Zones != 1 || len(report.Plan.Problems) > 0 {
				t.Errorf("%+v, problems %+v", report.Plan.Summary, report.Plan.Problems)
			}
		})
	}
}

// A share is one of the zones that exist, also of those without a deployment; and what is lost
// is called what it is.
func TestAShareAndALossOfAThirdKind(t *testing.T) {
	f, all := newFixture(t), 100
	f.guards.Rules = []guard.Rule{{Name: "share", Changes: &guard.Limit{Percent: &all}}}
	f.push("c1", "ip.src eq 192.0.2.1")
	if report := f.apply(once.Order{}); !report.Converged() {
		t.Fatalf("%s; %q", report.Verdict(), refusals(report.Plan))
	}
	f.push("c2", "")
	plan := f.run().Plan(t.Context(), once.Order{}).Plan
	if got := plan.Problems; len(got) != 1 || !strings.Contains(got[0].Reason, "no longer declares 2 of 2 other rules") {
		t.Errorf("problems %+v", got)
	}
}

// What was written is put back where it still is, even if nothing of its kind is declared in
// the zone any more.
func TestARevertReadsWhereItWrote(t *testing.T) {
	f := newFixture(t)
	stays := func(commit, expression string) {
		f.push(commit, expression)
		for i := range f.declared {
			if expression != "" {
				f.declared[i][0] = declare("admins", toyRule{expression, false})
			}
		}
		if report := f.apply(once.Order{AllowShrink: true}); !report.Converged() && expression != "" {
			t.Fatal(report.Verdict())
		}
		f.now = f.now.Add(time.Hour)
	}
	stays("c1", "ip.src eq 192.0.2.1")
	stays("c2", "ip.src eq 192.0.2.2")
	stays("c3", "")
	if f.live(1) != "ip.src eq 192.0.2.2" {
		t.Fatalf("it has %q", f.live(1))
	}
	run := &revert.Run{Records: f.records, Guards: f.guards, Lanes: f.lanes(), Now: f.Now}
	p, err := run.Plan(f.Context(), revert.Order{Filter: reconcile.HistoryFilter{Commit: "c2"}, Who: "kim"})
	must.Do(t, err)
	if len(p.Plan.Changes) != 2 {
		t.Fatalf("changes %+v, problems %+v", p.Plan.Changes, p.Plan.Problems)
	}
	if report := run.Apply(f.Context(), p); report.Err != nil || f.live(1) != "ip.src eq 192.0.2.1" {
		t.Errorf("%v; it has %q", report.Err, f.live(1))
	}
}

// A pull request shows the removal of what nothing of its kind declares any more.
func TestAPullRequestShowsTheRemovalOfAThirdKind(t *testing.T) {
	f := newFixture(t)
	f.push("c1", "ip.src eq 192.0.2.1")
	if report := f.apply(once.Order{}); !report.Converged() {
		t.Fatal(report.Verdict())
	}
	state, _, _ := f.Compile(t.Context(), "c1")
	repo := reconciletest.NewRepo()
	zones := slices.Clone(state.Accounts[0].Zones)
	zones[0].Others = nil
	repo.Push("p1", zones...)
	forge := f.review(repo, state, reconcile.Lane{Reader: f.calls, Concurrency: 1})
	for _, want := range []string{"1 to change", "toy admins", "192.0.2.1", "remove"} {
		if !strings.Contains(forge.comment, want) {
			t.Errorf("%q is not in\n%s", want, forge.comment)
		}
	}
}

// A pull request of many zones reads what there is room for: a request for each entry point.
func TestAPullRequestCountsEachRead(t *testing.T) {
	const zones, room = 30, 25
	fleet := reconciletest.NewFleet(t, mem.Config{Seed: mem.Fleet(zones), Profile: mem.Extended})
	f := newFixture(t)
	f.calls = reconciletest.Record(fleet.Platform)
	head := reconciletest.Zones(zones, reconciletest.Core("xss"))
	base := reconciletest.State("c1", reconciletest.Zones(zones, reconciletest.Core())...)
	for i := range head {
		head[i].Others = both("true")[1:]
	}
	repo := reconciletest.NewRepo()
	repo.Push("p1", head...)
	forge := f.review(repo, base, reconcile.Lane{Reader: f.calls, Concurrency: 1, Room: func(edge.Class, int) int { return room }})
	n := 0
	for i := range zones {
		n += len(reads(f.calls.Calls(), mem.FleetZone(i+1)))
	}
	if n < room || n > room+1 || forge.comment != "" {
		t.Errorf("%d reads in a round, room for %d; told %q", n, room, forge.comment)
	}
}
