//go:build unix

package controller

import (
	"runtime"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// bytesPerRun is what a run allocates, in bytes. Lists of a fleet are few allocations and many bytes.
func bytesPerRun(runs int, run func()) uint64 {
	run()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		run()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / uint64(runs)
}

// A look at a zone takes the same memory in any fleet, while all other zones wait, a tenth of them is
// held and a commit of all is on its way through the waves, in the pause behind the first.
func TestLookCostsTheSameInAnyFleet(t *testing.T) {
	var smallest uint64
	for _, zones := range []int{100, 1000, 10_000} {
		f := newFleetOf(t, zones)
		f.Guards = guardedFleet()
		f.Guards.Rules = nil
		f.Guards.Waves = []reconcile.Wave{{Count: 1, Soak: 100 * time.Hour}, {}}
		f.Guards.Looking = reconcile.Looking{Phases: []edge.Phase{edge.PhaseFirewallCustom}, Every: 24 * time.Hour}
		records := &reconciletest.Records{}
		f.Records = records
		f.open(t)
		f.proveAlike(t)
		f.heart.commits.propose(t.Context(), reconcile.Proposal{Commit: "c1", State: f.state("c1", zones, 40)})
		c := f.heart.control
		refused := diff.Change{Refused: &diff.Refusal{Guard: diff.GuardWave}}
		i := 0
		for id := range c.Current().Zones() {
			task, _ := c.Task(c.Current(), id)
			_, err := c.Note(t.Context(), control.Outcome{Scope: id, Fingerprint: task.Fingerprint, Plan: diff.Plan{Changes: []diff.Change{refused}}})
			must.Do(t, err)
			if i++; i%10 == 0 {
				records.Hold(diff.Hold{Zone: task.Zone().Key, Until: time.Now().Add(time.Hour)})
			}
		}
		first := queue.Item[edge.Scope]{Key: mem.FleetZone(1), Priority: queue.Bulk, Reason: "changed by a commit"}
		look := func() { f.heart.zones[0].work(t.Context(), first) }
		look() // it is written: the first wave is done
		for range 3 {
			_, err := c.Tick(t.Context())
			must.Do(t, err)
		}
		if r := c.Rollout(); r == nil || r.Next.IsZero() || len(c.Holds()) != zones/10 {
			t.Fatalf("the rollout is %+v, and %d zones are held", r, len(c.Holds()))
		}
		bytes := bytesPerRun(20, look)
		if smallest == 0 {
			smallest = bytes
		}
		if t.Logf("a look at one of %d zones: %d bytes", zones, bytes); bytes > smallest*3/2 {
			t.Errorf("a look at one of %d zones takes %d bytes, and at one of 100 %d", zones, bytes, smallest)
		}
	}
}

// BenchmarkMemory10000 looks at each zone of a fleet in sync. B/zone is what the daemon keeps of it,
// its declaration among it.
func BenchmarkMemory10000(b *testing.B) {
	f := newBenchFleet(b)
	for b.Loop() {
		before := liveHeap()
		f.Records = &reconciletest.Records{}
		f.open(b)
		for id := range f.heart.control.Current().Zones() {
			f.heart.zones[0].work(b.Context(), queue.Item[edge.Scope]{Key: id, Priority: queue.Sweep, Reason: "its turn"})
		}
		b.ReportMetric(float64(liveHeap()-before)/benchZones, "B/zone")
		runtime.KeepAlive(f.heart)
	}
}
