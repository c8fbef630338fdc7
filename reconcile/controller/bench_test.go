//go:build unix

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

const (
	benchZones   = 10_000
	benchChanges = 5_000
)

// BenchmarkPlanCommit5000Of10000 accepts a commit that declares half of a fleet
// otherwise, and counts for a limit what it changes, from what was last seen: without a
// request. cpu-s/op is the processor time of the process.
func BenchmarkPlanCommit5000Of10000(b *testing.B) {
	f := newBenchFleet(b)
	f.Guards.Rules = []guard.Rule{{Name: "all", Changes: &guard.Limit{Count: new(benchZones)}}}
	f.open(b)
	f.prove(b)
	b.ReportAllocs()
	before := cpuTime(b)
	n := 0
	for b.Loop() {
		n++
		d, err := f.heart.control.Propose(b.Context(), reconcile.Proposal{State: f.state(fmt.Sprint("c", n), benchChanges, 30+n%2)})
		if err != nil || d.Accepted == nil || len(d.Due) != benchChanges || len(d.Look) > 0 {
			b.Fatalf("%d zones are due and %d unseen, want %d and none: %v", len(d.Due), len(d.Look), benchChanges, err)
		}
	}
	b.ReportMetric((cpuTime(b)-before).Seconds()/float64(n), "cpu-s/op")
}

// BenchmarkLastSeen10000 keeps what was seen of a fleet in sync, each entry point
// decoded from an answer of its own, and what spares planning it again. B/zone is what
// that takes of the heap.
func BenchmarkLastSeen10000(b *testing.B) {
	f := newBenchFleet(b)
	f.open(b)
	var cache *lastSeen
	before, taken := liveHeap(), uint64(0)
	for b.Loop() {
		cache = newLastSeen(f.Lanes, zone.Declared{}, reconcile.Guards{})
		for id, sight := range f.sights(b) {
			task, _ := f.heart.control.Task(f.heart.control.Current(), id)
			task.Memory = cache.memory(id)
			if plan := f.heart.zones[0].worker.Plan(task, sight); len(plan.Changes) > 0 {
				b.Fatalf("zone %s is not in sync: %+v", id, plan.Changes)
			}
			cache.put(id, sight.Places)
		}
		b.StopTimer()
		taken = liveHeap() - before
		b.StartTimer()
		runtime.KeepAlive(cache)
	}
	b.ReportMetric(float64(taken)/benchZones, "B/zone")
}

// benchFleet is a fleet in sync with its declaration, and a controller that does not run.
type benchFleet struct {
	Config
	zones    int
	platform *mem.Platform
	heart    *Controller
}

func newBenchFleet(b testing.TB) *benchFleet { return newFleetOf(b, benchZones) }

func newFleetOf(b testing.TB, zones int) *benchFleet {
	b.Helper()
	platform, err := mem.New(mem.Config{Seed: mem.Fleet(zones)})
	must.Do(b, err)
	f := &benchFleet{platform: platform, zones: zones, Config: Config{Lanes: reconcile.OneLane(reconcile.Lane{Reader: decoding{platform}, Writer: platform}), Records: &reconciletest.Records{}}}
	for i := 1; i <= zones; i++ {
		entry, err := platform.EntryPoint(b.Context(), mem.FleetZone(i), edge.PhaseFirewallManaged)
		must.Do(b, err)
		entry.Rules[0].ActionParameters.Overrides = &edge.Overrides{Categories: []edge.CategoryOverride{
			{Category: "paranoia-level-3", Enabled: new(false)},
			{Category: "paranoia-level-4", Enabled: new(false)},
			{Category: "wordpress", Enabled: new(false)},
		}}
		must.Do(b, platform.SetEntryPoint(mem.FleetZone(i), entry))
	}
	return f
}

// open makes the controller and has the fleet's own declaration in force.
func (f *benchFleet) open(b testing.TB) {
	b.Helper()
	var err error
	if f.heart, err = New(b.Context(), f.Config); err != nil {
		b.Fatal(err)
	}
	if _, err := f.heart.control.Propose(b.Context(), reconcile.Proposal{State: f.state("c0", 0, 0)}); err != nil {
		b.Fatal(err)
	}
}

// prove has seen every zone, and proved its declaration.
func (f *benchFleet) prove(b testing.TB) {
	b.Helper()
	for id, sight := range f.sights(b) {
		f.heart.seen.put(id, sight.Places)
		task, _ := f.heart.control.Task(f.heart.control.Current(), id)
		plan := f.heart.zones[0].worker.Plan(task, sight)
		if _, err := f.heart.control.Looked(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		if err := f.heart.control.Proved(b.Context(), task, plan.Settled); err != nil || len(plan.Settled) == 0 {
			b.Fatalf("zone %s is not proved: %+v, %v", id, plan.Problems, err)
		}
	}
}

// sights reads every zone.
func (f *benchFleet) sights(b testing.TB) func(func(edge.Scope, zone.Sight) bool) {
	return func(yield func(edge.Scope, zone.Sight) bool) {
		g := f.heart.control.Current()
		for id := range g.Zones() {
			task, _ := f.heart.control.Task(g, id)
			task.ListedSince = time.Now().Add(-time.Hour)
			sight, err := f.heart.zones[0].worker.Read(b.Context(), task)
			if err != nil || sight.Err() != nil {
				b.Fatal(err, sight.Err())
			}
			if !yield(id, sight) {
				return
			}
		}
	}
}

// state declares the fleet as it is, but for the score of the first zones.
func (f *benchFleet) state(commit string, changed, score int) desired.State {
	zones := make([]desired.Zone, f.zones)
	for i := range zones {
		d := desired.Deployment{
			Ruleset: "core", Enabled: desired.Declared[bool]{Value: true}, Paranoia: &desired.Declared[int]{Value: 2},
			Disable:   desired.Disable{Tags: []desired.Declared[string]{{Value: "wordpress"}}},
			Unmanaged: &desired.Declared[desired.Unmanaged]{Value: desired.Remove},
		}
		if i < changed {
			d.Threshold = &desired.Threshold{Score: desired.Declared[int]{Value: score}, Action: desired.Declared[edge.Action]{Value: edge.ActionBlock}}
		}
		zones[i] = zoneOf(i+1, d)
	}
	return stateOf(commit, zones...)
}

// decoding is a platform whose entry points are decoded from JSON, as those of the
// client are: no two share memory.
type decoding struct{ *mem.Platform }

func (p decoding) EntryPoint(ctx context.Context, id edge.Scope, phase edge.Phase) (decoded edge.Ruleset, err error) {
	entry, err := p.Platform.EntryPoint(ctx, id, phase)
	if err != nil {
		return decoded, err
	}
	text, err := json.Marshal(entry)
	if err != nil {
		return decoded, err
	}
	return decoded, json.Unmarshal(text, &decoded)
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // what the first one has finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkNeedPerson10000 looks for zones that need a person, as each route of notifications
// does every two seconds; beside it what counting all zones costs, as its status does.
func BenchmarkNeedPerson10000(b *testing.B) {
	f := newBenchFleet(b)
	f.open(b)
	f.prove(b)
	b.Run("zones", func(b *testing.B) {
		for b.Loop() {
			if groups := f.heart.NeedPerson(nil); len(groups) > 0 {
				b.Fatal(groups)
			}
		}
	})
	b.Run("counts", func(b *testing.B) {
		for b.Loop() {
			_ = f.heart.view().zones()
		}
	})
}

// BenchmarkSteadyLook looks at a zone that agrees, as the sweep does, without traces.
func BenchmarkSteadyLook(b *testing.B) {
	f := newBenchFleet(b)
	f.open(b)
	f.prove(b)
	work, id := f.heart.zones[0], mem.FleetZone(1)
	b.ReportAllocs()
	for b.Loop() {
		item := queue.Item[edge.Scope]{Key: id, Priority: queue.Sweep, Reason: "its turn"}
		if again := work.work(b.Context(), item); again != nil && again.Priority != queue.Sweep {
			b.Fatalf("it comes again: %+v", again)
		}
	}
}
