//go:build unix

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/compile"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

const perFolder = 100

// pushes are commits that declare one zone of a fleet otherwise, one after the other.
type pushes struct {
	*benchFleet
	units  []compile.Unit
	merger compile.Merger
	n      int
}

func newPushes(f *benchFleet) *pushes {
	p := &pushes{benchFleet: f}
	account := f.state("", 0, 0).Accounts[0]
	for first := 0; first < len(account.Zones); first += perFolder {
		dir := fmt.Sprintf("team-%03d", first/perFolder)
		folder := account
		folder.Zones = slices.Clone(account.Zones[first:min(first+perFolder, len(account.Zones))])
		for i, z := range folder.Zones {
			at := desired.Origin{File: dir + "/zones.cue", Line: i + 3, Column: 2}
			folder.Zones[i] = desired.MapOrigins(z, func(desired.Origin) desired.Origin { return at })
		}
		p.units = append(p.units, compile.Unit{Dir: dir, Accounts: []desired.Account{folder}})
	}
	return p
}

// byName has all zones found by their names. It is called before the controller is made.
func (p *pushes) byName(t testing.TB) {
	t.Helper()
	names := &registry{names: map[edge.Scope]string{}}
	for _, u := range p.units {
		for i := range u.Accounts[0].Zones {
			z := &u.Accounts[0].Zones[i]
			names.names[z.Scope] = z.Key
			z.Name, z.ByName, z.Scope = z.Key, true, edge.ZoneScope("")
		}
	}
	p.Names = directory.New(directory.Config{Of: func(string) edge.Directory { return names }, Now: time.Now})
	p.Names.Look(t.Context(), desired.State{Accounts: p.units[0].Accounts})
}

// push accepts the next commit, and has the queue of its zone filled.
func (p *pushes) push(t testing.TB) {
	t.Helper()
	p.n++
	u := p.units[0]
	u.Accounts = slices.Clone(u.Accounts)
	u.Accounts[0].Zones = slices.Clone(u.Accounts[0].Zones)
	z := &u.Accounts[0].Zones[0]
	z.Deployments = slices.Clone(z.Deployments)
	z.Deployments[0].Threshold = &desired.Threshold{Score: desired.Declared[int]{Value: 30 + p.n%2}, Action: desired.Declared[edge.Action]{Value: edge.ActionBlock}}
	p.units[0] = u
	state, problems := p.merger.Merge(p.units, fmt.Sprint("push", p.n))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p.heart.commits.propose(t.Context(), reconcile.Proposal{Commit: state.Commit, State: state})
	g := p.heart.control.Current()
	if g.State.Commit != state.Commit {
		t.Fatalf("%s is in force, want %s", g.State.Commit, state.Commit)
	}
	must.Do(t, p.heart.control.SaveState(t.Context(), g))
}

// A push of one zone does the same in any fleet, from what its folder came to until it is in
// force, on record and in the queue: whether zones have ids or are found by their names.
func TestPushCostsWhatItChanges(t *testing.T) {
	t.Run("by id", func(t *testing.T) { costsWhatItChanges(t, func(*pushes, testing.TB) {}) })
	t.Run("by name", func(t *testing.T) { costsWhatItChanges(t, (*pushes).byName) })
}

func costsWhatItChanges(t *testing.T, declare func(*pushes, testing.TB)) {
	var smallest float64
	for _, zones := range []int{100, 1000, 10_000} {
		f := newFleetOf(t, zones)
		records := &reconciletest.Records{}
		f.Records = records
		p := newPushes(f)
		declare(p, t)
		f.open(t)
		p.push(t) // the first one is a new state as a whole
		records.Made = nil
		allocs := testing.AllocsPerRun(10, func() { p.push(t) })
		if want := slices.Repeat([]string{"accept", "save"}, 11); !slices.Equal(records.Made, want) {
			t.Errorf("of %d zones: 11 pushes wrote %q, want %q", zones, records.Made, want)
		}
		before := f.heart.control.Current()
		p.push(t)
		if differ, same, ok := f.heart.control.Current().Differs(before); len(differ) != 1 || !same || !ok {
			t.Errorf("of %d zones: %d are not the very same as before", zones, len(differ))
		}
		rows := f.heart.fleet.rlock()
		if row := rows.all[rows.find(mem.FleetZone(1))]; !row.proof.Work || row.zone.Deployments[0].Threshold == nil || len(rows.all) != zones {
			t.Errorf("of %d zones: the list has %+v", zones, row.zone)
		}
		f.heart.fleet.mu.RUnlock()
		if smallest == 0 {
			smallest = allocs
		}
		// Encoding has a part of the fleet made, of 64 zones on the average.
		if t.Logf("one changed zone of %d: %.0f allocations", zones, allocs); allocs > 3*smallest {
			t.Errorf("one changed zone of %d costs %.0f allocations, and one of 100 costs %.0f", zones, allocs, smallest)
		}
	}
}

// proveAlike is prove of a fleet whose zones are all alike: only one of them is read.
func (f *benchFleet) proveAlike(t testing.TB) {
	t.Helper()
	for first, sight := range f.sights(t) {
		c := f.heart.control
		task, _ := c.Task(c.Current(), first)
		settled := f.heart.zones[0].worker.Plan(task, sight).Settled
		for id := range c.Current().Zones() {
			f.heart.seen.put(id, sight.Places)
			task, _ := c.Task(c.Current(), id)
			_, err := c.Looked(t.Context(), id)
			must.Do(t, err)
			settled[0].ID.Scope = id
			must.Do(t, c.Proved(t.Context(), task, settled))
		}
		return
	}
}

// guardedFleet has each kind of guard, about some zones and about all.
func guardedFleet() reconcile.Guards {
	gold := guard.Labels{"tier": "gold"}
	return reconcile.Guards{
		Rules: []guard.Rule{
			{Name: "all", Changes: &guard.Limit{Percent: new(50)}, Weakening: &guard.Limit{Count: new(1000)}},
			{Name: "gold", Labels: gold, Approve: guard.ApproveWeakening},
		},
		Freezes: []reconcile.Freeze{{Name: "night", Labels: gold}},
		Waves:   []reconcile.Wave{{Labels: gold}, {Percent: 10}},
		Observe: []guard.Observe{{Setting: "observe[0]", Labels: guard.Labels{"tier": "free"}}},
	}
}

// otherZones are a state with zones of its first account replaced, and in the order of keys.
func otherZones(s desired.State, commit string, change func([]desired.Zone) []desired.Zone) desired.State {
	s.Commit, s.Accounts = commit, slices.Clone(s.Accounts)
	zones := change(slices.Clone(s.Accounts[0].Zones))
	slices.SortFunc(zones, func(a, b desired.Zone) int { return strings.Compare(a.Key, b.Key) })
	s.Accounts[0].Zones = zones
	return s
}

// A push of one zone takes as many allocations in any fleet, whatever guards there are: one that
// declares it otherwise, one that adds it, removes it, or gives it another name.
func TestPushCostsWhatItChangesWithGuards(t *testing.T) {
	smallest := map[string]float64{}
	for _, zones := range []int{100, 1000, 10_000} {
		f := newFleetOf(t, zones)
		f.Guards = guardedFleet()
		f.open(t)
		f.proveAlike(t)
		n := 0
		push := func(change func([]desired.Zone) []desired.Zone) {
			n++
			c := f.heart.control
			state := otherZones(c.Current().State, fmt.Sprint("push", n), change)
			f.heart.commits.propose(t.Context(), reconcile.Proposal{Commit: state.Commit, State: state})
			if c.Current().State.Commit != state.Commit {
				t.Fatalf("%s is not in force", state.Commit)
			}
			if rows := f.heart.fleet.rlock(); len(rows.all) != len(state.Accounts[0].Zones) {
				t.Fatalf("the list has %d zones of %d", len(rows.all), len(state.Accounts[0].Zones))
			}
			f.heart.fleet.mu.RUnlock()
		}
		var last desired.Zone
		for _, kind := range []struct {
			name string
			run  func()
		}{ // what one has changed is to be foreseen with the next
			{"otherwise", func() {
				push(func(all []desired.Zone) []desired.Zone {
					d := slices.Clone(all[7].Deployments)
					d[0].Paranoia = &desired.Declared[int]{Value: 1 + n%4}
					all[7].Deployments = d
					return all
				})
			}},
			{"with other labels", func() {
				push(func(all []desired.Zone) []desired.Zone {
					all[9].Labels = map[string]string{"tier": []string{"gold", "free", ""}[n%3]}
					return all
				})
			}},
			{"removed and added", func() {
				push(func(all []desired.Zone) []desired.Zone {
					last = all[len(all)/2]
					return slices.Delete(all, len(all)/2, len(all)/2+1)
				})
				push(func(all []desired.Zone) []desired.Zone { return append(all, last) })
			}},
			{"renamed", func() {
				push(func(all []desired.Zone) []desired.Zone {
					all[3].Key = fmt.Sprint("renamed", n)
					return all
				})
			}},
		} {
			kind.run() // what was proved since the first commit is looked at once
			allocs := testing.AllocsPerRun(10, kind.run)
			if smallest[kind.name] == 0 {
				smallest[kind.name] = allocs
			}
			if t.Logf("one of %d zones %s: %.0f allocations", zones, kind.name, allocs); allocs > 1.5*smallest[kind.name]+100 {
				t.Errorf("one of %d zones %s costs %.0f allocations, and one of 100 costs %.0f", zones, kind.name, allocs, smallest[kind.name])
			}
		}
	}
}

// eachProvedFleet runs a benchmark over fleets that are as declared, with a ledger and with limits or
// without.
func eachProvedFleet(b *testing.B, bench func(b *testing.B, f *benchFleet, zones int)) {
	limit := []guard.Rule{{Name: "all", Changes: &guard.Limit{Count: new(benchZones)}}}
	for _, of := range []struct {
		name  string
		zones int
		rules []guard.Rule
	}{{"100", 100, nil}, {"1000", 1000, nil}, {"10000", 10_000, nil}, {"1000_limited", 1000, limit}, {"10000_limited", 10_000, limit}} {
		b.Run(of.name, func(b *testing.B) {
			f := newFleetOf(b, of.zones)
			f.Guards.Rules = of.rules
			records, err := ledger.Open(b.TempDir() + "/ledger")
			must.Do(b, err)
			defer records.Close()
			f.Records = records
			f.open(b)
			f.prove(b)
			bench(b, f, of.zones)
		})
	}
}

// BenchmarkPushOne takes one changed zone from its folder's unit to its proof, with a ledger.
func BenchmarkPushOne(b *testing.B) {
	eachProvedFleet(b, func(b *testing.B, f *benchFleet, _ int) {
		p := newPushes(f)
		p.push(b)
		b.ReportAllocs()
		for b.Loop() {
			p.push(b)
			f.heart.zones[0].work(b.Context(), queue.Item[edge.Scope]{Key: mem.FleetZone(1), Priority: queue.Push, Reason: "changed by a commit"})
		}
		if task, _ := f.heart.control.Task(f.heart.control.Current(), mem.FleetZone(1)); f.heart.control.CommitWork(f.heart.control.Current(), task.Zone().Scope) {
			b.Fatal("the zone is not proved")
		}
	})
}

// BenchmarkHealAll takes each zone of a fleet from a difference to its proof, with a ledger: one
// after the other, as a worker does. ns/op, B/op and allocs/op are of one zone.
func BenchmarkHealAll(b *testing.B) {
	eachProvedFleet(b, func(b *testing.B, f *benchFleet, zones int) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			if n%zones == 0 {
				b.StopTimer()
				f.heart.commits.propose(b.Context(), reconcile.Proposal{State: f.state(fmt.Sprint("c", n), zones, 30+n/zones%2)})
				b.StartTimer()
			}
			n++
			f.heart.zones[0].work(b.Context(), queue.Item[edge.Scope]{Key: mem.FleetZone(1 + n%zones), Priority: queue.Bulk, Reason: "changed by a commit"})
		}
	})
}
