package reconcile

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

func (j *journal) triggers() []Trigger {
	j.mu.Lock()
	defer j.mu.Unlock()
	var triggers []Trigger
	for _, r := range j.reports {
		triggers = append(triggers, r.Trigger)
	}
	return triggers
}

// start runs a loop and returns how to stop it and wait for its end.
func start(t *testing.T, l *Loop) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	return func() { cancel(); <-done }
}

// The ticks are not buffered: that one is taken means that the run before it
// has ended and was reported.
func TestLoopRunsOneAtATime(t *testing.T) {
	w := newWorld(t, 2)
	w.repo.push("c1", zones(2, core("xss"))...)
	sync, sweep, told := make(chan time.Time), make(chan time.Time), &journal{}
	stop := start(t, &Loop{Reconciler: w.Reconciler, Reporters: []Reporter{told}, Sync: sync, Sweep: sweep})

	sync <- time.Time{}
	if got := told.triggers(); len(got) == 0 || got[0] != TriggerSweep {
		t.Errorf("by the first tick: %v", got)
	}
	sweep <- time.Time{}
	if got := told.triggers(); len(got) < 2 || got[1] != TriggerSync {
		t.Errorf("by the second tick: %v", got)
	}
	sync <- time.Time{}
	stop() // the last run may be cut off
	if got := told.triggers(); !slices.Equal(got[:3], []Trigger{TriggerSweep, TriggerSync, TriggerSweep}) {
		t.Errorf("runs: %v", got)
	}
	first := told.reports[0]
	wantOutcomes(t, first, "1 converged", "2 converged")
	for i, report := range told.reports[:3] {
		if report.Err != nil || report.Full != (report.Trigger == TriggerSweep) {
			t.Errorf("run %d: error %v, full %v", i, report.Err, report.Full)
		}
	}
}

func TestLoopFallsBack(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	w.converge(sweep)
	w.restart()
	w.repo.fetchErr = errors.New("offline")
	sync, told := make(chan time.Time), &journal{}
	stop := start(t, &Loop{Reconciler: w.Reconciler, Reporters: []Reporter{told}, Sync: sync})
	sync <- time.Time{}
	sync <- time.Time{}
	stop()
	for i, report := range told.reports[:2] {
		if report.Err != nil || report.Held == nil || report.Commit != "c1" {
			t.Errorf("run %d: error %v, held %v", i, report.Err, report.Held)
		}
	}
}

func TestLoopSyncsBeforeItSweeps(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	sync, sweep := make(chan time.Time, 1), make(chan time.Time, 1)
	ctx, cancel := context.WithCancel(t.Context())
	told := &journal{told: func(n int) {
		switch n {
		case 1, 3: // both wait by the time the run ends
			sweep <- time.Time{}
			sync <- time.Time{}
		case 5:
			cancel()
		}
	}}
	(&Loop{Reconciler: w.Reconciler, Reporters: []Reporter{told}, Sync: sync, Sweep: sweep}).Run(ctx)
	if got := told.triggers(); !slices.Equal(got, []Trigger{TriggerSweep, TriggerSync, TriggerSweep, TriggerSync, TriggerSweep}) {
		t.Errorf("runs: %v", got)
	}
}

// A loop that is told to stop finishes the write in flight, reports, and takes
// no other tick.
func TestLoopStops(t *testing.T) {
	w := newWorld(t, 3)
	w.repo.push("c1", zones(3, core("xss"))...)
	sync, sweep := make(chan time.Time, 1), make(chan time.Time, 1)
	sync <- time.Time{}
	sweep <- time.Time{}
	ctx, cancel := context.WithCancel(t.Context())
	w.tamper.write = func(_ context.Context, _ edge.ZoneID, send send) (*edge.Ruleset, error) {
		cancel()
		return send()
	}
	told := &journal{}
	(&Loop{Reconciler: w.Reconciler, Reporters: []Reporter{told}, Sync: sync, Sweep: sweep}).Run(ctx)
	if got := told.triggers(); !slices.Equal(got, []Trigger{TriggerSweep}) {
		t.Fatalf("runs: %v", got)
	}
	wantOutcomes(t, told.reports[0], "1 converged", "2 not_started", "3 not_started")
}

// Time in here is the bubble's: it passes when everybody waits.
func TestTicksBecomeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ticks, schedule, err := Ticks(ctx, "@every 1m", nil)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if next := schedule.Next(begin); next.Sub(begin) != time.Minute {
			t.Errorf("next after %v", next.Sub(begin))
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
			ticks, _, err := Ticks(ctx, "0 3 * * *", c.zone)
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
		if _, _, err := Ticks(ctx, expression, time.UTC); err == nil {
			t.Errorf("%q is taken for a schedule", expression)
		}
		cancel()
	}
}

// Whoever can send a webhook can wake without end; drift is looked for all the same.
func TestLoopSweepsHoweverOftenItIsWoken(t *testing.T) {
	w := newWorld(t, 1)
	w.repo.push("c1", zone(1, core("xss")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wake, sweep := make(chan struct{}, 1), make(chan time.Time, 1)
	told := &journal{}
	told.told = func(n int) {
		select {
		case wake <- struct{}{}: // before each look at the channels
		default:
		}
		if n == 1 {
			sweep <- time.Time{}
		}
		if n == 10 {
			cancel()
		}
	}
	(&Loop{Reconciler: w.Reconciler, Reporters: []Reporter{told}, Wake: wake, Sweep: sweep}).Run(ctx)
	if got := told.triggers(); !slices.Equal(got[:3], []Trigger{TriggerSweep, TriggerSync, TriggerSweep}) {
		t.Errorf("runs: %v", got)
	}
}
