package once

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

var careful = reconcile.Halt{NonConvergent: 1, FailedPercent: 5}

var threeWaves = reconcile.Guards{Waves: []reconcile.Wave{
	{Count: 1, Soak: 30 * time.Minute, Halt: careful}, {Count: 2, Soak: time.Hour, Halt: careful},
}}

// tolerating is threeWaves with a second wave of which a share may fail.
func tolerating(percent int) reconcile.Guards {
	g := reconcile.Guards{Waves: slices.Clone(threeWaves.Waves)}
	g.Waves[1].Halt.FailedPercent = percent
	return g
}

// inWaves has n zones whose first commit is in force, and whose next one goes through
// waves of one zone, two zones, and the rest.
func inWaves(t *testing.T, n int) *fixture {
	f := newFixture(t, n)
	f.repo.Push("c1", declareAll(n, removing(core("xss")))...)
	f.converge(Order{})
	f.guards = threeWaves
	f.repo.Push("c2", declareAll(n, removing(core("php")))...)
	return f
}

// wantWaves checks which zones wait for their wave, and for what.
func (f *fixture) wantWaves(r reconcile.Report, want ...string) {
	f.t.Helper()
	got := []string{}
	for _, c := range r.Plan.Changes {
		if c.Refused != nil {
			if c.Refused.Guard != diff.GuardWave {
				f.t.Errorf("%s is refused by %s", c.Zone, c.Refused.Guard)
			}
			got = append(got, number(c.Zone)+": "+c.Refused.Reason)
		}
	}
	if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
		f.t.Errorf("waiting (-want +got):\n%s", d)
	}
}

// Each apply is a process of its own: it goes on where the one before it was, and never
// faster.
func TestWavesOneAfterTheOther(t *testing.T) {
	f := inWaves(t, 5)
	report, calls := f.apply(Order{})
	f.wantOutcomes(report, "1 converged")
	f.wantWaves(report,
		"2: wave 2 of 3 waits until wave 1 is applied and its soak time is over", "3: wave 2 of 3 waits until wave 1 is applied and its soak time is over",
		"4: wave 3 of 3 waits until wave 2 is applied and its soak time is over", "5: wave 3 of 3 waits until wave 2 is applied and its soak time is over")
	f.wantCalls(calls[2:], "read 1", "read 2", "read 3", "read 4", "read 5", "write 1", "read 1")

	f.Advance(29 * time.Minute)
	for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply} {
		report, calls = do(Order{})
		f.wantWaves(report, "2: wave 2 of 3 may start at 2026-01-01T00:30:00Z", "3: wave 2 of 3 may start at 2026-01-01T00:30:00Z",
			"4: wave 3 of 3 waits until wave 2 is applied and its soak time is over", "5: wave 3 of 3 waits until wave 2 is applied and its soak time is over")
		if writes(calls) != 0 {
			t.Errorf("calls %v", calls)
		}
	}

	f.Advance(time.Minute)
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "2 converged", "3 converged")
	report, _ = f.apply(Order{})
	f.wantOutcomes(report)

	f.Advance(time.Hour)
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "4 converged", "5 converged")
	if got := f.recall().Rollout; !got.Equal(reconcile.Rollout{Commit: "c2"}) {
		t.Errorf("on record is still %+v", got)
	}
	report, _ = f.converge(Order{})
	f.wantOutcomes(report)
}

// What a rollout does not touch, or has done already, is healed at once, and so is
// everything when no rollout goes on.
func TestDriftIsNotWaved(t *testing.T) {
	f := inWaves(t, 5)
	f.repo.Push("c2", append(declareAll(4, removing(core("php"))), declare(5, removing(core("xss"))))...)
	f.apply(Order{})
	for _, i := range []int{1, 4, 5} {
		f.Click(i, switchedOff())
	}
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged", "5 converged")

	calm := inWaves(t, 5)
	calm.repo.Head = "c1"
	for i := 1; i <= 5; i++ {
		calm.Click(i, switchedOff())
	}
	report, _ = calm.converge(Order{})
	if len(report.Results) != 5 {
		t.Errorf("results %v", outcomes(report))
	}
}

// Zones in which nothing was ever proved are new to the commit, all of them.
func TestAllNewGoesInWaves(t *testing.T) {
	f := newFixture(t, 3)
	f.guards = threeWaves
	f.repo.Push("c1", declareAll(3, core("xss"))...)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged")
}

// An apply of one zone accepts the commit, and the others still wait for their turn; the
// one as well.
func TestOneZoneByNameIsNoWayAround(t *testing.T) {
	f := inWaves(t, 5)
	report, _ := f.apply(Order{Zones: []string{zoneKey(4)}})
	f.wantWaves(report, "4: wave 3 of 3 waits until wave 2 is applied and its soak time is over")
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "1 converged")
}

// The waves of the commit before are halted while an apply reads: nothing of the next commit is
// written, and the halt is still on record.
func TestHaltedWhileAnApplyReads(t *testing.T) {
	f := inWaves(t, 5)
	f.apply(Order{})
	f.repo.Push("c3", declareAll(5, removing(core("sqli")))...)
	f.tamper.Read = func(edge.Scope) error {
		return f.records.Roll(f.t.Context(), func(have reconcile.Rollout) reconcile.Rollout {
			have.Halted = "1 of 2 failed"
			return have
		})
	}
	report, calls := f.apply(Order{})
	if writes(calls) != 0 || !errors.Is(report.Err, reconcile.ErrSuperseded) {
		t.Errorf("calls %v, error %v", calls, report.Err)
	}
	if on := f.recall(); on.Rollout.Halted == "" || on.Accepted.Commit != "c2" {
		t.Errorf("on record is %+v of commit %s", on.Rollout, on.Accepted.Commit)
	}
	f.tamper.Read = nil
	if _, calls = f.apply(Order{}); writes(calls) != 0 || f.recall().Rollout.Halted == "" {
		t.Errorf("calls %v, on record %+v", calls, f.recall().Rollout)
	}
}

func TestAPlanDoesNotBeginARollout(t *testing.T) {
	f := inWaves(t, 5)
	report, _ := f.plan(Order{})
	if len(refusals(report)) != 4 || f.recall().Rollout.Commit != "" {
		t.Errorf("refused %v, on record %+v", refusals(report), f.recall().Rollout)
	}
}

// A commit begins with its own zones, and with those that the commit before it had not
// reached.
func TestANewCommitBeginsAnew(t *testing.T) {
	f := inWaves(t, 6)
	f.apply(Order{})
	f.Advance(30 * time.Minute)
	f.apply(Order{}) // 1, 2, 3 are done
	declared := declareAll(6, removing(core("php")))
	declared[2] = declare(3, removing(core("sqli")))
	f.repo.Push("c3", declared...)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "3 converged") // the first wave, of one
	want := map[edge.Scope]reconcile.RolloutZone{
		mem.FleetZone(3): {Wave: 1, Outcome: reconcile.ZoneDone}, mem.FleetZone(4): {Wave: 2}, mem.FleetZone(5): {Wave: 2}, mem.FleetZone(6): {Wave: 3},
	}
	if d := cmp.Diff(want, f.recall().Rollout.Zones); d != "" {
		t.Errorf("on record (-want +got):\n%s", d)
	}
	f.Advance(30 * time.Minute)
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "4 converged", "5 converged")
}

// A zone that returns to what was proved there before waits for nobody, halted or not.
func TestARevertIsNotWaved(t *testing.T) {
	f := inWaves(t, 5)
	f.apply(Order{}) // 1 is done
	f.resumeAs("why")
	f.Click(4, switchedOff())
	f.repo.Push("c3", declareAll(5, removing(core("xss")))...)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged", "4 converged") // of 1, php was proved since
	f.wantWaves(report)
	if got := f.recall().Rollout; !got.Equal(reconcile.Rollout{Commit: "c3"}) {
		t.Errorf("on record %+v", got)
	}
}

// resumeAs halts the rollout for a reason, or has it go on for none.
func (f *fixture) resumeAs(halted string) {
	f.t.Helper()
	must.Do(f.t, f.records.Roll(f.t.Context(), func(o reconcile.Rollout) reconcile.Rollout {
		if halted == "" {
			return o.Resumed()
		}
		o.Halted = halted
		return o
	}))
}

func TestHaltOnNonConvergent(t *testing.T) {
	f := inWaves(t, 5)
	f.tamper.Write = func(_ context.Context, zone edge.Scope, _ send) (*edge.Ruleset, error) {
		return nil, f.Platform.SetEntryPoint(zone, f.Entry(1)) // another version, and nothing in it
	}
	report, _ := f.apply(Order{})
	if report.Count(reconcile.NonConvergent) != 1 {
		t.Fatalf("results %v", outcomes(report))
	}
	f.tamper.Write = nil
	f.Advance(24 * time.Hour)
	report, _ = f.plan(Order{})
	f.wantRefused(report, "non_convergent", "wave", "wave", "wave", "wave")
	for _, want := range [][]string{{"1 converged"}, nil} { // the one is a person's to try; the others wait all the same
		report, _ = f.apply(Order{})
		f.wantOutcomes(report, want...)
		f.wantRefused(report, "wave", "wave", "wave", "wave")
		if got := report.Plan.Changes[len(report.Plan.Changes)-1].Refused.Reason; got != "wave 3 of 3 is halted: 1 of the 1 zones of wave 1 did not keep the change" {
			t.Errorf("got %q", got)
		}
	}
	f.repo.Push("c3", declareAll(5, removing(core("sqli")))...)
	report, _ = f.apply(Order{})
	if got := refusals(report); len(got) != 5 || len(report.Results) != 0 {
		t.Errorf("a commit does not make it go on: refused %v, results %v", got, outcomes(report))
	}
	f.resumeAs("")
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "1 converged")
	f.Advance(30 * time.Minute)
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "2 converged", "3 converged")
}

func TestHaltOnFailures(t *testing.T) {
	f := inWaves(t, 5)
	f.guards = tolerating(49)
	f.apply(Order{})
	f.Advance(30 * time.Minute)
	f.tamper.Write = failWrite(3, errForbidden)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "2 converged", "3 failed")
	f.Advance(2 * time.Hour)
	report, _ = f.apply(Order{})
	if got := report.Plan.Changes[0].Refused; got == nil || got.Reason != "wave 2 of 3 is halted: 1 of the 2 zones of wave 2 failed" || len(report.Results) != 0 {
		t.Errorf("refused %+v, results %v", got, outcomes(report))
	}
	f.resumeAs("")
	report, _ = f.apply(Order{}) // the soak begins: what failed is accepted, and tried again
	f.wantOutcomes(report, "3 failed")
	f.Advance(time.Hour)
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "3 failed", "4 converged", "5 converged")
}

// Below the share the others go on, and one that failed is tried again beside them.
func TestFewFailuresDoNotHalt(t *testing.T) {
	f := inWaves(t, 5)
	f.guards = tolerating(50)
	f.apply(Order{})
	f.Advance(30 * time.Minute)
	f.tamper.Read = failZone(3, errDown)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "2 converged")
	f.tamper.Read = nil
	f.Advance(time.Hour)
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "3 converged", "4 converged", "5 converged")
}

// A zone that needs a person holds nobody up; one that is frozen, not approved or could
// not be read does.
func TestWhoWaitsForWhom(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*fixture)
		goes  bool
	}{
		"undecided": {func(f *fixture) {
			f.Click(1, func(o *edge.Overrides) {
				o.Categories = append(o.Categories, edge.CategoryOverride{Category: "rce", Enabled: new(false)})
			})
		}, true},
		"held":         {func(f *fixture) { f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: f.Now().Add(99 * time.Hour)}) }, true},
		"frozen":       {func(f *fixture) { f.guards.Freezes = []reconcile.Freeze{window(t, "0 0 * * *", 30*24*time.Hour)} }, false},
		"unreadable":   {func(f *fixture) { f.tamper.Read = failZone(1, errDown) }, false},
		"forbidden":    {func(f *fixture) { f.tamper.Read = failZone(1, errForbidden) }, false},
		"not approved": {func(f *fixture) { f.guards.Rules = []guard.Rule{{Name: "a", Approve: guard.ApproveAll}} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 5)
			f.repo.Push("c1", declareAll(5, core("xss"))...)
			f.converge(Order{})
			f.guards = threeWaves
			f.repo.Push("c2", declareAll(5, core("php"))...)
			c.spoil(f)
			report, _ := f.apply(Order{})
			if decided := name == "undecided"; decided != (len(report.Results) == 1) {
				t.Fatalf("results %v", outcomes(report))
			}
			if got := !f.recall().Rollout.Since.IsZero(); got != c.goes {
				t.Errorf("the first wave counts as done: %v", got)
			}
		})
	}
}

// Without any configured nothing waits, and nothing is on record.
func TestNoWaves(t *testing.T) {
	f := inWaves(t, 5)
	f.guards = reconcile.Guards{}
	f.converge(Order{})
	if got := f.recall().Rollout; got.Commit != "" {
		t.Errorf("on record is %+v", got)
	}
}

// While an apply reads, another process may have begun the same rollout, and a person may
// have let the one before it go on.
func TestBeginBesideOthers(t *testing.T) {
	zones := func(outcome reconcile.ZoneOutcome) map[edge.Scope]reconcile.RolloutZone {
		return map[edge.Scope]reconcile.RolloutZone{mem.FleetZone(1): {Wave: 1, Outcome: outcome}, mem.FleetZone(2): {Wave: 2}}
	}
	for name, c := range map[string]struct {
		before, meanwhile reconcile.Rollout
		halted            string
		first             reconcile.ZoneOutcome
	}{
		"nobody else": {
			reconcile.Rollout{Commit: "c1", Halted: "why"}, reconcile.Rollout{Commit: "c1", Halted: "why"}, "why", reconcile.ZonePending,
		},
		"it goes on": {
			reconcile.Rollout{Commit: "c1", Halted: "why"}, reconcile.Rollout{Commit: "c1"}, "", reconcile.ZonePending,
		},
		"the same was begun": {
			reconcile.Rollout{Commit: "c1"}, reconcile.Rollout{Commit: "c2", Wave: 1, Zones: zones(reconcile.ZoneDone)}, "", reconcile.ZoneDone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := inWaves(t, 2)
			must.Do(f.t, f.records.Roll(t.Context(), func(reconcile.Rollout) reconcile.Rollout { return c.before }))
			f.tamper.Read = func(edge.Scope) error {
				f.tamper.Read = nil
				return f.records.Roll(t.Context(), func(reconcile.Rollout) reconcile.Rollout { return c.meanwhile })
			}
			var accepted reconcile.Rollout
			f.records.Fails = func(call string) error { // the first record behind the acceptance
				if accepted.Commit == "" && slices.Contains(f.records.Made[len(f.records.Made)-1:], "accept") {
					accepted = f.recall().Rollout
				}
				return nil
			}
			f.apply(Order{})
			if accepted.Commit != "c2" || accepted.Halted != c.halted || accepted.Zones[mem.FleetZone(1)].Outcome != c.first {
				t.Errorf("on record is %+v", accepted)
			}
		})
	}
}

// What was written of a rollout whose end could not be recorded is found done by the next
// apply.
func TestRolloutThatCannotBeRecorded(t *testing.T) {
	f := inWaves(t, 2)
	f.records.Fails = func(call string) error { return map[string]error{"roll": errFull}[call] }
	report, _ := f.apply(Order{})
	if report.Converged() || report.Err == nil {
		t.Errorf("error %v", report.Err)
	}
	f.wantOutcomes(report, "1 converged")
	f.records.Fails = nil
	f.apply(Order{})
	f.Advance(30 * time.Minute)
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "2 converged")
}

// A rollout that another process has begun meanwhile is not ours to write to.
func TestRolloutOfOthersIsLeftAlone(t *testing.T) {
	f := inWaves(t, 2)
	other := reconcile.Rollout{Commit: "c9", Wave: 1, Zones: map[edge.Scope]reconcile.RolloutZone{mem.FleetZone(1): {Wave: 1}}}
	f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
		must.Do(f.t, f.records.Roll(t.Context(), func(reconcile.Rollout) reconcile.Rollout { return other }))
		return send()
	}
	f.apply(Order{})
	if got := f.recall().Rollout; !got.Equal(other) {
		t.Errorf("on record is %+v", got)
	}
}

// A commit went through all waves; what it has weakened comes back at once, whichever
// commit brings it: no wave, no soak and no halt is waited for. What was never proved in a
// zone waits as ever.
func TestReturnWaitsForNoWave(t *testing.T) {
	f := inWaves(t, 5)
	for range 3 {
		f.apply(Order{})
		f.Advance(2 * time.Hour)
	}
	f.apply(Order{})
	for i := 1; i <= 5; i++ {
		f.wantOff(i, "php")
	}
	f.repo.Push("c3", declareAll(5, removing(core("xss")))...)
	report, _ := f.converge(Order{})
	f.wantWaves(report)
	for i := 1; i <= 5; i++ {
		f.wantOff(i, "xss")
	}
	f.repo.Push("c4", declareAll(5, removing(core("sqli")))...)
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "1 converged") // what was never proved waits as ever
	f.resumeAs("why")
	f.repo.Push("c5", declareAll(5, removing(core("php")))...)
	report, _ = f.converge(Order{})
	f.wantWaves(report)
	for i := 1; i <= 5; i++ {
		f.wantOff(i, "php")
	}
}

// What does not fit the managed ruleset yet waits with its wave, and goes wave by wave once a version comes
// that it fits.
func TestWavesWaitForAVersion(t *testing.T) {
	f := inWaves(t, 5)
	f.repo.Push("c3", declareAll(5, removing(core("comes-later")))...)
	for range 5 {
		if _, calls := f.apply(Order{}); writes(calls) != 0 {
			t.Fatalf("calls %v", calls)
		}
		f.Advance(2 * time.Hour)
	}
	published, err := f.Platform.Ruleset(t.Context(), edge.AccountScope(mem.Account), mem.CoreRuleset)
	must.Do(t, err)
	published.Rules[0].Categories = append(published.Rules[0].Categories, "comes-later")
	must.Do(t, f.Platform.SetRuleset(mem.Account, published))
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged")
	f.wantWaves(report,
		"2: wave 2 of 3 waits until wave 1 is applied and its soak time is over", "3: wave 2 of 3 waits until wave 1 is applied and its soak time is over",
		"4: wave 3 of 3 waits until wave 2 is applied and its soak time is over", "5: wave 3 of 3 waits until wave 2 is applied and its soak time is over")
}
