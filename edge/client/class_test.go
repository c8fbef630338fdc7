package client

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// classed is the budget of a process that shares a store, for requests of a class.
func classed(store Store, quota int, per time.Duration, c edge.Class) *Budget {
	b := NewBudget(quota, per)
	b.Share(Sharing{Store: store, Class: c})
	return b
}

// send sends so many requests one after the other, as far as ctx lets it.
func send(ctx context.Context, b *Budget, n int, took time.Duration) (sent int) {
	for ; sent < n; sent++ {
		if b.take(ctx, manySlots(), untold) != nil {
			return sent
		}
		time.Sleep(took)
		b.done(1, 200, nil)
	}
	return sent
}

// The law of the classes: whatever processes of which classes send, no span sees more than
// the quota, a push of few zones finds what is kept for it at once, and each class that asks
// gets its floor in every window.
func TestClassesLaw(t *testing.T) {
	soak.Draws(t, 12) // each sends thousands of requests, and counts each in a file
	rapid.Check(t, func(rt *rapid.T) {
		quota := rapid.IntRange(leastShared, 300).Draw(rt, "quota")
		kinds := rapid.SliceOfN(rapid.SampledFrom([]edge.Class{edge.Sweep, edge.Bulk, edge.Question}), 1, 5).Draw(rt, "kinds")
		took := time.Duration(rapid.IntRange(1, 400).Draw(rt, "took")) * time.Millisecond
		begin := time.Duration(rapid.IntRange(0, 150).Draw(rt, "begin")) * time.Second
		const per, windows = time.Minute, 6
		synctest.Test(t, func(t *testing.T) {
			store := &memoryStore{}
			ctx, cancel := context.WithTimeout(t.Context(), windows*per)
			defer cancel()
			var all sync.WaitGroup
			sent := make([]int, len(kinds))
			for i, c := range kinds {
				b := classed(store, quota, per, c)
				all.Go(func() { sent[i] = send(ctx, b, windows*quota, took) })
			}
			time.Sleep(begin)
			urgent, at := classed(store, quota, per, edge.Urgent), time.Now()
			kept := min(keptForUrgent, quota/10)
			send(t.Context(), urgent, kept, 0)
			if waited := time.Since(at); waited > 0 {
				rt.Errorf("beside %v a push of %d requests has waited %v", kinds, kept, waited)
			}
			all.Wait()
			for i, c := range kinds {
				alike := 0
				for _, other := range kinds {
					if other == c {
						alike++
					}
				}
				if alike == 1 && sent[i] < (windows-2)*(quota/floorPart)*9/10 {
					rt.Errorf("of %v, %v has sent %d requests in %d windows of %d", kinds, c, sent[i], windows, quota)
				}
			}
		})
	})
}

// However urgent requests flood, each other class gets its floor.
func TestUrgentStarvesNoClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quota, per = 400, time.Minute
		store := &memoryStore{}
		ctx, cancel := context.WithTimeout(t.Context(), 5*per)
		defer cancel()
		var all sync.WaitGroup
		for range 60 {
			urgent := classed(store, quota, per, edge.Urgent)
			all.Go(func() { send(ctx, urgent, 10*quota, time.Millisecond) })
		}
		time.Sleep(per / 2)
		for c := edge.Sweep; c < edge.Classes; c++ {
			b := classed(store, quota, per, c)
			all.Go(func() {
				if n := send(ctx, b, quota, time.Millisecond); n < 3*quota/floorPart {
					t.Errorf("%v has sent %d requests beside a flood", c, n)
				}
			})
		}
		all.Wait()
	})
}

// What no one else asks for a question may take, but for what is kept for pushes; while bulk
// waits it gets its floor, and bulk the rest.
func TestQuestionsLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quota, per = 400, time.Minute
		store := &memoryStore{}
		within := func(d time.Duration, b *Budget) int {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			return send(ctx, b, quota, time.Millisecond)
		}
		question, bulk := classed(store, quota, per, edge.Question), classed(store, quota, per, edge.Bulk)
		if n := within(per/2, question); n != quota-quota/10 {
			t.Errorf("alone a question has sent %d of %d", n, quota)
		}
		var all sync.WaitGroup
		time.Sleep(per / 2)
		var asked, done int
		all.Go(func() { done = within(per/2, bulk) })
		all.Go(func() { asked = within(per/2, question) })
		all.Wait()
		if asked > quota/floorPart+1 || asked+done < quota-quota/10-2*mostTaken {
			t.Errorf("beside bulk a question has sent %d, and bulk %d of %d", asked, done, quota)
		}
	})
}

// Who asks for room before it begins counts as one that waits: questions leave it the rest.
func TestWhoAsksForRoomWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quota, per = 400, time.Minute
		store := &memoryStore{}
		ctx, cancel := context.WithTimeout(t.Context(), 4*per)
		defer cancel()
		var all sync.WaitGroup
		for range 3 {
			question := classed(store, quota, per, edge.Question)
			all.Go(func() { send(ctx, question, 10*quota, time.Millisecond) })
		}
		time.Sleep(per / 2)
		bulk, sent := classed(store, quota, per, edge.Bulk), 0
		for ctx.Err() == nil {
			if bulk.Room(edge.Bulk, 0) < 3 {
				time.Sleep(250 * time.Millisecond)
				continue
			}
			sent += send(ctx, bulk, 3, time.Millisecond)
		}
		all.Wait()
		if sent < 2*quota {
			t.Errorf("in 3.5 windows it has sent %d of %d each", sent, quota)
		}
	})
}

// What the sweep takes evenly it finds beside a flood of bulk.
func TestSweepKeepsItsPaceBesideBulk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quota, per = 600, time.Minute
		store := &memoryStore{}
		sweep, bulk := classed(store, quota, per, edge.Sweep), classed(store, quota, per, edge.Bulk)
		ctx, cancel := context.WithTimeout(t.Context(), 5*per)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			late := time.Duration(0)
			for range 5 * 100 { // a request each 600 ms
				at := time.Now()
				if sweep.take(ctx, manySlots(), untold) != nil {
					break
				}
				sweep.done(1, 200, nil)
				late = max(late, time.Since(at))
				time.Sleep(per/100 - time.Since(at)%(per/100))
			}
			if late > 2*time.Second {
				t.Errorf("a request of the sweep has waited %v", late)
			}
		})
		time.Sleep(per)
		all.Go(func() { send(ctx, bulk, 10*quota, time.Millisecond) })
		all.Wait()
	})
}

// What a program without classes has written counts.
func TestWindowWithoutClasses(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	until := milli(now.Add(time.Minute))
	var w Window
	text, err := json.Marshal(map[string]any{
		"ended": []any{map[string]any{"until": until, "n": 70}}, "held": map[string]any{"x": map[string]any{"until": until, "n": 20}},
	})
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	must.Do(t, err)
	v := visit{now: now, per: time.Minute, quota: 100, holder: "y", class: edge.Question, want: 32}
	if got := w.trade(v); got.granted != 2 || got.free != 8 || w.taken().sum() != 92 { // 5, by halves, as its floor
		t.Errorf("granted %d, free %d, taken %d", got.granted, got.free, w.taken().sum())
	}
	var later Window // what a later program writes is no class that is known
	later.Ended = []Count{{Until: until, N: 95, Class: edge.Classes + 3}}
	if got := later.trade(v); got.granted != 0 {
		t.Errorf("granted %d of 5", got.granted)
	}
}
