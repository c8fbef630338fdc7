package reconcile

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// lookNow has every zone looked at, and waits for it.
func (l *looping) lookNow() {
	l.look <- os.Interrupt
	l.pass(10 * time.Second)
}

// drift switches a tag on again in zones 1 to n.
func (l *looping) drift(n int) {
	for i := 1; i <= n; i++ {
		l.click(i, func(o *edge.Overrides) { o.Categories = nil })
	}
}

// healed counts the zones in which the tag is off.
func (l *looping) healed(n int) (healed int) {
	for i := 1; i <= n; i++ {
		if slices.Equal(l.off(i), []string{"xss"}) {
			healed++
		}
	}
	return healed
}

// A sweep is judged as one by limits, however many slices it comes in, and what it
// has held back is released together.
func TestSweepKeepsToLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, most = 40, int(10)
		l := newLooping(t, n)
		l.Guards.Rules = []diff.Rule{{Name: "fleet", Changes: &diff.Limit{Count: new(most)}}}
		l.Control = l.memory
		l.repo.push("c1", zones(n, core())...)
		l.start()
		defer l.stop()
		for i := 1; i <= n; i += most { // a commit at a time, each small enough
			all := zones(n, core())
			for j := range min(i+most-1, n) {
				all[j] = zone(j+1, core("xss"))
			}
			l.repo.push(fmt.Sprint("up to ", i), all...)
			l.wake <- struct{}{}
			synctest.Wait()
		}
		if got := l.healed(n); got != n {
			t.Fatalf("%d zones to begin with", got)
		}
		l.drift(n)
		l.lookNow()
		first := l.healed(n)
		if first == 0 || first > most {
			t.Errorf("the sweep has changed %d zones, and may %d", first, most)
		}
		for range 2 {
			l.lookNow()
		}
		l.pass(interval2h)
		if got := l.healed(n); got != first {
			t.Errorf("later sweeps have changed %d more", got-first)
		}
		l.told.take()
		l.lookNow()
		digests, together := map[string]int{}, 0
		for _, r := range l.told.take() {
			if r.Trigger == TriggerSync {
				together = len(r.Plan.Changes)
				for _, c := range r.Plan.Changes {
					digests[c.Refused.Digest]++
				}
			}
		}
		if len(digests) != 1 || together != n-first {
			t.Fatalf("held back together: %v, %d of %d", digests, together, n-first)
		}
		for digest := range digests {
			must(t, l.memory.Approve(t.Context(), []Approval{{Digest: digest, Kind: Approved, Who: "kim"}}))
		}
		l.wake <- struct{}{}
		synctest.Wait()
		if got := l.healed(n); got != n {
			t.Errorf("after the approval %d zones are as declared", got)
		}
		l.pass(2 * interval2h)
		if len(l.sweep.touched) != 0 {
			t.Errorf("%d zones are still counted", len(l.sweep.touched))
		}
	})
}

// The sweep leaves what is urgent to others: it sends no more than there is room for.
func TestSweepKeepsToItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 50
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		room := 7
		l.Room = func() int { return room }
		l.told.told = func(int) {
			if calls := l.calls(); len(calls) > room {
				t.Errorf("%d calls with room for %d", len(calls), room)
			}
			l.record.Reset()
			room = 2 + (room+3)%7
		}
		l.record.Reset()
		l.told.take()
		l.look <- os.Interrupt
		l.pass(time.Minute)
		zones := 0
		for _, r := range l.told.take() {
			if r.Sum {
				break
			}
			zones += r.Plan.Summary.Zones
		}
		if zones != n {
			t.Errorf("%d zones were looked at", zones)
		}
		l.record.Reset()
		l.told.told, room = nil, 0
		l.lookNow()
		if calls := l.calls(); len(calls) != 0 {
			t.Errorf("without room: %v", calls)
		}
	})
}

// Nothing is written that was worked out from an old list of rulesets: the vendor
// has replaced the rule that a threshold is about since the sweep began.
func TestSweepListsAgainBeforeItWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20
		l := newLooping(t, n)
		d := core()
		d.Threshold = &desired.Threshold{Score: desired.Declared[int]{Value: 33}, Action: desired.Declared[edge.Action]{Value: "block"}}
		l.repo.push("c1", zones(n, removing(d))...)
		l.start()
		defer l.stop()
		l.lookNow()
		l.pass(50 * time.Minute)
		rulesets := l.platform.State().Accounts[0].Rulesets
		managed := rulesets[slices.IndexFunc(rulesets, func(r edge.Ruleset) bool { return r.ID == mem.CoreRuleset })]
		last := &managed.Rules[len(managed.Rules)-1]
		last.ID = "11111111111111111111111111111111"
		must(t, l.platform.SetRuleset(mem.Account, managed))
		for i := range n {
			l.click(i+1, func(o *edge.Overrides) { o.Rules = nil })
		}
		l.told.take()
		l.record.Reset()
		for len(l.told.last().Results) == 0 {
			l.pass(time.Second)
		}
		healed := l.told.last().Results[0]
		if healed.Outcome != Converged {
			t.Errorf("%s: %v", healed.Outcome, healed.Err)
		}
		for _, zone := range l.platform.State().Zones {
			if zone.ID == healed.Change.ZoneID {
				if rules := zone.EntryPoint.Rules[0].ActionParameters.Overrides.Rules; len(rules) != 1 || rules[0].ID != last.ID {
					t.Errorf("overrides of rules: %+v", rules)
				}
			}
		}
	})
}

// A slice that fails is not passed over, and the sweep pauses longer each time.
func TestSweepPausesAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		var times []time.Time
		l.tamper.list = func(edge.AccountID) error {
			times = append(times, time.Now())
			return errUnauthenticated
		}
		l.pass(6 * time.Hour)
		for i := 1; i < len(times); i++ {
			if gap := times[i].Sub(times[i-1]); gap < firstPause || gap > longestPause+longestRest {
				t.Errorf("try %d comes after %v", i, gap)
			}
		}
		if len(times) < 15 || len(times) > 40 {
			t.Errorf("%d tries in six hours", len(times))
		}
		l.tamper.list = nil
		l.told.take()
		l.record.Reset()
		l.pass(longestPause + time.Minute)
		if got := len(reads(l.calls())); got != n {
			t.Errorf("%d zones are looked at once it works again", got)
		}
	})
}

// What a push finds takes the place of what the sweep found before, and zones that
// leave are nobody's.
func TestSumSaysWhatTheLatestLookFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 30
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		for i := range n { // overrides that nobody has decided on
			l.click(i+1, func(o *edge.Overrides) {
				o.Categories = append(o.Categories, edge.CategoryOverride{Category: "wordpress", Enabled: new(false)})
			})
		}
		sums := func() (sums []Report) {
			for _, r := range l.told.take() {
				if r.Sum {
					sums = append(sums, r)
				}
			}
			return sums
		}
		l.lookNow()
		if got := sums(); len(got) != 1 || got[0].Plan.Summary.Refused != n || got[0].Converged() {
			t.Fatalf("%d sums", len(got))
		}
		l.pass(interval2h / 2)
		sums()
		l.repo.push("c2", zones(n-5, removing(core("xss")))...)
		l.wake <- struct{}{}
		synctest.Wait()
		l.pass(interval2h / 2)
		got := sums()
		if len(got) != 1 || got[0].Commit != "c2" || got[0].Plan.Summary != (diff.Summary{Zones: n - 5, InSync: n - 5}) &&
			got[0].Plan.Summary != (diff.Summary{Zones: n - 5, Changed: got[0].Plan.Summary.Changed, InSync: n - 5 - got[0].Plan.Summary.Changed}) {
			t.Fatalf("%d sums: %+v", len(got), got[0].Plan.Summary)
		}
		if !got[0].Converged() {
			t.Errorf("problems %v, refused %v", got[0].Plan.Problems, refusals(got[0]))
		}
		l.pass(interval2h)
		if last := sums(); len(last) != 1 || last[0].Plan.Summary.InSync != n-5 || len(last[0].Results) != 0 {
			t.Errorf("the round after: %d sums", len(last))
		}
	})
}

// A sweep writes what a run may, in however many slices it comes, and a line at its
// end.
func TestSweepIsNoFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		var out bytes.Buffer
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		l.loop.Reporters = append(l.loop.Reporters, &Logger{Log: slog.New(slog.NewTextHandler(&out, nil))})
		l.drift(n)
		count := func(text string) int { return strings.Count(out.String(), text) }
		for range 2 {
			out.Reset()
			l.drift(n)
			l.lookNow()
			if got := count("change applied and proved"); got != linesPerRun {
				t.Errorf("%d lines about changes", got)
			}
			if got := count("and more of the same"); got != 1 {
				t.Errorf("%d lines about more", got)
			}
			if got := count("run finished"); got != 1 || !strings.Contains(out.String(), "applied=200") {
				t.Errorf("%d lines about the whole:\n%s", got, out.String())
			}
		}
	})
}

func TestParseSchedule(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		expression string
		zone       *time.Location
		at         time.Time
		interval   time.Duration
	}{
		{"0 */2 * * *", nil, noon, 2 * time.Hour},
		{"0 */2 * * *", nil, noon.Add(time.Nanosecond), 2 * time.Hour},
		{"0 */2 * * *", nil, noon.Add(-time.Nanosecond), 2 * time.Hour},
		{"@every 90s", nil, noon, 90 * time.Second},
		{"0 0-6 * * *", nil, noon.Add(-7 * time.Hour), time.Hour}, // at night, by the hour
		{"0 0-6 * * *", nil, noon, 18 * time.Hour},                // and not at day
		{"0 0-6 * * *", berlin, noon.Add(-8 * time.Hour), 18 * time.Hour},
		{"0 3 * * *", nil, noon, 24 * time.Hour},
		{"0 3 * * *", berlin, time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC), 25 * time.Hour}, // clocks are put back
		{"0 0 29 2 *", nil, noon, (365*4 + 1) * 24 * time.Hour},
		{"0 0 30 2 *", nil, noon, 0},
	} {
		schedule, err := ParseSchedule(c.expression, c.zone)
		if err != nil {
			t.Fatal(err)
		}
		var i interval
		for range 2 { // found, and remembered
			if got := i.at(schedule, c.at); got != c.interval {
				t.Errorf("%s at %v: %v, want %v", c.expression, c.at, got, c.interval)
			}
		}
	}
	var i interval
	nightly, _ := ParseSchedule("0 0-6 * * *", nil)
	if i.at(nightly, noon) != 18*time.Hour || i.at(nightly, noon.Add(13*time.Hour)) != time.Hour || i.at(nightly, noon) != 18*time.Hour {
		t.Error("an interval is remembered beyond its end, or before its begin")
	}
}

func TestSizeOfSlices(t *testing.T) {
	for _, c := range []struct {
		size        int
		took        time.Duration
		concurrency int
		want        int
	}{
		{200, sliceTime, 50, 200},
		{200, 2 * sliceTime, 50, 100},
		{200, 100 * sliceTime, 50, 100}, // no less than half of it at once
		{60, 100 * sliceTime, 50, 50},   // and never less than what is read at once
		{200, sliceTime / 10, 50, 400},  // no more than twice
		{1900, 0, 50, 2000},
		{2000, sliceTime / 2, 50, 2000},
	} {
		if got := nextSize(c.size, c.took, c.concurrency); got != c.want {
			t.Errorf("after %d in %v: %d, want %d", c.size, c.took, got, c.want)
		}
	}
}

// A schedule that ticks no more is no reason to spin.
func TestNoSlicesWithoutTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never, err := ParseSchedule("0 0 30 2 *", nil)
		must(t, err)
		l := newLooping(t, 3)
		l.repo.push("c1", zones(3, core("xss"))...)
		l.start()
		defer l.stop()
		l.Sweep = never
		l.told.take()
		l.wake <- struct{}{}
		l.pass(24 * time.Hour)
		if got := l.told.kinds(); len(got) > 10 {
			t.Errorf("%d runs in a day", len(got))
		}
		l.told.take()
		l.record.Reset()
		l.lookNow()
		if got := reads(l.calls()); len(got) != 3 {
			t.Errorf("asked to look now it looks at %v", got)
		}
	})
}

// A slice that finds much to mend does not come to wait for the budget: whoever
// pushes would wait with it.
func TestSlicesLeaveRoomToHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, most = 60, 30
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		l.Room = func() int { return most - len(l.calls()) }
		l.told.told = func(int) {
			if calls := l.calls(); len(calls) > most+requestsPerZone {
				t.Errorf("%d calls, with room for %d", len(calls), most)
			}
		}
		l.drift(n)
		for range 10 {
			l.record.Reset()
			l.lookNow()
		}
		if got := l.healed(n); got != n {
			t.Errorf("%d of %d zones are healed", got, n)
		}
	})
}

// A loop without a schedule, or before anything is in force, has no slices.
func TestNoSlices(t *testing.T) {
	w := newWorld(t, 3)
	w.Sweep = cron.Every(time.Hour)
	if _, ok := w.NextSlice(); ok {
		t.Error("a slice of nothing")
	}
	w.repo.push("c1", zones(3, core("xss"))...)
	w.converge(Order{Trigger: TriggerSync, ChangedOnly: true})
	if wait, ok := w.NextSlice(); !ok || wait <= 0 {
		t.Errorf("after a whole run: %v, %v", wait, ok)
	}
	w.Sweep = nil
	if _, ok := w.NextSlice(); ok {
		t.Error("a slice without a schedule")
	}
}

// A fleet without zones comes around too: its tokens are looked at.
func TestSweepOfNoZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooping(t, 1)
		l.repo.head, l.repo.commits["c1"] = "c1", commit{state: desired.State{Commit: "c1"}}
		l.start()
		defer l.stop()
		l.told.take()
		l.pass(interval2h)
		if got := l.told.kinds(); len(got) < 2 || got[0] != "slice 0" || got[1] != "sum 0" {
			t.Errorf("runs: %v", got)
		}
	})
}

// Memory does not grow with time: not by sweeps, by what they heal, or by commits.
func TestMemoryIsFlatOverAThousandSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20
		l := newLooping(t, n)
		l.repo.push("c0", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		heap := func() uint64 {
			l.told.take()
			l.record.Reset()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		var early uint64
		for sweep := range 1000 {
			if sweep == 100 {
				early = heap()
			}
			if sweep%10 == 0 {
				delete(l.repo.commits, fmt.Sprint("c", sweep-10))
				l.push(fmt.Sprint("c", sweep), []string{"xss", "rce"}[sweep/10%2])
				l.drift(sweep % n)
			}
			l.lookNow()
			l.told.take()
			l.record.Reset()
		}
		if late := heap(); late > early+early/10 {
			t.Errorf("the heap has grown from %d to %d bytes", early, late)
		}
	})
}
