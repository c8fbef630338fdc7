package controller

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// The sweep: every zone comes around, without a reason.

// watch notes when each of n zones is read. What it returns fails where one was not
// for longer than a time.
func (f *fixture) watch(n int, longest time.Duration) (check func()) {
	var mu sync.Mutex
	seen := make([]time.Time, n+1)
	for i := range seen {
		seen[i] = time.Now()
	}
	note := func(i int) {
		if gone := time.Since(seen[i]); gone > longest {
			f.t.Errorf("zone %d goes unseen for %v", i, gone)
		}
		seen[i] = time.Now()
	}
	f.calls.set(func(_ context.Context, c call) error {
		mu.Lock()
		defer mu.Unlock()
		if i := number(c); i > 0 && i <= n {
			note(i)
		}
		return nil
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		for i := 1; i <= n; i++ {
			note(i)
		}
	}
}

// Each turn reads each zone once and lists the rulesets once, evenly.
func TestTheSweepComesToEachZoneOnceATurn(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 200
		f := running(t, n)
		f.pass(interval)
		check := f.watch(n, interval)
		for range 4 {
			f.calls.take()
			f.pass(time.Duration(ahead * float64(interval)))
			all := f.calls.take()
			reads := only(all, "read")
			if len(reads) < n-2 || len(reads) > n+2 || len(all)-len(reads) > 3 {
				t.Errorf("%d calls, %d of them reads", len(all), len(reads))
			}
			perQuarter := map[int]int{}
			for _, c := range reads {
				perQuarter[int(4*c.at.Sub(reads[0].at)/time.Duration(ahead*float64(interval)))]++
			}
			for quarter := range 4 {
				if got := perQuarter[quarter]; got < n/8 || got > n/2 {
					t.Errorf("it is not spread: %v", perQuarter)
				}
			}
		}
		check()
	})
}

// Nothing is unseen for longer than the interval over a restart, whose turn came while
// no process was there comes first, and nothing is looked at for nothing.
func TestTheSweepGoesOnAfterARestart(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 100
		f := newFixture(t, n)
		f.Lanes.All[0].Budget = diff.Budget{Requests: 400, Per: time.Minute} // not all at the start
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.pass(interval)
		check := f.watch(n, interval)
		f.pass(54 * time.Minute)
		f.stop()
		f.pass(10 * time.Minute)
		f.calls.take()
		f.start()
		if got := len(who(only(f.calls.take(), "read"))); got < 3 || got > 20 { // ten minutes are nine zones
			t.Errorf("%d zones are read at once", got)
		}
		f.pass(2 * interval)
		check()
	})
}

// A process that is killed every few minutes sweeps all the same.
func TestTheSweepOfAProcessThatDoesNotLast(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 60
		f := newFixture(t, n)
		f.Lanes.All[0].Budget = diff.Budget{Requests: 240, Per: time.Minute}
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.pass(time.Minute)
		check := f.watch(n, interval)
		for range 60 {
			f.pass(3 * time.Minute)
			f.stop()
			f.pass(30 * time.Second)
			f.begin()
		}
		check()
	})
}

// Whoever wakes the source without end keeps nothing from being looked at.
func TestTheSweepHoweverOftenTheSourceIsWoken(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 5)
		check := f.watch(5, interval)
		f.drift(5)
		for range int(interval / (10 * time.Second)) {
			f.source.Poke()
			f.pass(10 * time.Second)
		}
		check()
		f.want(5, "xss")
	})
}

// Who asks for a look has it at once, and what was urgent before stays so.
func TestALookThatIsAskedFor(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 50
		f := running(t, n)
		f.pass(20 * time.Minute)
		f.drift(n)
		f.calls.take()
		f.lookNow()
		f.want(n, "xss")
		if all := f.calls.take(); len(only(all, "read")) != 2*n || len(only(all, "list")) != 1 {
			t.Errorf("%d calls, %d lists", len(all), len(only(all, "list")))
		}
		f.pass(interval)
		for _, name := range who(only(f.calls.take(), "read")) {
			if _, err := strconv.Atoi(name); err != nil {
				t.Error(name)
			}
		}
	})
	run(t, func(t *testing.T) {
		const n = 50
		f := running(t, n)
		f.room.Store(0) // only what is urgent gets anything of the budget
		f.repo.Push("c2", but(fleet(n, "xss"), 7, "rce")...)
		f.calls.set(func(_ context.Context, c call) error { // while it is looked at, and after
			if number(c) == 7 {
				f.look <- os.Interrupt
				f.calls.set(nil)
				return errDown
			}
			return nil
		})
		f.source.Poke()
		f.pass(time.Second)
		f.repo.Push("c3", but(fleet(n, "xss"), 7, "php")...)
		f.source.Poke()
		f.look <- os.Interrupt
		f.pass(time.Second)
		if got := f.off(7); got != "php" {
			t.Errorf("off is %q", got)
		}
	})
}

// Nothing is written that was worked out from an old list of rulesets: the vendor has
// replaced the rule that a threshold is about since it was listed.
func TestTheRulesetsAreListedAgainBeforeAWrite(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 20
		f := newFixture(t, n)
		d := core()
		d.Threshold = &desired.Threshold{Score: desired.Declared[int]{Value: 33}, Action: desired.Declared[edge.Action]{Value: "block"}}
		all := make([]desired.Zone, n)
		for i := range all {
			all[i] = zoneOf(i+1, d)
		}
		f.repo.Push("c1", all...)
		f.start()
		f.lookNow()
		f.pass(50 * time.Minute)
		rulesets := f.Platform.State().Accounts[0].Rulesets
		managed := rulesets[slices.IndexFunc(rulesets, func(r edge.Ruleset) bool { return r.ID == mem.CoreRuleset })]
		last := &managed.Rules[len(managed.Rules)-1]
		last.ID = "11111111111111111111111111111111"
		must.Do(t, f.Platform.SetRuleset(mem.Account, managed))
		f.drift(n)
		f.pass(interval)
		for i := 1; i <= n; i++ {
			if rules := f.Entry(i).Rules[0].ActionParameters.Overrides.Rules; len(rules) != 1 || rules[0].ID != last.ID {
				t.Errorf("zone %d: overrides of rules %+v", i, rules)
			}
		}
	})
}

// Without a schedule nothing is looked at without a reason, and what there is a reason
// for does not cost a list of rulesets for each zone.
func TestWithoutASweep(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 60
		f := newFixture(t, n)
		f.Sweep = nil
		f.repo.Push("c1", fleet(n, "xss")...)
		f.start()
		f.want(n, "xss")
		if lists := len(only(f.calls.take(), "list")); lists > 2 {
			t.Errorf("%d lists", lists)
		}
		f.drift(1)
		f.pass(24 * time.Hour)
		if got := f.calls.take(); len(got) > 0 {
			t.Errorf("%d calls for nothing", len(got))
		}
		f.lookNow()
		f.want(n, "xss")
	})
}

// An empty fleet is no reason to spin.
func TestASweepOfNothing(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.repo.Commit("c1", commit{State: desired.State{Commit: "c1"}})
		f.start()
		f.journal.take()
		f.pass(2 * interval)
		f.lookNow()
		if got := len(f.journal.take()); got > 300 { // a sync a minute
			t.Errorf("%d reports in four hours", got)
		}
	})
}

// Memory does not grow with time: not by sweeps, by what they heal, or by commits.
func TestMemoryIsFlatOverManySweeps(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 20
		sweeps, warm := 200, 60
		if soak.On {
			sweeps, warm = 1000, 100
		}
		f := newFixture(t, n)
		f.Guards = atMost(n) // so that drift is counted, too
		f.Interval = 10 * time.Second
		f.Sweep = cron.Every(f.Interval)
		f.repo.Push("c0", fleet(n, "xss")...)
		f.start()
		heap := func() uint64 {
			f.journal.take()
			f.calls.take()
			f.repo.Lock()
			f.repo.Fetches, f.repo.Compiled = nil, map[string]int{}
			f.repo.Unlock()
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		var early uint64
		for sweep := range sweeps {
			if sweep == warm {
				early = heap()
			}
			if sweep%10 == 0 {
				delete(f.repo.Commits, fmt.Sprint("c", sweep-10))
				tags := []string{"xss", "rce"}[sweep/10%2]
				f.repo.Push(fmt.Sprint("c", sweep), fleet(n-sweep/10%3, tags)...)
				f.source.Poke()
				f.drift(sweep % n)
			}
			f.pass(f.Interval)
			f.journal.take()
			f.calls.take()
		}
		if late := heap(); late > early+early/10 {
			t.Errorf("the heap has grown from %d to %d bytes", early, late)
		}
	})
}
