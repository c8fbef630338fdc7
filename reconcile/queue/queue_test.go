package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

type item = queue.Item[string]

func next(t *testing.T, q *queue.Queue[string]) item {
	t.Helper()
	it, ok := tryNext(q)
	if !ok {
		t.Fatal("Next hands out nothing")
	}
	return it
}

// tryNext is for bubbles: it gives up when everything waits.
func tryNext(q *queue.Queue[string]) (item, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 1)
	defer cancel()
	it, err := q.Next(ctx)
	return it, err == nil
}

// With all priorities busy, a push is passed over by one of 8, and the others share
// 8:4:2:2.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New[string](queue.Config[string]{})
		for p := queue.Push; p <= queue.Sweep; p++ {
			q.Set(item{Key: p.String(), Priority: p})
		}
		counts := map[queue.Priority]int{}
		var others []string
		for range 8 * 16 {
			it := next(t, q)
			counts[it.Priority]++
			if it.Priority != queue.Push {
				others = append(others, it.Key[:2])
			}
			q.Done(it.Key, &item{Priority: it.Priority})
		}
		if got, want := fmt.Sprint(counts), "map[push:112 bulk:8 released:4 retry:2 sweep:2]"; got != want {
			t.Errorf("counts %v, want %v", got, want)
		}
		if got, want := strings.Join(others, " "), "bu re re sw bu bu re bu bu re re sw bu bu re bu"; got != want {
			t.Errorf("order %v, want %v", got, want)
		}
	})
}

// One that was idle does not make up for it.
func TestIdleSavesNoShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New[string](queue.Config[string]{})
		for i := range 1000 {
			q.Set(item{Key: fmt.Sprint("bulk", i), Priority: queue.Bulk})
		}
		for range 500 {
			q.Done(next(t, q).Key, nil)
		}
		for i := range 100 {
			q.Set(item{Key: fmt.Sprint("sweep", i), Priority: queue.Sweep})
		}
		sweeps := 0
		for range 50 {
			it := next(t, q)
			if it.Priority == queue.Sweep {
				sweeps++
			}
			q.Done(it.Key, nil)
		}
		if sweeps != 10 {
			t.Errorf("%d sweeps in 50, want a fifth", sweeps)
		}
	})
}

// A push finds a place while the others have all that they may, and slow items leave
// places to others.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ workers, others, slow int }{{0, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 2, 1}, {4, 3, 1}, {8, 6, 2}, {16, 12, 4}} {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New[string](queue.Config[string]{Workers: c.workers})
			fill := func(kind string, it item) (n int) {
				for i := range 20 {
					it.Key = fmt.Sprint(kind, i)
					q.Set(it)
				}
				for {
					if _, ok := tryNext(q); !ok {
						return n
					}
					n++
				}
			}
			slow := fill("slow", item{Slow: true})
			others := fill("other", item{Priority: queue.Bulk})
			pushes := fill("push", item{})
			got := []int{slow, others, pushes}
			// The slow ones are pushes here: they take none of the places of the others.
			want := []int{c.slow, min(c.others, max(1, c.workers)-c.slow), 0}
			want[2] = max(1, c.workers) - want[0] - want[1]
			if !slices.Equal(got, want) {
				t.Errorf("%d workers: %v slow, others, pushes at work; want %v", c.workers, got, want)
			}
		})
	}
}

// While nothing is due, nothing is asked.
func TestNoPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, looked atomic.Int64
		q := queue.New[string](queue.Config[string]{
			Now:   func() time.Time { looked.Add(1); return time.Now() },
			Admit: func(queue.Priority, int) (bool, time.Duration) { asked.Add(1); return asked.Load() > 3, time.Minute },
		})
		q.Set(item{Key: "a", Due: time.Now().Add(time.Hour)})
		start := time.Now()
		if _, err := q.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != time.Hour+3*time.Minute || asked.Load() != 4 || looked.Load() > 8 {
			t.Errorf("took %v, asked %d times, looked at the clock %d times", took, asked.Load(), looked.Load())
		}
	})
}

func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var room atomic.Bool
		q := queue.New[string](queue.Config[string]{Admit: func(queue.Priority, int) (bool, time.Duration) { return room.Load(), 0 }})
		q.Set(item{Key: "a"})
		if it, ok := tryNext(q); ok {
			t.Fatalf("handed out %v, which is not admitted", it)
		}
		time.AfterFunc(time.Minute, func() { room.Store(true); q.Wake() })
		start := time.Now()
		if _, err := q.Next(t.Context()); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// All that wait return when their context ends, with its error.
func TestNextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New[string](queue.Config[string]{Workers: 16})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var ended sync.WaitGroup
		for range 16 {
			ended.Go(func() {
				if it, err := q.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Next returned %v, %v", it, err)
				}
			})
		}
		ended.Wait()
		q.Set(item{Key: "a"})
		if it, err := q.Next(ctx); err == nil {
			t.Errorf("handed out %v after the context ended", it)
		}
		next(t, q)
	})
}

// Sixteen workers beside goroutines that set, remove and look: no key is twice at
// work, no bound is passed, and all that is left comes.
func TestMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, keys = 16, 100
		q := queue.New[int](queue.Config[int]{Workers: workers, Admit: func(p queue.Priority, atWork int) (bool, time.Duration) {
			return p != queue.Retry || time.Now().Second()%3 == 0, time.Second
		}})
		ctx, cancel := context.WithCancel(t.Context())
		var at [keys]atomic.Int32
		var all, others, slows, handed atomic.Int32
		bounds := func(it queue.Item[int], by int32) {
			if at[it.Key].Add(by) > 1 || all.Add(by) > workers {
				t.Errorf("%v is at work twice, or too many are", it)
			}
			if it.Priority != queue.Push && others.Add(by) > 12 || it.Slow && slows.Add(by) > 4 {
				t.Errorf("too many of the kind of %v are at work", it)
			}
		}
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for {
					it, err := q.Next(ctx)
					if err != nil {
						return
					}
					handed.Add(1)
					bounds(it, 1)
					time.Sleep(time.Duration(rand.IntN(3000)) * time.Millisecond)
					bounds(it, -1)
					q.Done(it.Key, nil)
				}
			})
		}
		for range 4 {
			group.Go(func() {
				for range 300 {
					it := queue.Item[int]{Key: rand.IntN(keys), Priority: queue.Priority(rand.IntN(5)), Slow: rand.IntN(9) == 0, Due: time.Now().Add(time.Duration(rand.IntN(5)) * time.Second)}
					switch rand.IntN(4) {
					case 0, 1:
						q.Set(it)
					case 2:
						q.Sooner(it)
					case 3:
						q.Remove(it.Key)
					}
					if s := q.Snapshot(); len(s.AtWork) > workers || len(s.Waiting) > keys {
						t.Errorf("%d at work, %d waiting", len(s.AtWork), len(s.Waiting))
					}
					time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Hour)
		if s := q.Snapshot(); len(s.Waiting)+len(s.AtWork) > 0 {
			t.Errorf("left: %v", s)
		}
		cancel()
		group.Wait()
		t.Logf("%d hand-outs", handed.Load())
	})
}

func TestPriority(t *testing.T) {
	if got := fmt.Sprint(queue.Push, queue.Bulk, queue.Released, queue.Retry, queue.Sweep, queue.Priority(9)); got != "push bulk released retry sweep Priority(9)" {
		t.Error(got)
	}
	q := queue.New[string](queue.Config[string]{})
	for _, call := range []func(item){func(it item) { q.Set(it) }, func(it item) { q.Sooner(it) }, func(it item) { q.Done("a", &it) }} {
		func() {
			defer func() {
				if got := recover(); got != "queue: Priority(5) is no priority" {
					t.Errorf("panic %v", got)
				}
			}()
			call(item{Priority: 5})
		}()
	}
	q.Set(item{Key: "a"}) // is not locked
}

func Example() {
	q := queue.New[string](queue.Config[string]{Workers: 4})
	now := time.Now()
	q.Set(
		queue.Item[string]{Key: "example.org", Due: now, Priority: queue.Sweep, Reason: "not looked at for a day"},
		queue.Item[string]{Key: "example.net", Due: now, Priority: queue.Push, Reason: "commit 4f2a"},
		queue.Item[string]{Key: "example.com", Due: now.Add(time.Hour), Priority: queue.Sweep},
	)
	q.Remove("example.com")

	for range 2 {
		it, err := q.Next(context.Background())
		if err != nil {
			return
		}
		fmt.Println(it.Priority, it.Key, it.Reason)
		// Work at what is desired now, and say when to look again.
		q.Done(it.Key, &queue.Item[string]{Due: now.Add(24 * time.Hour), Priority: queue.Sweep})
	}
	fmt.Println(len(q.Snapshot().Waiting), "wait")
	// Output:
	// push example.net commit 4f2a
	// sweep example.org not looked at for a day
	// 2 wait
}

// 100,000 items are set, in random order, and handed out; half of them are not due at
// first.
func BenchmarkDrain(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		now := time.Now()
		clock := now
		q := queue.New[int](queue.Config[int]{Now: func() time.Time { return clock }, Workers: 16})
		for i := range n {
			q.Set(queue.Item[int]{Key: i, Priority: queue.Priority(i % 5), Due: now.Add(time.Duration(rand.IntN(2000)-1000) * time.Second)})
		}
		clock = now.Add(time.Hour)
		for range n {
			it, err := q.Next(b.Context())
			must.Do(b, err)
			q.Done(it.Key, nil)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/item")
}

// BenchmarkQueueOneChanged has one zone pushed, handed out, and put back to its turn, beside all
// others that wait for theirs.
func BenchmarkQueueOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			q := queue.New[int](queue.Config[int]{Workers: 16})
			turn := func(i int) queue.Item[int] {
				return queue.Item[int]{Key: i, Priority: queue.Sweep, Due: time.Now().Add(time.Hour + time.Duration(i%n)*time.Millisecond)}
			}
			for i := range n {
				q.Set(turn(i))
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 7919) % n
				q.Set(queue.Item[int]{Key: i, Priority: queue.Push})
				it, err := q.Next(b.Context())
				if err != nil || it.Key != i {
					b.Fatal(it, err)
				}
				again := turn(i)
				q.Done(i, &again)
			}
		})
	}
}

// An urgent push is set, handed out and done while 10,000 items of a large commit are
// due.
func BenchmarkUrgent(b *testing.B) {
	q := queue.New[int](queue.Config[int]{Workers: 16})
	for i := range 10_000 {
		q.Set(queue.Item[int]{Key: i, Priority: queue.Bulk})
	}
	const push = -1
	handed := 0
	for b.Loop() {
		q.Set(queue.Item[int]{Key: push, Priority: queue.Push})
		for last := 0; last != push; handed++ {
			it, err := q.Next(b.Context())
			must.Do(b, err)
			last = it.Key
			q.Done(it.Key, nil)
			if last != push {
				q.Set(it)
			}
		}
	}
	b.ReportMetric(float64(handed)/float64(b.N), "handouts/push") // 8 of 7, as one of 8 is another
}

// TestOfAndLongest: what is known of one key, and which work goes on for longest.
func TestOfAndLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New[string](queue.Config[string]{Workers: 4})
		if next, work := q.Of("a"); next != nil || work != nil {
			t.Errorf("%v, %v", next, work)
		}
		if _, ok := q.Longest(); ok {
			t.Error("something is at work")
		}
		q.Set(item{Key: "a", Reason: "first"}, item{Key: "b", Due: time.Now().Add(time.Hour), Reason: "later"})
		if next, work := q.Of("b"); next == nil || next.Reason != "later" || work != nil {
			t.Errorf("%v, %v", next, work)
		}
		next(t, q)
		time.Sleep(time.Second)
		q.Set(item{Key: "c"}, item{Key: "a", Reason: "again"})
		next(t, q)
		if next, work := q.Of("a"); next == nil || next.Reason != "again" || work == nil || work.Reason != "first" {
			t.Errorf("%v, %v", next, work)
		}
		if work, ok := q.Longest(); !ok || work.Key != "a" {
			t.Errorf("%v", work)
		}
		q.Done("a", nil)
		if work, ok := q.Longest(); !ok || work.Key != "c" {
			t.Errorf("%v", work)
		}
	})
}
