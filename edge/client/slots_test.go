package client

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// tellingStore calls tell before each update.
type tellingStore struct {
	Store
	tell func()
}

func (s *tellingStore) Update(change func(*Window, time.Time)) error {
	s.tell()
	return s.Store.Update(change)
}

// A slot is given back once the budget knows what the answer says: whoever gets it must not send
// what a 429 has forbidden already.
func TestASlotIsGivenBackAfterTheBudgetKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(429, failure(edge.CodeThrottled, "slow down"), "Retry-After", "120"), answer(200, entryJSON)))
		store := &tellingStore{&memoryStore{}, func() {}}
		var free []int
		c := s.client(t, func(config *Config) {
			config.Concurrency, config.Budget = 1, shared(store, 100, time.Minute)
		})
		store.tell = func() {
			c.slots.mu.Lock()
			defer c.slots.mu.Unlock()
			free = append(free, c.slots.free)
		}
		check(t, get(c))
		c.config.Budget.Close()
		if len(free) < 2 || free[0] != 0 || free[1] != 0 {
			t.Errorf("%v slots were free as the budget asked and was told, want none", free)
		}
	})
}

// manySlots are more than any test takes.
func manySlots() *slots { return &slots{free: 1 << 20} }

// A slot that is given back goes to who is urgent, and else to who has waited longest; who has
// stopped waiting does not get it, and does not lose it for others.
func TestSlotsAreGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{free: 1}
		must.Do(t, s.take(t.Context(), edge.Bulk))
		var mu sync.Mutex
		var order []string
		ask := func(name string, c edge.Class, patience time.Duration) {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if s.take(ctx, c) != nil {
					name += " gave up"
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
			}()
			synctest.Wait()
		}
		ask("a", edge.Bulk, time.Hour)
		ask("b", edge.Sweep, time.Second)
		ask("c", edge.Sweep, time.Hour)
		ask("d", edge.Urgent, time.Hour)
		time.Sleep(2 * time.Second)
		for range 3 {
			s.give()
			synctest.Wait()
		}
		if want := []string{"b gave up", "d", "a", "c"}; !slices.Equal(order, want) || s.free != 0 {
			t.Errorf("%v and %d free, want %v", order, s.free, want)
		}
		if s.give(); s.free != 1 {
			t.Errorf("%d free", s.free)
		}
	})
}

// Requests that never end do not keep an urgent one from being sent: what is kept for it no other
// gets, and has it back later.
func TestSlotsAreKeptForWhatIsUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, given := newSlots(32), 0
		ask := func(c edge.Class) {
			go func() {
				if s.take(t.Context(), c) == nil {
					given++
				}
			}()
			synctest.Wait()
		}
		want := func(n int) {
			t.Helper()
			if synctest.Wait(); given != n {
				t.Errorf("%d slots were given, want %d", given, n)
			}
		}
		for range 40 {
			ask(edge.Sweep)
		}
		want(30)
		for range 3 {
			ask(edge.Urgent)
		}
		want(32)
		s.give() // whoever's it was, an urgent one waits
		want(33)
		s.give()
		s.give()
		want(33) // two are kept again
		for n := range 10 {
			s.give()
			want(34 + n)
		}
		for range 30 {
			s.give()
		}
		if s.free != 32 || len(s.urgent)+len(s.others) != 0 {
			t.Errorf("%+v, want all slots free and nobody who waits", s)
		}
	})
	for concurrency, want := range map[int]int{1: 0, 4: 0, 15: 0, 16: 1, 50: 3} {
		if got := newSlots(concurrency).kept; got != want {
			t.Errorf("of %d slots %d are kept, want %d", concurrency, got, want)
		}
	}
}

// However callers come, wait, give up and give back, no more have a slot than there are, and all
// are free in the end.
func TestSlotsAreNeverLost(t *testing.T) {
	s := &slots{free: 3}
	var all sync.WaitGroup
	var mu sync.Mutex
	taken, most := 0, 0
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				go cancel()
			}
			defer cancel()
			if s.take(ctx, edge.Class(i%int(edge.Classes))) != nil {
				return
			}
			mu.Lock()
			taken++
			most = max(most, taken)
			mu.Unlock()
			mu.Lock()
			taken--
			mu.Unlock()
			s.give()
		})
	}
	all.Wait()
	if most > 3 || s.free != 3 || len(s.urgent)+len(s.others) != 0 {
		t.Errorf("%d at once, %+v", most, s)
	}
}
