package controller

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// lookingAt has processes look at the custom phase of zones so often.
func lookingAt(t testT, n int, every time.Duration) *fixture {
	t.Helper()
	f := newFixture(t, n)
	f.Guards.Looking = reconcile.Looking{Phases: []edge.Phase{edge.PhaseFirewallCustom}, Every: every}
	f.repo.Push("c1", fleet(n, "xss")...)
	return f
}

// looks are the calls that looked at earlier phases, with their classes.
func (f *fixture) looks() (zones []string, classes map[edge.Class]bool) {
	classes = map[edge.Class]bool{}
	for _, c := range only(f.calls.take(), "look") {
		zones = append(zones, c.who)
		classes[c.class] = true
	}
	slices.Sort(zones)
	return zones, classes
}

// The sweep looks at the earlier phases of each zone once in so long a time, and a push never
// does.
func TestTheSweepLooksAtEarlierPhases(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 12
		f := lookingAt(t, n, 24*time.Hour)
		f.start()
		if zones, _ := f.looks(); len(zones) != 0 {
			t.Errorf("for a commit it looks at %v", zones)
		}
		want := func(when string, looks int) {
			t.Helper()
			zones, classes := f.looks()
			if len(zones) != looks || len(slices.Compact(zones)) != looks || looks > 0 && (len(classes) != 1 || !classes[edge.Sweep]) {
				t.Errorf("%s: it looks at %d zones, want %d, as %v", when, len(zones), looks, classes)
			}
		}
		if unlooked := f.NotLookedAt(); len(unlooked) != 2 || unlooked[1].Zones != n || !errors.Is(unlooked[1].Err, diff.ErrNotYet) {
			t.Errorf("before the first sweep: %+v", unlooked)
		}
		f.pass(interval)
		want("the first sweep", n)
		if unlooked := f.NotLookedAt(); len(unlooked) != 0 {
			t.Errorf("after it: %+v", unlooked)
		}
		f.pass(24*time.Hour - 2*interval)
		want("until the day is over", 0)
		f.push("c2", fleet(n, "sqli")...)
		f.pass(soon)
		want("a commit", 0)
		f.pass(3 * interval)
		want("the next day", n)
		f.push("c3", fleet(n-1, "sqli")...)
		f.pass(soon)
		at := mem.FleetZone(n).At(edge.PhaseFirewallCustom)
		if seen, _ := f.seen.looks.At(at); !errors.Is(seen.Err, diff.ErrNotYet) {
			t.Errorf("a zone that has left is kept: %+v", seen)
		}
	})
}

// What a look finds bypasses the zone from then on, also in looks of commits; who asks for a
// zone has it looked at once more.
func TestWhatALookFinds(t *testing.T) {
	run(t, func(t *testing.T) {
		f := lookingAt(t, 3, 24*time.Hour)
		f.Put(mem.FleetZone(2), edge.PhaseFirewallCustom, reconciletest.SkipManaged("true"))
		f.start()
		f.wantOutcome(2, inspect.InSync)
		f.pass(interval)
		f.wantOutcome(2, inspect.Bypassed)
		f.push("c2", fleet(3, "sqli")...)
		f.pass(soon)
		f.wantOutcome(2, inspect.Bypassed)
		why := f.why(2)
		if len(why.Looked) != 2 || why.Looked[1].At.IsZero() || len(why.Bypasses) != 1 || len(why.NotLookedAt) != 0 {
			t.Errorf("why: looked %+v, not %+v, bypasses %+v", why.Looked, why.NotLookedAt, why.Bypasses)
		}
		f.Put(mem.FleetZone(2), edge.PhaseFirewallCustom)
		f.looks()
		_, err := f.ReadNow([]edge.Scope{mem.FleetZone(2)}, func([]edge.Scope) error { return nil })
		must.Do(t, err)
		f.pass(soon)
		if zones, classes := f.looks(); !slices.Equal(zones, []string{"2"}) || classes[edge.Urgent] {
			t.Errorf("it looks at %v, as %v", zones, classes)
		}
		f.wantOutcome(2, inspect.InSync)
		f.look <- os.Interrupt
		f.pass(soon)
		if zones, _ := f.looks(); len(zones) != 3 {
			t.Errorf("asked for everything it looks at %v", zones)
		}
	})
}

// Where looks fail, zones are read, corrected and in sync as ever, and what was seen stays.
func TestLooksThatFail(t *testing.T) {
	run(t, func(t *testing.T) {
		f := lookingAt(t, 3, interval)
		f.Put(mem.FleetZone(2), edge.PhaseFirewallCustom, reconciletest.SkipManaged("true"))
		f.start()
		f.pass(interval)
		f.wantOutcome(2, inspect.Bypassed)
		f.calls.set(func(_ context.Context, c call) error {
			if c.verb == "look" {
				return reconciletest.ErrForbidden
			}
			return nil
		})
		f.click(1, "rce")
		f.pass(2 * interval)
		if got := f.off(1); got != "xss" {
			t.Errorf("zone 1 has %q off", got)
		}
		f.wantOutcome(1, inspect.InSync)
		f.wantOutcome(2, inspect.Bypassed)
		unlooked := f.NotLookedAt()
		if len(unlooked) != 1 || unlooked[0].Zones != 3 || unlooked[0].At.IsZero() || !strings.HasPrefix(unlooked[0].Reason, "403") {
			t.Errorf("it says %+v", unlooked)
		}
	})
}

func (f *fixture) wantOutcome(zone int, want inspect.Outcome) {
	f.t.Helper()
	if got := f.why(zone); got.Outcome != want {
		f.t.Errorf("zone %d is %s, want %s: %+v", zone, got.Outcome, want, got.Decisions)
	}
}

// why is what is known of a zone.
func (f *fixture) why(zone int) inspect.Zone {
	f.t.Helper()
	list, _ := f.Zones(zoneKey(zone))
	if len(list.Zones) != 1 {
		f.t.Fatalf("zone %d: %+v", zone, list)
	}
	return list.Zones[0]
}
