package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// wantOutcomes fails where zones have other outcomes than these.
func (f *fixture) wantOutcomes(want map[inspect.Outcome]int) {
	f.t.Helper()
	s, sum := f.Status(), 0
	for _, outcome := range inspect.Outcomes() {
		got, there := s.Zones.Outcomes[outcome]
		if !there || got != want[outcome] {
			f.t.Errorf("%d zones are %s, want %d", got, outcome, want[outcome])
		}
		sum += got
	}
	if sum != s.Zones.Declared {
		f.t.Errorf("%d zones have an outcome, and %d are declared", sum, s.Zones.Declared)
	}
}

// seenAs is what is known of a zone.
func (f *fixture) seenAs(i int) inspect.Zone {
	f.t.Helper()
	list, _ := f.Zones(zoneKey(i))
	if len(list.Zones) != 1 {
		f.t.Fatalf("%d zones are called %s", len(list.Zones), zoneKey(i))
	}
	return list.Zones[0]
}

// wantDecision fails where the first decision about a zone is another one.
func (f *fixture) wantDecision(i int, stage inspect.Stage, outcome inspect.Outcome, guard diff.Guard, since time.Time) {
	f.t.Helper()
	z := f.seenAs(i)
	if len(z.Decisions) == 0 {
		f.t.Fatalf("nothing was decided about %s: %v", z.Zone, z.Why)
	}
	d := z.Decisions[0]
	if z.Outcome != outcome || d.Stage != stage || d.Outcome != outcome || d.Guard != guard {
		f.t.Errorf("%s: %s, by stage %s, guard %q (%s); want %s by %s, guard %q", z.Zone, z.Outcome, d.Stage, d.Guard, d.Reason, outcome, stage, guard)
	}
	if !d.Since.Equal(since) && !since.IsZero() {
		f.t.Errorf("since %s, want %s", d.Since, since)
	}
	if d.Reason == "" {
		f.t.Errorf("no reason: %+v", d)
	}
}

func TestStatusOfAFleet(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 3)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 3})
		s := f.Status()
		if s.Commit.InForce != "c1" || s.Commit.Wanted != "c1" || s.Commit.Held != nil || s.Source.LastSuccess.IsZero() || s.Source.Error != "" {
			t.Errorf("commit %+v, source %+v", s.Commit, s.Source)
		}
		if s.Zones.Drift != nil || s.Zones.Observed.IsZero() || len(s.Zones.Notable) != 0 || s.Queue[4].Waiting != 3 {
			t.Errorf("zones %+v, queue %+v", s.Zones, s.Queue)
		}
		if got := s.Judged().Verdict; got != inspect.Healthy {
			t.Errorf("%s: %v", got, s.Judged().Reasons)
		}
		z := f.seenAs(2)
		if z.LookedAt.IsZero() || !z.WrittenAt.Equal(z.LookedAt) || len(z.Decisions)+len(z.Fields) != 0 || z.Unread != "" || !z.Differs.IsZero() {
			t.Errorf("%+v", z)
		}
		if z.Next == nil || z.Next.Priority != "sweep" || z.Next.Seconds <= 0 || !strings.HasPrefix(z.Why[1], "Declared: core: ") || !strings.HasPrefix(z.Why[2], "Stage prove") {
			t.Errorf("next %+v, why %q", z.Next, z.Why)
		}
		for _, r := range f.fleet.rows.all {
			if r.last.notable != nil {
				t.Errorf("%s is in sync, and more than two times are kept of it", r.zone.Key)
			}
		}

		// By id; by a name that is nearly one; and what left is forgotten.
		if list, _ := f.Zones(z.Scope.String()); len(list.Zones) != 1 || list.Zones[0].Zone != z.Zone {
			t.Errorf("by id: %+v", list)
		}
		if list, near := f.Zones("zone-00002.exampel"); len(list.Zones) != 0 || near != zoneKey(2) {
			t.Errorf("near is %q", near)
		}
		f.push("c2", fleet(2, "xss")...)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 2})
		if n := len(f.fleet.rows.all); n != 2 {
			t.Errorf("%d zones are remembered, of 2", n)
		}
	})
}

func TestStatusOfAHeldZone(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 2)
		f.Sweep, f.Interval = cron.Every(10*time.Minute), 10*time.Minute
		f.repo.Push("c1", fleet(2, "xss")...)
		f.start()
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(2 * time.Hour), Reason: "INC-1"})
		f.pass(soon)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 2}) // held, and as declared
		f.click(1, "php")
		f.lookNow()
		first := f.seenAs(1)
		f.pass(25 * time.Minute)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 1, inspect.Waiting: 1})
		f.wantDecision(1, inspect.StageGuard, inspect.Waiting, "hold", first.Decisions[0].Since)
		z := f.seenAs(1)
		if !z.Drift || !z.Differs.Equal(first.Differs) || z.Differs.IsZero() || z.Hold == nil || z.Hold.Reason != "INC-1" {
			t.Errorf("%+v", z)
		}
		if len(z.Fields) != 2 || z.Fields[0].Deployment != "core" || !z.LookedAt.After(first.LookedAt) {
			t.Errorf("fields %+v", z.Fields)
		}
		s := f.Status().Judged()
		if s.Zones.Drift == nil || s.Zones.Drift.Zone != zoneKey(1) || !s.Zones.Drift.Since.Equal(z.Differs) || s.Zones.Drift.AgeSeconds < 1500 {
			t.Errorf("drift %+v", s.Zones.Drift)
		}
		if s.Verdict != inspect.Working || len(s.Holds) != 1 || len(s.Zones.Notable) != 1 {
			t.Errorf("%s: %v, holds %v, notable %v", s.Verdict, s.Reasons, s.Holds, s.Zones.Notable)
		}
		f.pass(2 * time.Hour)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 2})
		if s := f.Status(); s.Zones.Drift != nil || s.Judged().Verdict != inspect.Healthy {
			t.Errorf("%+v", s)
		}
	})
}

func TestStatusOfRefusedChanges(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 4)
		f.Guards = atMost(2)
		f.repo.Push("c1", fleet(2, "xss")...)
		f.start()
		f.push("c2", fleet(4, "rce")...)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.Refused: 4})
		f.wantDecision(3, inspect.StageGuard, inspect.Refused, "limit", time.Time{})
		if z := f.seenAs(3); z.Drift || z.Decisions[0].Approve == "" || len(z.Fields) == 0 {
			t.Errorf("%+v", z)
		}
		if s := f.Status().Judged(); s.Verdict != inspect.Attention || s.Zones.Drift != nil {
			t.Errorf("%s: %v", s.Verdict, s.Reasons)
		}
	})
}

func TestStatusOfFailingReads(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 2)
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(9 * time.Hour), Reason: "INC-1"})
		f.pass(soon)
		f.click(1, "php")
		f.lookNow()
		drift, read := f.seenAs(1).Differs, f.Status().Zones.Observed

		f.calls.set(func(_ context.Context, c call) error {
			if c.verb == "read" {
				return errDown
			}
			return nil
		})
		f.lookNow()
		first := f.seenAs(1).Decisions[0].Since
		f.pass(20 * time.Minute)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.Unknown: 2})
		f.wantDecision(1, inspect.StageRead, inspect.Unknown, "", first)
		z := f.seenAs(1)
		if !z.Drift || !z.Differs.Equal(drift) { // nothing is known of it being healed
			t.Errorf("drift since %s, want %s", z.Differs, drift)
		}
		if z.Unread == "" || len(z.Fields) != 0 || z.Next == nil || z.Next.Priority != "retry" {
			t.Errorf("%+v", z)
		}
		s := f.Status().Judged()
		if !s.Zones.Observed.Equal(read) || s.Work.Retried != 2 || s.Verdict != inspect.Attention {
			t.Errorf("observed %s, want %s; work %+v; %s: %v", s.Zones.Observed, read, s.Work, s.Verdict, s.Reasons)
		}
	})
}

func TestStatusOfAPlatformThatIsDown(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 40)
		f.Lanes.All[0].Concurrency = 4
		f.repo.Push("c1", fleet(40, "xss")...)
		f.start()
		f.calls.set(func(_ context.Context, c call) error {
			if c.verb == "read" {
				return errDown
			}
			return nil
		})
		f.lookNow()
		s := f.Status()
		if !s.Work.PlatformDown || s.Queue[4].Due == 0 || s.Queue[4].OldestSeconds <= 0 {
			t.Fatalf("work %+v, queue %+v", s.Work, s.Queue)
		}
		waits := map[string]int{}
		for i := 1; i <= 40; i++ {
			if n := f.seenAs(i).Next; n != nil {
				waits[n.WaitsFor]++
			}
		}
		if waits[inspect.WaitsPlatform] < 20 {
			t.Errorf("zones wait for %v", waits)
		}
		f.calls.set(nil)
		f.pass(5 * time.Minute)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 40})
		if f.Status().Work.PlatformDown {
			t.Error("still down")
		}
	})
}

func TestStatusOfFailingWrites(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.calls.answerBy(func(call, func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
			return nil, &edge.Error{Status: 400, Details: []edge.ErrorDetail{{Code: 20106, Message: "no such parameter"}}}
		})
		f.repo.Push("c1", fleet(1, "xss")...)
		f.start()
		f.wantOutcomes(map[inspect.Outcome]int{inspect.Failed: 1})
		f.wantDecision(1, inspect.StageWrite, inspect.Failed, "", time.Time{})
		if z := f.seenAs(1); !strings.Contains(z.Decisions[0].Reason, "20106") || z.Drift || z.Differs.IsZero() || !z.WrittenAt.IsZero() {
			t.Errorf("%+v", z)
		}
		// Answers, and keeps nothing.
		f.calls.answerBy(func(_ call, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
			answer, err := send()
			entry := f.Entry(1)
			entry.Rules[0].ActionParameters.Overrides = nil
			return answer, errors.Join(err, f.Platform.SetEntryPoint(mem.FleetZone(1), entry))
		})
		f.pass(time.Minute)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.Failed: 1}) // somebody else may have written
	})
}

func TestStatusOfAHeldCommit(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 2)
		f.repo.Commit("c2", commit{State: stateOf("c2"), Problems: []desired.Problem{{Message: "unknown field", Origin: desired.Origin{File: "a.cue", Line: 3}}}})
		f.source.Poke()
		f.pass(soon)
		first := f.Status().Commit
		if first.InForce != "c1" || first.Wanted != "c2" || first.Held == nil || !strings.Contains(first.Held.Problems[0], "unknown field") {
			t.Fatalf("%+v", first)
		}
		f.repo.FetchBy(func(context.Context) error { return errors.New("no route to host") })
		f.pass(10 * time.Minute)
		s := f.Status().Judged()
		if held := s.Commit.Held; held == nil || !held.Since.Equal(first.Held.Since) { // it is so still
			t.Errorf("%+v", s.Commit)
		}
		if s.Source.Failures < 2 || !strings.Contains(s.Source.Error, "no route to host") || s.Source.AgeSeconds < 500 || s.Verdict != inspect.Attention {
			t.Errorf("%+v: %s", s.Source, s.Verdict)
		}
		f.repo.FetchBy(nil)
		f.repo.Push("c3", fleet(2, "xss")...)
		f.pass(10 * time.Minute)
		if s := f.Status().Judged(); s.Commit.Held != nil || s.Source.Error != "" || s.Source.Failures != 0 || s.Verdict != inspect.Healthy {
			t.Errorf("%+v %+v: %s %v", s.Commit, s.Source, s.Verdict, s.Reasons)
		}
	})
}

func TestStatusWithoutABudget(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 30)
		f.Lanes.All[0].Budget = diff.Budget{Requests: 600, Per: 5 * time.Minute}
		f.repo.Push("c1", fleet(30, "xss")...)
		f.start()
		if waited := f.Status().Budget.WaitedSeconds; waited > 1 {
			t.Errorf("zones have waited for %v s", waited)
		}
		f.room.Store(0)
		f.push("c2", fleet(30, "rce")...)
		f.pass(time.Minute)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.Pending: 30})
		f.wantDecision(7, inspect.StageQueue, inspect.Pending, "", time.Time{})
		z := f.seenAs(7)
		if z.Next == nil || z.Next.WaitsFor != inspect.WaitsBudget || z.Next.Priority != "bulk" || !strings.Contains(z.Next.Reason, "c2") {
			t.Errorf("next %+v", z.Next)
		}
		s := f.Status().Judged()
		if s.Budget.WaitedSeconds < 55 || s.Budget.WaitedSeconds > 70 || s.Verdict != inspect.Working {
			t.Errorf("waited for %v s; %s: %v", s.Budget.WaitedSeconds, s.Verdict, s.Reasons)
		}
		f.room.Store(-1)
		f.pass(time.Minute)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 30})
	})
}

func TestStatusAfterARestart(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 8)
		f.Lanes.All[0].Budget = diff.Budget{Requests: 20, Per: 5 * time.Minute} // too small to look at all at once
		f.repo.Push("c1", fleet(8, "xss")...)
		f.start()
		f.pass(time.Hour)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 8})
		f.restart()
		s := f.Status().Judged()
		if n := s.Zones.Outcomes[inspect.NotRead]; n < 6 || s.Verdict != inspect.Healthy {
			t.Errorf("%+v: %s, %v", s.Zones.Outcomes, s.Verdict, s.Reasons)
		}
		if z := f.seenAs(1); z.Outcome == inspect.NotRead && (!z.LookedAt.IsZero() || z.Unread == "" || z.Next == nil) {
			t.Errorf("%+v", z)
		}
	})
}

func TestStatusOfFreezesAndWaves(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 4)
		f.Guards = reconcile.Guards{Waves: []reconcile.Wave{{Count: 1, Soak: time.Hour}}}
		f.repo.Push("c1", fleet(4, "xss")...)
		f.start()
		s := f.Status().Judged()
		if s.Rollout == nil || s.Rollout.Open != 1 || s.Rollout.Waves != 2 || s.Rollout.Next.IsZero() || s.Verdict != inspect.Working {
			t.Fatalf("%+v: %s %v", s.Rollout, s.Verdict, s.Reasons)
		}
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 1, inspect.Waiting: 3})
		f.wantDecision(4, inspect.StageGuard, inspect.Waiting, "wave", time.Time{})
		f.pass(90 * time.Minute)
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 4})
		if s := f.Status(); s.Rollout != nil {
			t.Errorf("%+v", s.Rollout)
		}
	})
}

// TestStatusWhileMuchHappens asks all the time, from several goroutines, while commits
// come and go: under the race detector, and each zone is counted once in each answer.
func TestStatusWhileMuchHappens(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 20)
		f.repo.Push("c0", fleet(20, "xss")...)
		f.start()
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for ctx.Err() == nil {
					s := f.Status()
					sum := 0
					for _, n := range s.Zones.Outcomes {
						sum += n
					}
					if sum != s.Zones.Declared {
						t.Errorf("%d zones have an outcome, and %d are declared", sum, s.Zones.Declared)
					}
					list, _ := f.Zones(zoneKey(3))
					for _, z := range list.Zones {
						if len(z.Why) < 2 || (len(z.Decisions) == 0) != (z.Outcome == inspect.InSync || z.Outcome == inspect.NotRead) {
							t.Errorf("%+v", z)
						}
					}
					time.Sleep(31 * time.Millisecond)
				}
			})
		}
		tags := []string{"rce", "php", "xss"}
		for i := range 12 {
			f.drift(5)
			f.push("c"+string(rune('1'+i)), fleet(20-i, tags[i%3])...)
		}
		cancel()
		all.Wait()
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 9})
	})
}

// TestNotableZones: of many zones those are named that are the most severe, then the
// oldest.
func TestNotableZones(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []inspect.Notable
	for i := range 100 {
		outcome := []inspect.Outcome{inspect.Waiting, inspect.Unknown, inspect.Refused, inspect.Pending}[i%4]
		all = insert(all, inspect.Notable{Scope: edge.ZoneScope(edge.ZoneID(rune('a' + i))), Outcome: outcome, Since: begin.Add(-time.Duration(i) * time.Second)})
	}
	if len(all) != inspect.MostListed || all[0].Outcome != inspect.Refused || !all[0].Since.Equal(begin.Add(-98*time.Second)) {
		t.Fatalf("%d, the first %+v", len(all), all[0])
	}
	if i := slices.IndexFunc(all, func(n inspect.Notable) bool { return n.Outcome != inspect.Refused }); i != -1 {
		t.Errorf("%d is %+v", i, all[i])
	}
}

func TestStatusOfAnObservedZone(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 2)
		f.Guards = reconcile.Guards{Observe: []guard.Observe{{}}}
		f.repo.Push("c1", fleet(2, "xss")...)
		f.start()
		f.wantOutcomes(map[inspect.Outcome]int{inspect.Observed: 2})
		f.wantDecision(1, inspect.StageGuard, inspect.Observed, "observe", time.Time{})
		if s := f.Status().Judged(); s.Verdict != inspect.Working {
			t.Errorf("%s: %v", s.Verdict, s.Reasons)
		}
	})
}
