package reconcile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// journal is a reporter that keeps what it was told.
type journal struct {
	mu      sync.Mutex
	reports []Report
	told    func(n int) // after the nth report; nil for nothing
}

func (j *journal) Report(ctx context.Context, report Report) {
	j.mu.Lock()
	j.reports = append(j.reports, report)
	n := len(j.reports)
	j.mu.Unlock()
	if ctx.Err() != nil {
		panic("a reporter is told with a context that has ended")
	}
	if j.told != nil {
		j.told(n)
	}
}

// kinds are the reports in short: "whole 3" is one of three zones.
func (j *journal) kinds() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var kinds []string
	for _, r := range j.reports {
		kind := string(r.Trigger)
		switch {
		case r.Sum:
			kind = "sum"
		case r.Slice:
			kind = "slice"
		case r.Full:
			kind = "whole"
		}
		kinds = append(kinds, fmt.Sprint(kind, " ", r.Plan.Summary.Zones))
	}
	return kinds
}

// last returns what it was told last, before anything the zero report.
func (j *journal) last() Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.reports) == 0 {
		return Report{}
	}
	return j.reports[len(j.reports)-1]
}

// take returns what it was told since it was asked last.
func (j *journal) take() []Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	reports := j.reports
	j.reports = nil
	return reports
}

func (j *journal) want(t *testing.T, want ...string) {
	t.Helper()
	if got := j.kinds(); !slices.Equal(got, want) {
		t.Errorf("runs: %v, want %v", got, want)
	}
	j.take()
}

// looping is a world with a loop that runs in the time of a bubble.
type looping struct {
	*world
	loop *Loop
	wake chan struct{}
	look chan os.Signal
	told *journal
	stop func()
}

const interval2h = 2 * time.Hour

// newLooping is a loop over n zones that has not begun.
func newLooping(t *testing.T, n int) *looping {
	l := &looping{world: newWorld(t, n), wake: make(chan struct{}, 1), look: make(chan os.Signal, 1), told: &journal{}}
	return l
}

// start begins a process.
func (l *looping) start() {
	l.Now = time.Now
	l.Sweep = cron.Every(interval2h)
	l.loop = &Loop{Reconciler: l.Reconciler, Reporters: []Reporter{l.told}, Wake: l.wake, Look: l.look}
	ctx, cancel := context.WithCancel(l.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.loop.Run(ctx)
	}()
	l.stop = func() { cancel(); <-done }
	synctest.Wait()
}

// large has a new process go on where the one before was, as it does for a fleet
// that costs more than a part of the budget.
func (l *looping) large() { l.Budget = diff.Budget{Requests: 1, Per: time.Minute} }

func (l *looping) push(name string, d ...string) {
	n := len(l.platform.State().Zones)
	l.repo.push(name, zones(n, core(d...))...)
	l.wake <- struct{}{}
	synctest.Wait()
}

// pass lets time pass. What a test has set before, hooks of calls see: the recorder
// has a lock that both take.
func (l *looping) pass(d time.Duration) {
	l.record.Calls()
	time.Sleep(d)
	synctest.Wait()
}

// watch notes when each zone is read. What it returns fails where one was not for
// longer than a time.
func (l *looping) watch() func(longest time.Duration) {
	var mu sync.Mutex
	seen := map[edge.ZoneID]time.Time{}
	begin := time.Now()
	note := func(zone edge.ZoneID, longest time.Duration) {
		last, ok := seen[zone]
		if !ok {
			last = begin
		}
		if gone := time.Since(last); gone > longest {
			l.t.Errorf("%s goes unseen for %v", zone, gone)
		}
	}
	l.tamper.read = func(zone edge.ZoneID) error {
		mu.Lock()
		defer mu.Unlock()
		note(zone, interval2h)
		seen[zone] = time.Now()
		return nil
	}
	return func(longest time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		for _, zone := range l.platform.State().Zones {
			note(zone.ID, longest)
		}
	}
}

// reads counts how often each zone was read.
func reads(calls []string) map[string]int {
	n := map[string]int{}
	for _, call := range calls {
		if zone, ok := strings.CutPrefix(call, "read "); ok {
			n[zone]++
		}
	}
	return n
}

func TestLoopLooksAtEverythingFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooping(t, 3)
		l.repo.push("c1", zones(3, core("xss"))...)
		l.start()
		defer l.stop()
		wantOutcomes(t, l.told.reports[0], "1 converged", "2 converged", "3 converged")
		l.told.want(t, "whole 3")
		l.push("c2", "xss", "rce")
		l.told.want(t, "sync 3")
		l.wake <- struct{}{}
		synctest.Wait()
		l.told.want(t, "sync 0")
	})
}

// A round of slices reads each zone once, lists the rulesets once, and is over
// before the interval is.
func TestLoopSweepsEachZoneOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		defer l.stop()
		l.told.take()
		seen := l.watch()
		rounds := 0
		l.record.Reset()
		begin := time.Now()
		l.told.told = func(int) {
			reports := l.told.reports
			sum := reports[len(reports)-1]
			if !sum.Sum {
				return
			}
			rounds++
			if took := time.Since(begin); took < 107*time.Minute || took > 110*time.Minute {
				t.Errorf("round %d took %v", rounds, took)
			}
			calls := l.calls()
			if len(calls) != n+1 || len(reads(calls)) != n {
				t.Errorf("round %d: %d calls, %d zones", rounds, len(calls), len(reads(calls)))
			}
			if !sum.Full || !sum.Converged() || sum.Plan.Summary.Zones != n || sum.Plan.Summary.InSync != n {
				t.Errorf("round %d: %+v", rounds, sum.Plan.Summary)
			}
			if len(reports) < 60 {
				t.Errorf("round %d came in %d reports: it is not spread", rounds, len(reports))
			}
			l.told.reports = nil
			l.record.Reset()
			begin = time.Now()
		}
		for range 36 {
			l.pass(10 * time.Minute)
			seen(interval2h)
		}
		if rounds != 3 {
			t.Errorf("%d rounds in six hours", rounds)
		}
	})
}

// Drift is healed in the slice that finds it; the sum tells what the round found.
func TestLoopHealsDriftAsItIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooping(t, 20)
		l.repo.push("c1", zones(20, core("xss"))...)
		l.start()
		defer l.stop()
		l.told.take()
		l.click(7, func(o *edge.Overrides) { o.Categories = nil })
		l.pass(interval2h)
		if got := l.off(7); !slices.Equal(got, []string{"xss"}) {
			t.Errorf("off in zone 7: %v", got)
		}
		var healed, sums []Report
		for _, r := range l.told.take() {
			if r.Sum {
				sums = append(sums, r)
			} else if len(r.Results) > 0 {
				healed = append(healed, r)
			}
		}
		if len(healed) != 1 || len(sums) != 1 {
			t.Fatalf("%d slices have healed, %d sums", len(healed), len(sums))
		}
		wantOutcomes(t, healed[0], "7 converged")
		wantOutcomes(t, sums[0], "7 converged")
		if s := sums[0].Plan.Summary; s.Changed != 1 || s.InSync != 19 || s.Zones != 20 {
			t.Errorf("summary %+v", s)
		}
		l.pass(interval2h)
		for _, r := range l.told.take() {
			if r.Sum && (r.Plan.Summary.InSync != 20 || len(r.Results) != 0) {
				t.Errorf("the round after: %+v, %v", r.Plan.Summary, outcomes(r))
			}
		}
	})
}

// Somebody who pushes while zones wait to be looked at comes before all of them.
func TestLoopSyncsBetweenSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 500
		l := newLooping(t, n)
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		l.told.take()
		runs := 0
		l.told.told = func(int) {
			if runs++; runs == 3 {
				l.repo.push("c2", append(zones(n-1, core("xss")), zone(n, core("rce")))...)
				l.wake <- struct{}{}
			}
		}
		l.look <- os.Interrupt
		l.pass(10 * time.Second)
		l.stop()
		kinds := l.told.kinds()
		if len(kinds) < 6 || kinds[3] != "sync 1" || !strings.HasPrefix(kinds[2], "slice") || !strings.HasPrefix(kinds[4], "slice") {
			t.Errorf("runs: %v", kinds)
		}
		if got := l.off(n); len(got) != 1 || got[0] != "rce" {
			t.Errorf("off in zone %d: %v", n, got)
		}
		if !slices.Contains(kinds, fmt.Sprint("sum ", n)) {
			t.Errorf("runs: %v", kinds)
		}
	})
}

func TestLoopLooksNowWhenAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooping(t, 50)
		l.repo.push("c1", zones(50, core("xss"))...)
		l.start()
		defer l.stop()
		l.pass(20 * time.Minute)
		l.told.take()
		l.record.Reset()
		begin := time.Now()
		l.look <- os.Interrupt
		l.pass(10 * time.Second)
		calls := l.calls()
		if len(calls) != 51 || len(reads(calls)) != 50 {
			t.Errorf("%d calls, %d zones", len(calls), len(reads(calls)))
		}
		reports := l.told.take()
		if last := reports[len(reports)-1]; !last.Sum || last.Started.Before(begin) {
			t.Errorf("it began at %v, asked at %v", last.Started, begin)
		}
		l.record.Reset()
		l.pass(interval2h)
		for zone, n := range reads(l.calls()) {
			if n > 2 {
				t.Errorf("zone %s was then read %d times", zone, n)
			}
		}
	})
}

// A new process goes on where the one before was, with what changed first: no zone
// is unseen for longer than the interval, and none is looked at for nothing.
func TestLoopGoesOnAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		l := newLooping(t, n)
		seen := l.watch()
		l.repo.push("c1", zones(n, core("xss"))...)
		l.start()
		l.pass(54 * time.Minute) // half way around
		l.stop()
		l.repo.push("c2", append(zones(n-2, core("xss")), zone(n-1, core("rce")), zone(n, core("rce")))...)
		time.Sleep(10 * time.Minute)
		l.restart()
		l.large()
		l.told.take()
		l.record.Reset()
		l.start()
		if got := l.told.kinds(); len(got) < 2 || got[0] != "sweep 2" || !strings.HasPrefix(got[1], "slice") {
			t.Errorf("it begins with %v", got)
		}
		if got := len(reads(l.calls())); got < 2+1 || got > 2+20 { // ten minutes are nine zones
			t.Errorf("%d zones are read at once", got)
		}
		if got := l.off(n); !slices.Equal(got, []string{"rce"}) {
			t.Errorf("off in zone %d: %v", n, got)
		}
		for range 12 {
			l.pass(10 * time.Minute)
			seen(interval2h)
		}
		l.stop()
		reports := l.told.take()
		if !slices.ContainsFunc(reports, func(r Report) bool { return r.Sum && r.Converged() && r.Plan.Summary.Zones == n }) {
			t.Error("the new process has never come around")
		}
	})
}

// A process that died before a commit was done leaves it to the next one to find
// out what is missing: everything is due.
func TestLoopLooksAtEverythingAfterACrash(t *testing.T) {
	for name, crash := range map[string]func(*looping){
		"while a commit was applied": func(l *looping) {
			l.tamper.write = func(context.Context, edge.ZoneID, send) (*edge.Ruleset, error) { return nil, errDown }
			l.push("c2", "rce")
			l.tamper.write = nil
		},
		"while a zone was held": func(l *looping) {
			l.memory.Hold(diff.Hold{Zone: zoneKey(7), Until: time.Now().Add(time.Minute)})
			l.push("c2", "rce")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 100
				l := newLooping(t, n)
				l.repo.push("c1", zones(n, core("xss"))...)
				l.start()
				l.pass(time.Minute)
				crash(l)
				l.stop()
				l.restart()
				l.large()
				l.record.Reset()
				time.Sleep(2 * time.Minute)
				l.start()
				l.pass(10 * time.Second)
				if got := len(reads(l.calls())); got != n {
					t.Errorf("%d zones are read at once", got)
				}
				if got := l.off(7); !slices.Equal(got, []string{"rce"}) {
					t.Errorf("off in zone 7: %v", got)
				}
				l.stop()
				l.restart()
				l.large()
				l.record.Reset()
				l.start()
				if got := len(reads(l.calls())); got > 5 {
					t.Errorf("the process after that reads %d zones", got)
				}
				l.stop()
			})
		})
	}
}

func TestLoopFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooping(t, 1)
		l.repo.push("c1", zone(1, core("xss")))
		l.start()
		l.stop()
		l.restart()
		l.repo.fetchErr = errors.New("offline")
		l.told.take()
		l.start()
		l.wake <- struct{}{}
		synctest.Wait()
		l.pass(interval2h)
		l.stop()
		reports := l.told.take()
		if len(reports) != 4 {
			t.Fatalf("runs: %d", len(reports))
		}
		for i, report := range reports {
			if report.Err != nil || report.Commit != "c1" || (report.Held == nil) != report.Slice {
				t.Errorf("run %d: error %v, held %v", i, report.Err, report.Held)
			}
		}
		if last := reports[3]; !last.Sum || last.Converged() || !last.Held.Again {
			t.Errorf("sum: %+v", last)
		}
	})
}

// A loop that is told to stop finishes the write in flight, reports, and begins
// nothing else.
func TestLoopStops(t *testing.T) {
	w := newWorld(t, 3)
	w.repo.push("c1", zones(3, core("xss"))...)
	sync := make(chan time.Time, 1)
	sync <- time.Time{}
	ctx, cancel := context.WithCancel(t.Context())
	w.tamper.write = func(_ context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
		cancel()
		return send()
	}
	told := &journal{}
	w.Sweep = cron.Every(time.Second)
	(&Loop{Reconciler: w.Reconciler, Reporters: []Reporter{told}, Sync: sync}).Run(ctx)
	if got := told.kinds(); !slices.Equal(got, []string{"whole 3"}) {
		t.Fatalf("runs: %v", got)
	}
	wantOutcomes(t, told.reports[0], "1 converged", "2 not_started", "3 not_started")
}

// Whoever can send a webhook can wake without end; drift is looked for all the same.
func TestLoopSweepsHoweverOftenItIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooping(t, 1)
		l.repo.push("c1", zone(1, core("xss")))
		l.told.told = func(int) {
			time.Sleep(time.Second)
			select {
			case l.wake <- struct{}{}: // before each look at the channels
			default:
			}
		}
		l.start()
		l.pass(interval2h)
		l.stop()
		if got := l.told.kinds(); !slices.Contains(got, "slice 1") || !slices.Contains(got, "sum 1") {
			t.Errorf("%d runs, none of them a slice", len(got))
		}
	})
}

// Time in here is the bubble's: it passes when everybody waits.
func TestTicksBecomeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin := time.Now()
		ticks, err := Ticks(ctx, "@every 1m", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		<-ticks
		select {
		case <-ticks:
			t.Error("ten minutes nobody looked are more than one tick")
		default:
		}
		<-ticks
		if took := time.Since(begin); took != 11*time.Minute {
			t.Errorf("the next tick comes after %v", took)
		}
		cancel()
		synctest.Wait()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if len(ticks) != 0 {
			t.Error("it ticks after its end")
		}
	})
}

func TestTicksKeepToTheZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // begins at midnight UTC, 1 h in Berlin
		for _, c := range []struct {
			zone *time.Location
			want time.Duration
		}{{berlin, 2 * time.Hour}, {time.UTC, 3 * time.Hour}, {nil, 3 * time.Hour}} {
			ctx, cancel := context.WithCancel(t.Context())
			begin := time.Now()
			day := begin.Truncate(24 * time.Hour)
			ticks, err := Ticks(ctx, "0 3 * * *", c.zone)
			if err != nil {
				t.Fatal(err)
			}
			<-ticks
			if got := time.Since(day); got != c.want {
				t.Errorf("in %v 3 h is %v after midnight UTC", c.zone, got)
			}
			cancel()
			synctest.Wait()
			time.Sleep(time.Until(day.Add(24 * time.Hour)))
		}
	})
}

func TestTicksRefuseNonsense(t *testing.T) {
	for _, expression := range []string{"", "every minute", "61 * * * *", "* * * * * *"} {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := Ticks(ctx, expression, time.UTC); err == nil {
			t.Errorf("%q is taken for a schedule", expression)
		}
		cancel()
	}
}
