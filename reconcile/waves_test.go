package reconcile

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// The sequence of waves covers the zones of a commit exactly once, whatever the
// waves are; each wave has the labels and at most the size it should, and none
// leaves to a later one what it could have taken.
func TestWavesCoverEveryZoneOnce(t *testing.T) {
	tiers := []string{"canary", "free", "gold"}
	rapid.Check(t, func(t *rapid.T) {
		var fleet []desired.Zone
		for i := range rapid.IntRange(0, 30).Draw(t, "zones") {
			fleet = append(fleet, desired.Zone{ID: mem.FleetZone(i), Labels: map[string]string{"tier": rapid.SampledFrom(tiers).Draw(t, "tier")}})
		}
		var waves []Wave
		for range rapid.IntRange(1, 4).Draw(t, "waves") {
			w := Wave{Labels: rapid.SampledFrom([]diff.Labels{nil, {"tier": "canary"}, {"tier": "gold"}, {"tier": "none"}}).Draw(t, "labels")}
			switch rapid.IntRange(0, 2).Draw(t, "size") {
			case 1:
				w.Count = rapid.IntRange(1, 9).Draw(t, "count")
			case 2:
				w.Percent = rapid.IntRange(1, 100).Draw(t, "percent")
			}
			waves = append(waves, w)
		}
		got := assign(waves, fleet)
		if len(got) != len(fleet) {
			t.Fatalf("%d of %d zones", len(got), len(fleet))
		}
		members := map[int]int{}
		for _, z := range fleet {
			n := got[z.ID].Wave
			members[n]++
			if n < 1 || n > len(waves)+1 || got[z.ID].Outcome != ZonePending {
				t.Fatalf("zone %s is %+v", z.ID, got[z.ID])
			}
			if n <= len(waves) && !waves[n-1].Labels.Selects(z.Labels) {
				t.Fatalf("zone %s with %v is in wave %d of %v", z.ID, z.Labels, n, waves[n-1].Labels)
			}
		}
		for i, w := range waves {
			most := len(fleet)
			if w.Count > 0 {
				most = w.Count
			}
			if w.Percent > 0 {
				for most = 1; most*100 < w.Percent*len(fleet); most++ {
				}
			}
			if members[i+1] > most {
				t.Fatalf("wave %d has %d zones, at most %d", i+1, members[i+1], most)
			}
			for _, z := range fleet {
				if members[i+1] < most && got[z.ID].Wave > i+1 && w.Labels.Selects(z.Labels) {
					t.Fatalf("wave %d has %d of %d zones and left out %s", i+1, members[i+1], most, z.ID)
				}
			}
		}
	})
}

var careful = Halt{NonConvergent: 1, FailedPercent: 5}

// inWaves is a world of n zones whose first commit is in force, and whose next
// one goes through waves of one zone, two zones, and the rest.
func inWaves(t *testing.T, n int) *world {
	w := newWorld(t, n)
	w.repo.push("c1", zones(n, removing(core("xss")))...)
	w.converge(sweep)
	w.guard(threeWaves)
	w.repo.push("c2", zones(n, removing(core("php")))...)
	return w
}

var threeWaves = Guards{Waves: []Wave{{Count: 1, Soak: 30 * time.Minute, Halt: careful}, {Count: 2, Soak: time.Hour, Halt: careful}}}

// tolerating is threeWaves with a second wave of which a share may fail.
func tolerating(percent int) Guards {
	g := Guards{Waves: slices.Clone(threeWaves.Waves)}
	g.Waves[1].Halt.FailedPercent = percent
	return g
}

// wantWaves checks which zones wait for their wave, and for what.
func wantWaves(t *testing.T, r Report, want ...string) {
	t.Helper()
	got := []string{}
	for _, c := range r.Plan.Changes {
		if c.Refused != nil {
			if c.Refused.Guard != "wave" {
				t.Errorf("%s is refused by %s", c.Zone, c.Refused.Guard)
			}
			got = append(got, strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(c.Zone, "zone-"), ".example"), "0")+": "+c.Refused.Reason)
		}
	}
	if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
		t.Errorf("waiting (-want +got):\n%s", d)
	}
}

func TestWavesOneAfterTheOther(t *testing.T) {
	w := inWaves(t, 5)
	report, calls := w.run(syncing)
	wantOutcomes(t, report, "1 converged")
	wantWaves(t, report,
		"2: wave 2 of 3 waits until wave 1 has been applied and has soaked", "3: wave 2 of 3 waits until wave 1 has been applied and has soaked",
		"4: wave 3 of 3 waits until wave 2 has been applied and has soaked", "5: wave 3 of 3 waits until wave 2 has been applied and has soaked")
	w.wantCalls(calls, "list", "read 1", "read 2", "read 3", "read 4", "read 5", "write 1", "read 1")

	w.clock.advance(29 * time.Minute)
	if _, calls = w.run(syncing); len(calls) != 0 {
		t.Errorf("nothing is due: %v", calls)
	}
	report, _ = w.run(sweep)
	wantWaves(t, report, "2: wave 2 of 3 may start at 2026-01-01T00:30:00Z", "3: wave 2 of 3 may start at 2026-01-01T00:30:00Z",
		"4: wave 3 of 3 waits until wave 2 has been applied and has soaked", "5: wave 3 of 3 waits until wave 2 has been applied and has soaked")

	w.clock.advance(time.Minute)
	report, calls = w.run(syncing)
	w.wantCalls(calls, "list", "read 2", "read 3", "write 2", "read 2", "write 3", "read 3")
	wantOutcomes(t, report, "2 converged", "3 converged")

	w.clock.advance(time.Hour)
	report, calls = w.converge(syncing)
	w.wantCalls(calls, "list", "read 4", "read 5", "write 4", "read 4", "write 5", "read 5")
	wantOutcomes(t, report, "4 converged", "5 converged")
	if got := w.recall().Rollout; !got.Equal(Rollout{Commit: "c2"}) {
		t.Errorf("on record is still %+v", got)
	}
	w.converge(sweep)
}

// TestDriftIsNotWaved: what a rollout does not touch, or has done already, is
// healed at once, and so is everything when no rollout goes on.
func TestDriftIsNotWaved(t *testing.T) {
	w := inWaves(t, 5)
	w.repo.push("c2", append(zones(4, removing(core("php"))), zone(5, removing(core("xss"))))...)
	w.run(syncing)
	for _, i := range []int{1, 4, 5} {
		w.click(i, func(o *edge.Overrides) { o.Categories = nil })
	}
	report, _ := w.run(sweep)
	wantOutcomes(t, report, "1 converged", "5 converged")

	calm := inWaves(t, 5)
	calm.repo.head = "c1"
	for i := 1; i <= 5; i++ {
		calm.click(i, func(o *edge.Overrides) { o.Categories = nil })
	}
	report, _ = calm.converge(sweep)
	if len(report.Results) != 5 {
		t.Errorf("results %v", outcomes(report))
	}
}

// TestWavesOverARestart: at every point a new process goes on where the old one
// was, and never faster.
func TestWavesOverARestart(t *testing.T) {
	w := inWaves(t, 5)
	step := func(order Order, want ...string) {
		t.Helper()
		w.restart()
		w.guard(threeWaves)
		report, _ := w.run(order)
		wantOutcomes(t, report, want...)
	}
	step(sweep, "1 converged")
	step(sweep)
	w.clock.advance(30 * time.Minute)
	step(manual, "2 converged", "3 converged")
	step(sweep)
	w.clock.advance(time.Hour)
	step(sweep, "4 converged", "5 converged")
	step(sweep)
}

// TestAllNewGoesInWaves: without an earlier commit to compare with, everything is
// new.
func TestAllNewGoesInWaves(t *testing.T) {
	w := newWorld(t, 3)
	w.guard(threeWaves)
	w.repo.push("c1", zones(3, core("xss"))...)
	report, _ := w.run(sweep)
	wantOutcomes(t, report, "1 converged")
}

// TestOneZoneByNameIsNoWayAround: a run over one zone accepts the commit, and the
// others still wait for their turn; the one as well.
func TestOneZoneByNameIsNoWayAround(t *testing.T) {
	w := inWaves(t, 5)
	order := manual
	order.Zones = []string{zoneKey(4)}
	report, _ := w.run(order)
	wantWaves(t, report, "4: wave 3 of 3 waits until wave 2 has been applied and has soaked")
	report, _ = w.run(sweep)
	wantOutcomes(t, report, "1 converged")
}

func TestAPlanDoesNotBeginARollout(t *testing.T) {
	w := inWaves(t, 5)
	order := manual
	order.PlanOnly = true
	report, _ := w.run(order)
	if len(refusals(report)) != 4 || w.recall().Rollout.Commit != "" {
		t.Errorf("refused %v, on record %+v", refusals(report), w.recall().Rollout)
	}
}

// TestANewCommitBeginsAnew: with its own zones, and with those that the commit
// before it had not reached.
func TestANewCommitBeginsAnew(t *testing.T) {
	w := inWaves(t, 6)
	w.run(syncing)
	w.clock.advance(30 * time.Minute)
	w.run(syncing) // 1, 2, 3 are done
	declared := zones(6, removing(core("php")))
	declared[2] = zone(3, removing(core("sqli")))
	w.repo.push("c3", declared...)
	report, _ := w.run(syncing)
	wantOutcomes(t, report, "3 converged") // the first wave, of one
	want := map[edge.ZoneID]RolloutZone{
		mem.FleetZone(3): {1, ZoneDone}, mem.FleetZone(4): {2, ""}, mem.FleetZone(5): {2, ""}, mem.FleetZone(6): {3, ""},
	}
	if d := cmp.Diff(want, w.recall().Rollout.Zones); d != "" {
		t.Errorf("on record (-want +got):\n%s", d)
	}
	w.clock.advance(30 * time.Minute)
	report, _ = w.run(syncing)
	wantOutcomes(t, report, "4 converged", "5 converged")
}

func TestHaltOnNonConvergent(t *testing.T) {
	w := inWaves(t, 5)
	w.tamper.write = func(_ context.Context, zone edge.ZoneID, _ func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
		return nil, w.platform.SetEntryPoint(zone, w.entry(1)) // another version, and nothing in it
	}
	report, _ := w.run(syncing)
	if report.Count(NonConvergent) == 0 {
		t.Fatalf("results %v", outcomes(report))
	}
	w.tamper.write = nil
	w.clock.advance(24 * time.Hour)
	for range 2 {
		report, _ = w.run(sweep)
		if got := refusals(report); len(got) != 5 || len(report.Results) != 0 {
			t.Errorf("refused %v, results %v", got, outcomes(report))
		}
		if got := report.Plan.Changes[4].Refused.Reason; got != "wave 3 of 3 is halted: 1 of the 1 zones of wave 1 did not keep the change" {
			t.Errorf("got %q", got)
		}
	}
	w.repo.push("c3", zones(5, removing(core("sqli")))...)
	report, _ = w.run(syncing)
	if got := refusals(report); len(got) != 5 || len(report.Results) != 0 {
		t.Errorf("a commit does not make it go on: refused %v, results %v", got, outcomes(report))
	}
	w.resume()
	report, _ = w.run(syncing)
	wantOutcomes(t, report, "1 converged")
	w.clock.advance(30 * time.Minute)
	report, _ = w.run(syncing)
	wantOutcomes(t, report, "2 converged", "3 converged")
}

func (w *world) resume() {
	w.t.Helper()
	if err := w.memory.Roll(w.t.Context(), Rollout.Resumed); err != nil {
		w.t.Fatal(err)
	}
}

func TestHaltOnFailures(t *testing.T) {
	w := inWaves(t, 5)
	w.guard(tolerating(49))
	w.run(syncing)
	w.clock.advance(30 * time.Minute)
	w.tamper.write = func(_ context.Context, zone edge.ZoneID, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
		if zone == mem.FleetZone(3) {
			return nil, errForbidden
		}
		return send()
	}
	report, _ := w.run(syncing)
	wantOutcomes(t, report, "2 converged", "3 failed")
	w.clock.advance(2 * time.Hour)
	report, _ = w.run(sweep)
	if got := report.Plan.Changes[0].Refused; got == nil || got.Reason != "wave 2 of 3 is halted: 1 of the 2 zones of wave 2 failed" || len(report.Results) != 0 {
		t.Errorf("refused %+v, results %v", got, outcomes(report))
	}
	w.resume()
	report, _ = w.run(syncing) // the soak begins: what failed is accepted, and tried again
	wantOutcomes(t, report, "3 failed")
	w.clock.advance(time.Hour)
	report, _ = w.run(sweep)
	wantOutcomes(t, report, "3 failed", "4 converged", "5 converged")
}

// TestFewFailuresDoNotHalt: below the share the others go on, and one that failed
// is tried again beside them.
func TestFewFailuresDoNotHalt(t *testing.T) {
	w := inWaves(t, 5)
	w.guard(tolerating(50))
	w.run(syncing)
	w.clock.advance(30 * time.Minute)
	w.tamper.read = failZone(3, errDown)
	report, _ := w.run(syncing)
	wantOutcomes(t, report, "2 converged")
	w.tamper.read = nil
	w.clock.advance(time.Hour)
	report, _ = w.converge(sweep)
	wantOutcomes(t, report, "3 converged", "4 converged", "5 converged")
}

// TestWhoWaitsForWhom: a zone that needs a person holds nobody up; one that is
// frozen, not approved or could not be read does.
func TestWhoWaitsForWhom(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*world)
		goes  bool
	}{
		"undecided": {func(w *world) {
			w.click(1, func(o *edge.Overrides) {
				o.Categories = append(o.Categories, edge.CategoryOverride{Category: "rce", Enabled: new(false)})
			})
		}, true},
		"held":         {func(w *world) { w.memory.Hold(diff.Hold{Zone: zoneKey(1), Until: w.clock.Now().Add(99 * time.Hour)}) }, true},
		"frozen":       {func(w *world) { w.Guards.Freezes = []Freeze{window(t, "0 0 * * *", 30*24*time.Hour, time.UTC)} }, false},
		"unreadable":   {func(w *world) { w.tamper.read = failZone(1, errDown) }, false},
		"forbidden":    {func(w *world) { w.tamper.read = failZone(1, errForbidden) }, false},
		"not approved": {func(w *world) { w.Guards.Rules = []diff.Rule{{Name: "a", Approve: diff.ApproveAll}} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 5)
			w.repo.push("c1", zones(5, core("xss"))...)
			w.converge(sweep)
			w.guard(threeWaves)
			w.repo.push("c2", zones(5, core("php"))...)
			test.spoil(w)
			report, _ := w.run(sweep)
			if len(report.Results) != 0 {
				t.Fatalf("results %v", outcomes(report))
			}
			if got := !w.recall().Rollout.Since.IsZero(); got != test.goes {
				t.Errorf("the first wave counts as done: %v", got)
			}
		})
	}
}

// TestNoWaves: without any configured nothing waits, and nothing is on record.
func TestNoWaves(t *testing.T) {
	w := inWaves(t, 5)
	w.guard(Guards{})
	w.converge(syncing)
	if got := w.recall().Rollout; got.Commit != "" {
		t.Errorf("on record is %+v", got)
	}
}

// TestARolloutEnds: whatever becomes of its zones, a rollout that nobody halts
// ends, and each zone is written in its own wave or later.
func TestARolloutEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fleet []desired.Zone
		for i := range rapid.IntRange(1, 12).Draw(t, "zones") {
			fleet = append(fleet, desired.Zone{ID: mem.FleetZone(i)})
		}
		waves := []Wave{{Count: rapid.IntRange(1, 5).Draw(t, "count"), Soak: time.Hour, Halt: careful}, {Labels: diff.Labels{"none": ""}}, {Percent: 30, Soak: time.Minute, Halt: Halt{FailedPercent: 60}}}
		o := Rollout{Commit: "c", Zones: assign(waves, fleet)}
		o.Wave = o.after(0)
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for step := 0; len(o.Zones) > 0; step++ {
			if step > 500 {
				t.Fatalf("it does not end: %+v", o)
			}
			f := o.facts(waves, now)
			seen := map[edge.ZoneID]ZoneOutcome{}
			for _, z := range fleet {
				if !f.Delays(z.ID) && f.Wave[z.ID] > 0 {
					seen[z.ID] = rapid.SampledFrom(severity).Draw(t, "outcome")
				}
				if f.Delays(z.ID) && f.Halted == "" && o.Zones[z.ID].Wave <= o.Wave {
					t.Fatalf("zone %s of wave %d waits in wave %d", z.ID, o.Zones[z.ID].Wave, o.Wave)
				}
			}
			before := o
			o = o.noted(waves, f.Open, seen, now)
			if o.Halted != "" {
				o = o.Resumed()
			}
			if o.Wave > before.Wave && (before.Since.IsZero() || now.Before(before.Since.Add(soak(waves, before.Wave)))) {
				t.Fatalf("wave %d began at %s, before wave %d had soaked since %s", o.Wave, now, before.Wave, before.Since)
			}
			now = now.Add(rapid.SampledFrom([]time.Duration{time.Second, 30 * time.Minute, time.Hour}).Draw(t, "later"))
		}
	})
}

// TestNoted: a run says nothing of waves that were not open to it, and a halted
// rollout stays so whatever its zones do.
func TestNoted(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	zones := func(first, second ZoneOutcome) map[edge.ZoneID]RolloutZone {
		return map[edge.ZoneID]RolloutZone{"a": {1, first}, "b": {2, second}}
	}
	for name, test := range map[string]struct {
		before, want Rollout
		open         int
		seen         map[edge.ZoneID]ZoneOutcome
	}{
		"a later wave": {
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZonePending, ZonePending)},
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZoneDone, ZonePending), Since: now},
			1,
			map[edge.ZoneID]ZoneOutcome{"a": ZoneDone, "b": ZoneFailed, "elsewhere": ZoneFailed},
		},
		"halted, and well by now": {
			Rollout{Commit: "c", Wave: 2, Halted: "why", Zones: zones(ZoneDone, ZoneFailed)},
			Rollout{Commit: "c", Wave: 2, Halted: "why", Zones: zones(ZoneDone, ZoneDone)},
			2,
			map[edge.ZoneID]ZoneOutcome{"b": ZoneDone},
		},
		"soaking on": {
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZoneDone, ZonePending), Since: now.Add(-time.Minute)},
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZoneDone, ZonePending), Since: now.Add(-time.Minute)},
			1,
			map[edge.ZoneID]ZoneOutcome{"a": ZoneDone},
		},
		"halted while it soaks": {
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZoneDone, ZonePending), Since: now.Add(-time.Minute)},
			Rollout{Commit: "c", Wave: 1, Halted: "1 of the 1 zones of wave 1 did not keep the change", Zones: zones(ZoneNonConvergent, ZonePending), Since: now.Add(-time.Minute)},
			1,
			map[edge.ZoneID]ZoneOutcome{"a": ZoneNonConvergent},
		},
		"accepted, and failing on": {
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZoneAccepted, ZonePending)},
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZoneAccepted, ZonePending), Since: now},
			1,
			map[edge.ZoneID]ZoneOutcome{"a": ZoneFailed},
		},
		"not kept, and refused since": {
			Rollout{Commit: "c", Wave: 1, Zones: zones(ZoneNonConvergent, ZonePending)},
			Rollout{Commit: "c", Wave: 1, Halted: "1 of the 1 zones of wave 1 did not keep the change", Zones: zones(ZoneNonConvergent, ZonePending)},
			1,
			map[edge.ZoneID]ZoneOutcome{"a": ZoneSkipped},
		},
	} {
		got := test.before.noted([]Wave{{Count: 1, Soak: time.Hour, Halt: careful}}, test.open, test.seen, now)
		if !got.Equal(test.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

// TestBeginBesideOthers: between recalling and recording another process may have
// begun the same rollout, and a person may have let the one before it go on.
func TestBeginBesideOthers(t *testing.T) {
	w := inWaves(t, 2)
	next := Rollout{Commit: "c2", Wave: 1, Halted: "why", Zones: map[edge.ZoneID]RolloutZone{"a": {1, ZonePending}}}
	begin := func(have, want Rollout) {
		t.Helper()
		must(t, w.memory.Roll(t.Context(), func(Rollout) Rollout { return have }))
		must(t, w.begin(t.Context(), next))
		if got := w.recall().Rollout; !got.Equal(want) {
			t.Errorf("on record is %+v, want %+v", got, want)
		}
	}
	further := next
	further.Zones = map[edge.ZoneID]RolloutZone{"a": {1, ZoneDone}}
	begin(further, further)
	begin(Rollout{Commit: "c1", Halted: "why"}, next)
	resumed := next
	resumed.Halted = ""
	begin(Rollout{Commit: "c1"}, resumed)
}
