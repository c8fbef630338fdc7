package client

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/integration/soak"
)

// farStore is what a [CountTable] is to processes: it has a clock of its own, takes time to be
// reached, is locked meanwhile, and fails at any point: before and after the window was kept, too.
type farStore struct {
	rnd  *rand.Rand // guarded by mu
	mu   sync.Mutex
	trip time.Duration // the longest, one way
	cuts float64       // how many visits fail

	visits int
	lock   chan struct{}
	data   []byte
	clock  time.Duration
}

func newFarStore(seed uint64, trip time.Duration, cuts float64, clock time.Duration) *farStore {
	return &farStore{rnd: rand.New(rand.NewPCG(seed, 1)), trip: trip, cuts: cuts, lock: make(chan struct{}, 1), clock: clock}
}

func (f *farStore) Alone(int) int { return 0 }

// travel takes the time of a message, and reports whether it is lost.
func (f *farStore) travel() error {
	f.mu.Lock()
	took, lost := time.Duration(f.rnd.Int64N(int64(f.trip)+1)), f.rnd.Float64() < f.cuts/4
	f.mu.Unlock()
	time.Sleep(took)
	if lost {
		return errors.New("the connection is cut")
	}
	return nil
}

func (f *farStore) Update(change func(*Window, time.Time)) error {
	if err := f.travel(); err != nil {
		return err
	}
	f.lock <- struct{}{}
	defer func() { <-f.lock }()
	now := time.Now().Add(f.clock).Round(0)
	var w Window
	if len(f.data) > 0 {
		if err := json.Unmarshal(f.data, &w); err != nil {
			return err
		}
	}
	if err := f.travel(); err != nil {
		return err
	}
	f.visits++
	change(&w, now)
	if err := f.travel(); err != nil {
		return err
	}
	var err error
	if f.data, err = json.Marshal(w); err != nil {
		return err
	}
	return f.travel() // what was kept, and nobody knows
}

// budgetAt is a budget of a machine whose clock says something else.
func budgetAt(store Store, quota int, per, clock time.Duration) *Budget {
	b := shared(store, quota, per)
	b.now = func() time.Time { return time.Now().Add(clock) }
	return b
}

// The law over several machines: whatever the clocks of processes and of the store say, however
// long the way to it is, and wherever it is cut, no span sees more than the quota.
func TestSharedBudgetLawOfMachines(t *testing.T) {
	soak.Draws(t, 40) // each is a life of several processes
	clock := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(-600, 600).Draw(t, "seconds")) * time.Second
	})
	rapid.Check(t, func(rt *rapid.T) {
		processes, quota := rapid.IntRange(1, 4).Draw(rt, "processes"), rapid.IntRange(1, 80).Draw(rt, "quota")
		per := time.Duration(rapid.IntRange(1, 60).Draw(rt, "per")) * time.Second
		steps := rapid.SliceOfN(genStep(processes), 1, 12).Draw(rt, "steps")
		trip := time.Duration(rapid.IntRange(0, 1500).Draw(rt, "trip")) * time.Millisecond
		cuts := rapid.SampledFrom([]float64{0, 0.1, 0.5}).Draw(rt, "cuts")
		seed, clocks := rapid.Uint64().Draw(rt, "seed"), rapid.SliceOfN(clock, 8, 8).Draw(rt, "clocks")
		var arrivals []time.Time
		synctest.Test(t, func(t *testing.T) {
			store, started := newFarStore(seed, trip, cuts, clocks[0]), 0
			arrivals = live(t, processes, steps, func() *Budget {
				started++
				return budgetAt(store, quota, per, clocks[started%len(clocks)])
			})
		})
		keptTo(rt, arrivals, quota, per)
	})
}

// Three machines that always have something to send use the quota up, and do not ask the store
// for each request while there is plenty.
func TestMachinesUseTheQuotaUp(t *testing.T) {
	for _, trip := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			store := newFarStore(1, trip, 0, time.Hour)
			const quota, per, windows = DefaultRequests, DefaultPer, 4
			ctx, cancel := context.WithTimeout(t.Context(), windows*per)
			defer cancel()
			var all sync.WaitGroup
			sent := [3 * 4]int{}
			for machine := range 3 {
				b := budgetAt(store, quota, per, time.Duration(machine)*5*time.Minute)
				for caller := range 4 {
					all.Go(func() { sent[machine*4+caller] = send(ctx, b, 1<<20, 50*time.Millisecond) })
				}
			}
			all.Wait()
			time.Sleep(time.Minute) // until all has been given back
			sum := 0
			for _, n := range sent {
				sum += n
			}
			if sum < windows*quota*9/10 || sum > windows*quota {
				t.Errorf("with up to %v one way: %d requests in %d windows of %d", trip, sum, windows, quota)
			}
			if store.visits > sum/8 {
				t.Errorf("with up to %v one way: %d visits for %d requests", trip, store.visits, sum)
			}
		})
	}
}

// Without its store a process of several sends what it had taken, for as long as that counts
// there, and then nothing; it says so once, and goes on as soon as it can.
func TestNothingIsSentWithoutTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newFarStore(1, 0, 0, 0)
		b, told := NewBudget(1200, 5*time.Minute), 0
		b.Share(Sharing{Store: store, Tell: func(error) { told++ }})
		for range 1 + 2 + 4 + 8 + 1 { // of 16 that it takes at last, one
			take(t, b)
			b.done(1, 200, nil)
		}
		store.cuts = 4
		within := func(d time.Duration) int {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			return send(ctx, b, 100, 0)
		}
		if n := within(useBy - time.Millisecond); n != 15 {
			t.Errorf("%d were sent of 15 that were taken", n)
		}
		if n := within(time.Minute); n != 0 || told != 1 {
			t.Errorf("then %d were sent; told %d times", n, told)
		}
		if left := b.State().Left; left != 0 || b.Room(b.Class(), 0) != 0 {
			t.Errorf("%d left", left)
		}
		store.cuts = 0
		begin := time.Now()
		take(t, b)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("the store is back, and the next came after %v", took)
		}
		b.done(1, 200, nil)
		b.Close()
	})
}
