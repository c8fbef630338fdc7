package reconcile

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// A platform that goes down in the middle of a run is not asked for every zone:
// the rest is unknown, with the reason, and the next run asks again.
func TestOutageEndsTheAsking(t *testing.T) {
	w := newWorld(t, 10)
	w.repo.push("c1", zones(10, core("xss"))...)
	w.tamper.read = func(id edge.ZoneID) error {
		if id == mem.FleetZone(1) || id == mem.FleetZone(2) {
			return nil
		}
		return errDown
	}
	report, calls := w.run(Order{Trigger: TriggerSweep})
	// Zones 3 and 4 failed in a row, twice the concurrency of 1.
	w.wantCalls(calls[:6], "list", "managed core", "read 1", "read 2", "read 3", "read 4")
	wantOutcomes(t, report, "1 converged", "2 converged")
	if report.Plan.Summary.Unknown != 8 {
		t.Errorf("%d zones unknown, want 8", report.Plan.Summary.Unknown)
	}
	for _, p := range report.Plan.Problems {
		asked := p.ZoneID == mem.FleetZone(3) || p.ZoneID == mem.FleetZone(4)
		if told := !strings.HasPrefix(p.Reason, "not asked after 2 unavailable answers in a row"); p.State != diff.Unknown || told != asked {
			t.Errorf("%s is %s: %s", p.Zone, p.State, p.Reason)
		}
	}

	w.tamper.read = nil
	w.converge(Order{Trigger: TriggerSweep})
}

// Zones that fail now and then, between others that work, end nothing.
func TestScatteredFailuresEndNothing(t *testing.T) {
	w := newWorld(t, 9)
	w.repo.push("c1", zones(9, core("xss"))...)
	n := 0
	w.tamper.read = func(edge.ZoneID) error {
		if n++; n%2 == 0 && n <= 9 {
			return errDown
		}
		return nil
	}
	report, _ := w.run(Order{Trigger: TriggerSweep})
	if got := report.Plan.Summary.Unknown; got != 4 {
		t.Errorf("%d zones unknown, want the 4 that failed", got)
	}
}
