package queue

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/integration/must"
)

// step is one call of a queue, or a time that passes.
type step struct {
	Do    string
	Items []Item[int] // Due is filled in from In
	In    []time.Duration
	Which int // a priority, or which of those at work
	For   time.Duration
}

func aStep(do ...string) *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		s := step{Do: rapid.SampledFrom(do).Draw(t, "do")}
		items := 0
		switch s.Do {
		case "set":
			items = rapid.IntRange(1, 4).Draw(t, "items")
		case "sooner", "remove":
			items = 1
		case "done":
			items = rapid.IntRange(0, 1).Draw(t, "next")
		case "shut":
			s.Which = rapid.IntRange(0, 3).Draw(t, "how")
			items = 1
		}
		for range items {
			s.Items = append(s.Items, Item[int]{
				Key:      rapid.IntRange(0, 11).Draw(t, "key"),
				Priority: Priority(rapid.IntRange(0, int(Sweep)).Draw(t, "priority")),
				Reason:   rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "reason"),
				Slow:     rapid.IntRange(0, 3).Draw(t, "slow") == 0,
			})
			s.In = append(s.In, rapid.SampledFrom([]time.Duration{noDue, -3, 0, 0, 1, 2, 2, 5, 9}).Draw(t, "in"))
		}
		switch s.Do {
		case "done":
			s.Which = rapid.IntRange(0, 20).Draw(t, "which")
		case "pass", "shut":
			s.For = time.Duration(rapid.IntRange(1, 6).Draw(t, "for"))
		}
		return s
	})
}

const noDue = time.Duration(-100)

// trial runs a queue and the model side by side, with one goroutine at most in Next.
type trial struct {
	q     *Queue[int]
	m     *model
	wait  chan handOut // nil: no one is in Next
	leave context.CancelFunc
	count int
	light bool // compares no listing
}

type handOut struct {
	it  Item[int]
	at  time.Time
	err error
}

func newTrial(workers int) *trial {
	tr := &trial{m: &model{workers: workers, keys: map[int]*modelKey{}}}
	tr.q = New[int](Config[int]{Workers: workers, Admit: func(p Priority, atWork int) (bool, time.Duration) {
		return tr.m.gates[p].admits(time.Now(), atWork)
	}})
	return tr
}

func (tr *trial) items(s step) []Item[int] {
	for i := range s.Items {
		if s.In[i] != noDue {
			s.Items[i].Due = time.Now().Add(s.In[i])
		}
	}
	return s.Items
}

// do does one step on both, and checks what follows.
func (tr *trial) do(s step) error {
	items, now := tr.items(s), time.Now()
	switch s.Do {
	case "set":
		for _, it := range items {
			tr.m.set(it, now)
		}
		tr.q.Set(items...)
	case "sooner":
		tr.m.sooner(items[0], now)
		tr.q.Sooner(items...)
	case "remove":
		tr.m.remove(items[0].Key)
		tr.q.Remove(items[0].Key)
	case "done":
		tr.done(s.Which, items)
	case "shut":
		g := &tr.m.gates[items[0].Priority]
		*g = [...]gate{{until: now.Add(s.For)}, {shut: true}, {limit: int(s.For)}, {}}[s.Which]
		tr.q.Wake()
	case "next":
		tr.next()
	case "leave":
		return tr.stop()
	case "pass":
		return tr.pass(s.For)
	}
	return tr.check(now)
}

func (tr *trial) done(which int, next []Item[int]) {
	var keys []int
	for key, k := range tr.m.keys {
		if k.work != nil {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		tr.q.Done(which, nil) // is not at work
		return
	}
	slices.Sort(keys)
	key := keys[which%len(keys)]
	var it *Item[int]
	if len(next) > 0 {
		it = &next[0]
	}
	tr.m.done(key, it, time.Now())
	tr.q.Done(key, it)
}

func (tr *trial) next() {
	if tr.wait != nil {
		return
	}
	wait := make(chan handOut, 1)
	ctx, leave := context.WithCancel(context.Background())
	tr.wait, tr.leave = wait, leave
	go func() {
		it, err := tr.q.Next(ctx)
		wait <- handOut{it, time.Now(), err}
	}()
}

// stop ends the context of the one in Next.
func (tr *trial) stop() error {
	if tr.wait == nil {
		return nil
	}
	tr.leave()
	synctest.Wait()
	select {
	case h := <-tr.wait:
		tr.wait = nil
		if h.err != context.Canceled {
			return fmt.Errorf("Next returned %+v after its context ended", h)
		}
		return nil
	default:
		return fmt.Errorf("Next goes on after its context ended")
	}
}

// pass lets time pass. What becomes due or admitted meanwhile is handed out then.
func (tr *trial) pass(d time.Duration) error {
	now := time.Now()
	at, some := tr.m.firstTime(now, now.Add(d))
	time.Sleep(d)
	if tr.wait == nil || !some {
		at = time.Now()
	}
	return tr.check(at)
}

// check collects a hand-out, which must have been at this time, and compares.
func (tr *trial) check(at time.Time) error {
	synctest.Wait()
	if tr.wait != nil {
		select {
		case h := <-tr.wait:
			tr.wait = nil
			tr.leave()
			if h.err != nil || !h.at.Equal(at) {
				return fmt.Errorf("handed out %+v, expected it at %v", h, at)
			}
			if err := tr.m.handOut(h.it, at); err != nil {
				return err
			}
			tr.count++
		default:
			if heads := tr.m.mayBegin(at); some(heads) {
				return fmt.Errorf("nothing was handed out; may begin: %+v", heads)
			}
		}
	}
	if tr.light {
		return nil
	}
	return tr.compare()
}

func (tr *trial) compare() error {
	got := tr.q.Snapshot()
	if !slices.IsSortedFunc(got.AtWork, func(a, b Work[int]) int { return a.Began.Compare(b.Began) }) {
		return fmt.Errorf("work is not in order: %+v", got.AtWork)
	}
	slices.SortFunc(got.AtWork, func(a, b Work[int]) int { return cmp.Compare(a.Key, b.Key) })
	if want := tr.m.snapshot(); !reflect.DeepEqual(want, got) {
		return fmt.Errorf("snapshot (-model +queue):\n%s", gocmp.Diff(want, got))
	}
	if want, got := tr.m.stats(time.Now()), tr.q.Stats(); want != got {
		return fmt.Errorf("stats (-model +queue):\n%s", gocmp.Diff(want, got))
	}
	used := 0
	for _, k := range tr.m.keys {
		if k.next != nil || k.work != nil {
			used++
		}
	}
	if len(tr.q.entries) != used {
		return fmt.Errorf("remembers %d keys, of which %d are used", len(tr.q.entries), used)
	}
	return nil
}

// run does all steps in a bubble of its own.
func (tr *trial) run(t *testing.T, steps []step) (err error) {
	synctest.Test(t, func(*testing.T) {
		for i, s := range steps {
			if err = tr.do(s); err != nil {
				err = fmt.Errorf("step %d, %+v: %w", i, s, err)
				break
			}
		}
		if err == nil {
			err = tr.drain()
		}
		if tr.wait != nil {
			tr.leave()
		}
	})
	return err
}

// drain ends all work, admits everything and waits long enough: each item is then
// handed out, once.
func (tr *trial) drain() error {
	for p := range tr.m.gates {
		tr.m.gates[p] = gate{}
	}
	steps := []step{{Do: "leave"}, {Do: "pass", For: time.Hour}}
	for range tr.m.workers {
		steps = append(steps, step{Do: "done"})
	}
	left := len(tr.m.keys)
	for range left {
		steps = append(steps, step{Do: "next"}, step{Do: "done"})
	}
	for _, s := range steps {
		if err := tr.do(s); err != nil {
			return fmt.Errorf("draining: %w", err)
		}
	}
	if s := tr.q.Snapshot(); len(s.Waiting)+len(s.AtWork) > 0 {
		return fmt.Errorf("left after draining: %+v", s)
	}
	return nil
}

func TestModel(t *testing.T) {
	handed := 0
	rapid.Check(t, func(rt *rapid.T) {
		tr := newTrial(rapid.IntRange(0, 9).Draw(rt, "workers"))
		tr.m.workers = max(1, tr.m.workers)
		steps := rapid.SliceOfN(aStep("set", "set", "sooner", "sooner", "remove", "next", "next", "next", "next", "next", "done", "done", "done", "pass", "pass", "leave", "shut"), 80, 160).Draw(rt, "steps")
		must.Do(rt, tr.run(t, steps))
		handed += tr.count
	})
	t.Logf("%d hand-outs", handed)
}

// TestStarvation keeps every lane and priority busy, while work takes its time and
// admission comes and goes; the model counts what each of them misses.
func TestStarvation(t *testing.T) {
	handed := 0
	rapid.Check(t, func(rt *rapid.T) {
		tr := newTrial(rapid.IntRange(1, 9).Draw(rt, "workers"))
		tr.light = true
		absent := rapid.SliceOfN(rapid.Bool(), 2*priorities, 2*priorities).Draw(rt, "absent")
		admission := rapid.Bool().Draw(rt, "admission")
		script := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 400, 400).Draw(rt, "script")
		var err error
		synctest.Test(t, func(*testing.T) {
			err = busy(tr, absent, admission, script)
			if tr.wait != nil {
				tr.leave()
			}
		})
		must.Do(rt, err)
		handed += tr.count
	})
	t.Logf("%d hand-outs", handed)
}

func busy(tr *trial, absent []bool, admission bool, script []int) error {
	var items []Item[int]
	for key := range 30 {
		it := Item[int]{Key: key, Priority: Priority(key % priorities), Slow: key/priorities%2 == 1}
		if !absent[key%(2*priorities)] {
			items = append(items, it)
		}
	}
	if err := tr.do(step{Do: "set", Items: items, In: make([]time.Duration, len(items))}); err != nil {
		return err
	}
	for _, n := range script {
		steps := []step{{Do: "next"}}
		if all, _, _ := tr.m.atWork(); all >= tr.m.workers || n%3 == 0 || tr.wait != nil {
			steps = append(steps, step{Do: "again", Which: n / 3})
		}
		if admission && n%5 == 0 {
			shut := step{Do: "shut", Which: 0, For: 1, Items: []Item[int]{{Priority: Priority(n / 5 % priorities)}}, In: []time.Duration{0}}
			steps = append(steps, shut, step{Do: "pass", For: time.Duration(n / 25 % 2)})
		}
		for _, s := range steps {
			if s.Do == "again" {
				s = tr.again(s.Which)
			}
			if err := tr.do(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// again ends some work, of which the same comes at once.
func (tr *trial) again(which int) step {
	s := step{Do: "done", Which: which}
	atWork := tr.m.snapshot().AtWork
	if len(atWork) > 0 {
		it := atWork[which%len(atWork)].Item
		s.Items, s.In = []Item[int]{it}, []time.Duration{0}
	}
	return s
}
