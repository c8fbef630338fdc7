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
