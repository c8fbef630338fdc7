package kinds_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
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

// guardedZones are two zones with a deployment each, which removes skip rules or reports them.
func guardedZones(bypass desired.Bypass, tags ...string) []desired.Zone {
	d := reconciletest.Core(tags...)
	d.Bypass = &desired.Declared[desired.Bypass]{Value: bypass, Origin: desired.Origin{File: "shop.cue", Line: 7, Column: 3}}
	zones := reconciletest.Zones(2, d)
	for i := range zones {
		zones[i].Labels = map[string]string{"tier": zones[i].Key}
	}
	return zones
}

// bypass adds a skip rule before the execute rule of a zone, as a person does by hand.
func bypass(t *testing.T, p *mem.Platform, zone int, expression string) {
	t.Helper()
	entryPoint, err := p.EntryPoint(t.Context(), mem.FleetZone(zone), edge.PhaseFirewallManaged)
	must.Do(t, err)
	_, err = p.Send(t.Context(), edge.AddRule(mem.FleetZone(zone), entryPoint.ID, edge.Rule{
		Action: edge.ActionSkip, Expression: expression, Description: new("let probes in"), Enabled: new(true),
		ActionParameters: &edge.ActionParameters{Extra: map[string]json.RawMessage{"ruleset": json.RawMessage(`"current"`)}},
	}).At(&edge.Position{Before: &entryPoint.Rules[0].ID}))
	must.Do(t, err)
}

// bypasses are the expressions of the skip rules of a zone that stand before its execute rule.
func bypasses(t *testing.T, p *mem.Platform, zone int) (expressions []string) {
	t.Helper()
	entryPoint, err := p.EntryPoint(t.Context(), mem.FleetZone(zone), edge.PhaseFirewallManaged)
	must.Do(t, err)
	for _, r := range entryPoint.Rules {
		switch r.Action {
		case edge.ActionExecute:
			return expressions
		case edge.ActionSkip:
			expressions = append(expressions, r.Expression)
		}
	}
	return expressions
}

// provedZones have what they declare, and are on record.
func provedZones(t *testing.T, decision desired.Bypass) *fixture {
	t.Helper()
	f := newFixture(t)
	f.commit, f.zones = "c1", guardedZones(decision, "xss")
	if report := f.apply(once.Order{}); !report.Converged() {
		t.Fatal(report.Verdict())
	}
	f.now = f.now.Add(time.Hour)
	return f
}

// A skip rule that came after the proof goes with one request that is proved, has its place in
// the history, and can be put back; what is on record stays as it was.
func TestASkipRuleGoesAndComesBack(t *testing.T) {
	f := provedZones(t, desired.RemoveBypass)
	before, err := f.records.Restore(t.Context())
	must.Do(t, err)
	for _, expression := range []string{`http.host eq "a.example"`, "true"} {
		bypass(t, f.platform, 1, expression)
	}
	plan := f.run().Plan(t.Context(), once.Order{}).Plan
	if len(plan.Changes) != 2 || len(plan.Problems) > 0 || plan.Summary.InSync != 1 || plan.Summary.Changed != 1 || plan.Attention() || plan.Requests.ToApply != 4 {
		t.Fatalf("%+v, %+v, %s", plan.Changes, plan.Problems, plan.Summary)
	}
	f.calls.Reset()
	report := f.apply(once.Order{})
	if got := bypasses(t, f.platform, 1); !report.Converged() || len(report.Results) != 2 || len(got) > 0 {
		t.Fatalf("%s, %+v; live %q", report.Verdict(), report.Results, got)
	}
	if n := len(slices.DeleteFunc(f.calls.Calls(), func(call string) bool { return !strings.HasPrefix(call, "DELETE") })); n != 2 {
		t.Errorf("it has sent %q", f.calls.Calls())
	}
	after, err := f.records.Restore(t.Context())
	must.Do(t, err)
	for id, owned := range after.Applied {
		if !slices.Equal(owned, before.Applied[id]) {
			t.Errorf("on record of %+v is %q, and was %q", id, owned, before.Applied[id])
		}
	}
	if again := f.run().Plan(t.Context(), once.Order{}).Plan; !again.IsEmpty() || len(again.Bypasses) > 0 {
		t.Errorf("then it plans %+v", again.Changes)
	}
	f.removals(2)
	run := &revert.Run{Records: f.records, Guards: f.guards, Lanes: f.lanes(), Now: f.Now}
	p, err := run.Plan(t.Context(), revert.Order{Filter: reconcile.HistoryFilter{Since: f.now.Add(-time.Minute)}, Who: "kim"})
	must.Do(t, err)
	back := run.Apply(t.Context(), p)
	if got := bypasses(t, f.platform, 1); back.Err != nil || len(p.Plan.Problems) > 0 || len(got) != 2 || !slices.Contains(got, "true") {
		t.Fatalf("%v, %+v, %+v; live %q", back.Err, back.Results, p.Plan.Problems, got)
	}
	held := f.run().Plan(t.Context(), once.Order{}).Plan
	if got := refusals(held); !slices.Equal(got, []diff.Guard{diff.GuardReverted, diff.GuardReverted}) {
		t.Errorf("after the revert it plans %+v, refused by %q", held.Changes, got)
	}
}

// removals checks that the history has so many of them, each with its result.
func (f *fixture) removals(want int) {
	f.Helper()
	n := 0
	_, err := f.records.History(f.Context(), reconcile.HistoryFilter{Zone: reconciletest.ZoneKey(1)}, func(e reconcile.Entry) error {
		if e.Kind != reconcile.EntryWrite || e.Action != string(diff.ActionRemove) {
			return nil
		}
		n++
		if e.Subject.Kind != desired.Exception || e.Direction != diff.Strengthens || e.Result == nil || e.Result.Outcome != reconcile.Converged {
			f.Errorf("entry %+v, result %+v", e, e.Result)
		}
		return nil
	})
	must.Do(f.T, err)
	if n != want {
		f.Errorf("%d removals in the history, want %d", n, want)
	}
}

// A process that ends between the removal and its proof leaves a write without a result: the
// next look finds the rule gone, and tells.
func TestARemovalIsToldAfterARestart(t *testing.T) {
	f := provedZones(t, desired.RemoveBypass)
	bypass(t, f.platform, 1, "true")
	c := f.run().Plan(t.Context(), once.Order{}).Plan.Changes[0]
	declaration := f.zones[0].Fingerprint(desired.Account{ID: mem.Account, Key: "prod", Rulesets: reconciletest.State("c1").Accounts[0].Rulesets})
	_, err := f.records.RecordWrite(t.Context(), reconcile.WriteEntry(c, reconcile.TriggerManual, reconcile.Asked{Commit: "c1"}, declaration, nil), []diff.Settled{{ID: c.ID(), Owned: c.Do().Owned()}})
	must.Do(t, err)
	o := c.Operation.(diff.RuleOperation)
	_, err = f.platform.Send(t.Context(), edge.DeleteRule(c.Scope, o.Target.EntryPoint, o.Target.Rule))
	must.Do(t, err)
	must.Do(t, f.records.Unclaim(t.Context(), c.Scope, ""))
	if report := f.apply(once.Order{}); !report.Converged() || len(report.Results) > 0 {
		t.Fatal(report.Verdict(), report.Results)
	}
	f.removals(1)
	record, err := f.records.Restore(t.Context())
	must.Do(t, err)
	if _, left := record.Applied[c.ID()]; left {
		t.Errorf("the removal is on record still")
	}
}

// A removal is held, limited, observed, frozen and agreed to as any change is.
func TestGuardsHoldARemoval(t *testing.T) {
	none := 0
	for name, test := range map[string]struct {
		set  func(*fixture)
		want diff.Guard
	}{
		"hold": {func(f *fixture) {
			must.Do(f.T, f.records.Hold(f.Context(), diff.Hold{Zone: f.zones[0].Key, Until: f.now.Add(time.Hour), Reason: "an attack"}, "kim"))
		}, diff.GuardHold},
		"limit":    {func(f *fixture) { f.guards.Rules = []guard.Rule{{Name: "few", Changes: &guard.Limit{Count: &none}}} }, diff.GuardLimit},
		"approval": {func(f *fixture) { f.guards.Rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}} }, diff.GuardApproval},
		"observe": {func(f *fixture) {
			f.guards.Observe = []guard.Observe{{Setting: "observe.shop", Labels: guard.Labels{"tier": f.zones[0].Key}}}
		}, diff.GuardObserve},
		"freeze": {func(f *fixture) {
			f.guards.Freezes = []reconcile.Freeze{{Name: "sale", Schedule: everyMinute{}, For: time.Hour, Zone: time.UTC}}
		}, diff.GuardFreeze},
	} {
		t.Run(name, func(t *testing.T) {
			f := provedZones(t, desired.RemoveBypass)
			bypass(t, f.platform, 1, "true")
			test.set(f)
			report := f.apply(once.Order{})
			if got := refusals(report.Plan); !slices.Equal(got, []diff.Guard{test.want}) || len(bypasses(t, f.platform, 1)) != 1 || report.Plan.Summary.InSync != 1 || report.Plan.Summary.Bypassed != 1 || !report.Plan.Attention() {
				t.Errorf("refused %q, %s, results %+v; live %q", got, report.Plan.Summary, report.Results, bypasses(t, f.platform, 1))
			}
		})
	}
	weakening := []guard.Rule{{Name: "weakening", Weakening: &guard.Limit{Count: &none}, Approve: guard.ApproveWeakening}}
	f := provedZones(t, desired.RemoveBypass)
	bypass(t, f.platform, 1, "true")
	f.guards.Rules = weakening
	if report := f.apply(once.Order{}); !report.Converged() || len(bypasses(t, f.platform, 1)) > 0 {
		t.Errorf("what strengthens is held: %+v", refusals(report.Plan))
	}
}

// everyMinute starts a freeze each minute.
type everyMinute struct{}

func (everyMinute) Next(t time.Time) time.Time { return t.Truncate(time.Minute).Add(time.Minute) }

// A removal that comes with a commit waits for its wave.
func TestARemovalWaitsForItsWave(t *testing.T) {
	f := provedZones(t, desired.RemoveBypass)
	bypass(t, f.platform, 1, "true")
	f.commit, f.zones = "c2", guardedZones(desired.RemoveBypass, "sqli")
	f.guards.Waves = []reconcile.Wave{{Labels: guard.Labels{"tier": f.zones[1].Key}, Soak: time.Hour}, {}}
	if report := f.apply(once.Order{}); !slices.Equal(refusals(report.Plan), []diff.Guard{diff.GuardWave, diff.GuardWave}) || len(bypasses(t, f.platform, 1)) != 1 {
		t.Fatalf("refused %q", refusals(report.Plan))
	}
	f.now = f.now.Add(2 * time.Hour)
	if report := f.apply(once.Order{}); !report.Converged() || len(bypasses(t, f.platform, 1)) > 0 {
		t.Errorf("%s, live %q", report.Verdict(), bypasses(t, f.platform, 1))
	}
	f.removals(1)
}

// Where nothing says that it goes it is a problem, which a person ends; what was there before
// the first proof is none.
func TestASkipRuleIsReported(t *testing.T) {
	f := newFixture(t)
	bypass(t, f.platform, 2, `http.host eq "a.example"`)
	f.commit, f.zones = "c1", guardedZones(desired.ReportBypass, "xss")
	if report := f.apply(once.Order{}); !report.Converged() {
		t.Fatal(report.Verdict())
	}
	bypass(t, f.platform, 1, "true")
	for range 2 {
		report := f.apply(once.Order{})
		plan := report.Plan
		if len(plan.Changes) > 0 || len(plan.Problems) != 1 || plan.Summary.Bypassed != 1 || len(plan.Bypasses) != 2 || !plan.Attention() {
			t.Fatalf("%+v, %+v, %s", plan.Changes, plan.Problems, plan.Summary)
		}
		if p := plan.Problems[0]; !strings.Contains(p.Reason, "it came after") || !strings.Contains(p.Reason, "keeps all requests from this deployment") || !strings.Contains(p.Hint, `accepted: "`) {
			t.Errorf("%s\n%s", p.Reason, p.Hint)
		}
	}
}

// The daemon removes it at its next look, and goes on as before, also after a restart.
func TestADaemonRemovesASkipRule(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDaemon(t, reconcile.Guards{}, "")
		d.repo.Push("c1", guardedZones(desired.RemoveBypass, "xss")...)
		bypass(t, d.platform.Platform, 2, `http.host eq "a.example"`)
		d.start()
		bypass(t, d.platform.Platform, 1, "true")
		d.pass(sweeps)
		for range 2 {
			for i, want := range []int{0, 1} {
				if z, why := d.why(i + 1); z.Outcome != inspect.InSync || len(bypasses(t, d.platform.Platform, i+1)) != want {
					t.Errorf("zone %d is %s, live %q:\n%s", i+1, z.Outcome, bypasses(t, d.platform.Platform, i+1), why)
				}
			}
			d.stop()
			d.start()
			d.pass(sweeps)
		}
		d.push("c2", guardedZones(desired.RemoveBypass, "sqli")...)
		bypass(t, d.platform.Platform, 2, "true")
		d.pass(sweeps)
		if got := bypasses(t, d.platform.Platform, 2); !slices.Equal(got, []string{`http.host eq "a.example"`}) {
			t.Errorf("after a write of Seawall there is %q", got)
		}
	})
}
