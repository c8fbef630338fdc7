package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// memoryStore is a store in memory. What a file makes of a window is tested with files.
type memoryStore struct {
	mu      sync.Mutex
	kept    Window
	fail    error
	updates int
	lost    bool
}

func (m *memoryStore) Update(change func(*Window, time.Time)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.updates++
	if m.fail != nil {
		return m.fail
	}
	m.kept.Lost, m.lost = m.lost, false
	change(&m.kept, time.Now())
	m.kept.Lost = false
	return nil
}

func (m *memoryStore) Alone(requests int) int { return max(1, requests/2) }

// state is what a file would have.
func (m *memoryStore) state() (updates int, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := json.Marshal(m.kept)
	if err != nil {
		panic(err)
	}
	return m.updates, data
}

func shared(store Store, quota int, per time.Duration) *Budget {
	b := NewBudget(quota, per)
	b.Share(Sharing{Store: store})
	return b
}

// step is what happens next in a life of several processes.
type step struct {
	process int
	class   edge.Class
	kill    bool // the process; another takes its place
	sends   int
	there   time.Duration // from leaving to arriving
	back    time.Duration // from arriving to the answer
	then    time.Duration // until the next step
}

func genStep(processes int) *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		ms := func(most int, label string) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, label)) * time.Millisecond
		}
		return step{
			process: rapid.IntRange(0, processes-1).Draw(t, "process"), class: edge.Class(rapid.IntRange(0, int(edge.Classes)-1).Draw(t, "class")), kill: rapid.IntRange(0, 9).Draw(t, "kill") == 0,
			sends: rapid.IntRange(1, 30).Draw(t, "sends"), there: ms(3000, "there"), back: ms(3000, "back"), then: ms(15_000, "then"),
		}
	})
}

// live plays the steps, with a new budget for each process that starts, and returns when requests
// arrived at the platform.
func live(t *testing.T, processes int, steps []step, budget func() *Budget) []time.Time {
	var mu sync.Mutex
	var arrivals []time.Time
	var all sync.WaitGroup
	type process struct {
		*Budget
		ctx  context.Context
		kill context.CancelFunc
	}
	start := func() process {
		ctx, kill := context.WithCancel(t.Context())
		return process{budget(), ctx, kill}
	}
	running := make([]process, processes)
	for i := range running {
		running[i] = start()
	}
	for _, s := range steps {
		p := running[s.process]
		if s.kill {
			p.kill()
			running[s.process] = start()
		}
		for range s.sends {
			p := running[s.process]
			all.Go(func() {
				if p.take(edge.WithClass(p.ctx, s.class), manySlots(), untold) != nil {
					return // killed while it waited
				}
				time.Sleep(s.there) // what has left arrives, whatever becomes of the process
				mu.Lock()
				arrivals = append(arrivals, time.Now())
				mu.Unlock()
				time.Sleep(s.back)
				if p.ctx.Err() == nil {
					p.end(s.class, 1, 200, nil)
				}
			})
		}
		time.Sleep(s.then)
	}
	all.Wait()
	for _, p := range running {
		p.kill()
	}
	time.Sleep(time.Minute) // until all has been given back
	slices.SortFunc(arrivals, time.Time.Compare)
	return arrivals
}

// The law of a shared budget: however processes take turns, are killed and
// started again, no span of the length Per sees more than Requests requests.
func TestSharedBudgetLaw(t *testing.T) {
	soak.Draws(t, 40) // each is a life of several processes
	rapid.Check(t, func(rt *rapid.T) {
		processes, quota := rapid.IntRange(1, 4).Draw(rt, "processes"), rapid.IntRange(1, 80).Draw(rt, "quota")
		per := time.Duration(rapid.IntRange(1, 60).Draw(rt, "per")) * time.Second
		steps := rapid.SliceOfN(genStep(processes), 1, 12).Draw(rt, "steps")
		var arrivals []time.Time
		synctest.Test(t, func(t *testing.T) {
			store := &memoryStore{}
			arrivals = live(t, processes, steps, func() *Budget { return shared(store, quota, per) })
		})
		keptTo(rt, arrivals, quota, per)
	})
}

// keptTo fails where a span saw more than the quota; arrivals are in order.
func keptTo(t rapid.TB, arrivals []time.Time, quota int, per time.Duration) {
	t.Helper()
	for i := quota; i < len(arrivals); i++ {
		if span := arrivals[i].Sub(arrivals[i-quota]); span < per {
			t.Fatalf("%d requests arrived within %v, want at most %d in %v", quota+1, span, quota, per)
		}
	}
}

// Sharing costs next to nothing: alone a process has all of the budget at once,
// two have it together, and neither asks the store for each request.
func TestSharedBudgetIsUsedUp(t *testing.T) {
	for _, processes := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			store := &memoryStore{}
			var budgets []*Budget
			for range processes {
				budgets = append(budgets, shared(store, 1200, 5*time.Minute))
			}
			begin := time.Now()
			for i := range 1200 {
				b := budgets[i%processes]
				take(t, b)
				b.done(1, 200, nil)
			}
			if took := time.Since(begin); took > 2*time.Duration(processes)*time.Second { // until one gives back what it holds
				t.Errorf("%d processes: the budget took %v", processes, took)
			}
			if updates, _ := store.state(); updates > 80*processes {
				t.Errorf("%d processes: the store was asked %d times for 1200 requests", processes, updates)
			}
			time.Sleep(time.Minute)
			take(t, budgets[0])
			if took := time.Since(begin); took < DefaultPer || took > DefaultPer+4*time.Second {
				t.Errorf("%d processes: the next came after %v", processes, took)
			}
			if _, data := store.state(); len(data) > 8<<10 {
				t.Errorf("the window has %d bytes", len(data))
			}
		})
	}
}

// What a process took and does not use is there for others soon, and at once
// where it ends.
func TestSharedBudgetIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{}
		first, second := shared(store, 40, time.Minute), shared(store, 40, time.Minute)
		for range 5 {
			take(t, first)
			first.done(1, 200, nil)
		}
		time.Sleep(idleAfter + time.Millisecond)
		synctest.Wait()
		begin := time.Now()
		for range 34 {
			take(t, second)
			second.done(1, 200, nil)
		}
		second.Close()
		take(t, first)
		if took := time.Since(begin); took != 0 {
			t.Errorf("waited %v", took)
		}
		if waits(second) == nothing || waits(first) == nothing {
			t.Error("all is used up, and nobody must wait")
		}
	})
}

// A process that starts sees what another sent before it ended.
func TestRestartDoesNotBeginWithAFullBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{}
		before := shared(store, 10, time.Minute)
		for range 10 {
			take(t, before)
			before.done(1, 200, nil)
		}
		before.Close()
		time.Sleep(20 * time.Second)
		after, begin := shared(store, 10, time.Minute), time.Now()
		take(t, after)
		if took := time.Since(begin).Round(time.Second); took != 40*time.Second {
			t.Errorf("waited %v, want 40s", took)
		}
	})
}

// A 429 that one process got stops the others.
// Whoever is in no hurry leaves some of the budget to who is, and knows what other
// processes have sent.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quota, urgent = 100, 10
		store := &memoryStore{}
		alone, one, other := NewBudget(quota, time.Minute), shared(store, quota, time.Minute), shared(store, quota, time.Minute)
		want := func(when string, alones, ones, others int) {
			t.Helper()
			for b, want := range map[*Budget]int{alone: alones, one: ones, other: others} {
				if got := b.Room(edge.Urgent, urgent); got != want {
					t.Errorf("%s: room for %d, want %d", when, got, want)
				}
			}
		}
		send := func(b *Budget, n int) {
			for range n {
				must.Do(t, b.take(t.Context(), manySlots(), untold))
				b.done(1, http.StatusOK, http.Header{})
			}
		}
		want("at first", 90, 90, 90)
		send(alone, 30)
		send(one, 30)
		time.Sleep(3 * time.Second) // what was taken and not used is given back
		want("after thirty", 60, 60, 60)
		send(other, 40)
		time.Sleep(3 * time.Second)
		want("after forty of another process", 60, 20, 20)
		send(one, 25)
		time.Sleep(3 * time.Second)
		want("within what is left to others", 60, 0, 0)
		time.Sleep(time.Minute)
		want("a minute later", 90, 90, 90)
		store.mu.Lock()
		store.fail = errors.New("the disk is gone")
		store.mu.Unlock()
		send(one, 1)
		time.Sleep(3 * time.Second)
		if got := one.Room(edge.Urgent, urgent); got != quota/2-1-urgent {
			t.Errorf("alone: room for %d", got)
		}
		one.done(0, http.StatusTooManyRequests, http.Header{"Retry-After": {"30"}})
		if got := one.Room(edge.Urgent, urgent); got != 0 {
			t.Errorf("while the platform throttles: room for %d", got)
		}
	})
}

func TestThrottlingIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{}
		first, second := shared(store, 100, time.Minute), shared(store, 100, time.Minute)
		take(t, first)
		first.done(1, http.StatusTooManyRequests, http.Header{"Retry-After": {"90"}})
		begin := time.Now()
		take(t, second)
		if took := time.Since(begin).Round(time.Second); took != 90*time.Second {
			t.Errorf("waited %v, want 90s", took)
		}
	})
}

// Where the store fails a process takes half of its budget, says so once, and
// shares again as soon as it can.
func TestStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{fail: errors.New("the disk is full")}
		var told []error
		b := NewBudget(10, time.Minute)
		b.Share(Sharing{Store: store, Tell: func(err error) { told = append(told, err) }})
		begin := time.Now()
		for range 6 {
			take(t, b)
			b.done(1, 200, nil)
		}
		if took := time.Since(begin); took != time.Minute || len(told) != 1 {
			t.Errorf("6 requests took %v, told %v", took, told)
		}
		store.mu.Lock()
		store.fail = nil
		store.mu.Unlock()
		time.Sleep(retry.Count.First)
		take(t, b)
		b.done(1, 200, nil)
		b.Close()
		var w Window
		_, data := store.state()
		if err := json.Unmarshal(data, &w); err != nil || w.taken().sum() != 2 || len(w.Held) != 0 {
			t.Errorf("%s, %v: want two that count", data, err)
		}
	})
}

func TestLostCountIsHalfUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []error
		b := NewBudget(10, time.Minute)
		b.Share(Sharing{Store: &memoryStore{lost: true}, Tell: func(err error) { told = append(told, err) }})
		begin := time.Now()
		for range 5 {
			take(t, b)
			b.done(1, 200, nil)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("half of the budget took %v", took)
		}
		take(t, b)
		if took := time.Since(begin).Round(time.Second); took != time.Minute {
			t.Errorf("the next came after %v", took)
		}
		if len(told) != 1 || !errors.Is(told[0], ErrCountLost) {
			t.Errorf("told %v", told)
		}
	})
}

// A process that has waited for the store does not cut short what another has written meanwhile.
func TestAWaitForTheStoreCutsNothingShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryStore{}
		other := shared(store, 10, time.Minute)
		var ended time.Time
		late := &tellingStore{store, sync.OnceFunc(func() {
			time.Sleep(40 * time.Second)
			take(t, other)
			other.done(1, 200, nil)
			other.Close()
			ended = time.Now()
		})}
		take(t, shared(late, 10, time.Minute))
		var w Window
		_, data := store.state()
		must.Do(t, json.Unmarshal(data, &w))
		if len(w.Ended) != 1 || w.Ended[0].Until < milli(ended.Add(time.Minute)) {
			t.Errorf("a request that ended at %d counts as %+v, want for a minute", ended.UnixMilli(), w.Ended)
		}
	})
}

// A clock that is put back makes nothing count for longer than it can.
func TestWindowAfterTheClockWasPutBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w := Window{
		Ended: []Count{{Until: now.AddDate(1, 0, 0).UnixMilli(), N: 3}}, Held: map[string]Count{"x": {Until: now.AddDate(1, 0, 0).UnixMilli(), N: 2}},
		Resume: now.AddDate(1, 0, 0).UnixMilli(),
	}
	w.trade(visit{now: now, per: time.Minute, quota: 10, holder: "y"})
	if w.taken().sum() != 5 {
		t.Errorf("%d count, want 5", w.taken().sum())
	}
	later := now.Add(maxResume + useBy + underWay + time.Minute)
	if got := w.trade(visit{now: later, per: time.Minute, quota: 10, holder: "y", want: 4}); got.granted != 4 {
		t.Errorf("got %+v of %s", got, fmt.Sprint(w))
	}
}

// waits is what an urgent request waits for.
func waits(b *Budget) waitsFor {
	what, _, _ := b.tryTake(edge.Urgent)
	return what
}

func untold(waitsFor, time.Duration) {}
