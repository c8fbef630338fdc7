package queue

import (
	"context"
	"sync"
	"time"
)

// Config is how a queue hands out. The zero value is one worker and no admission.
type Config[K comparable] struct {
	// Now is the clock; nil is time.Now. With another one, call Wake when it was moved:
	// the queue waits in real time.
	Now func() time.Time

	// Workers is how many items may be at work at once; below 1 means 1. If there are
	// more than 1, items of other priorities than Push use at most
	// Workers - max(1, Workers/4) places.
	Workers int

	// Slow is how many slow items may be at work at once; below 1 means a quarter of
	// Workers, and at least 1.
	Slow int

	// Admit says whether an item of this priority may begin now, while so many are at
	// work, and if not, when to ask again at the latest; 0 means not before something
	// else happens or Wake is called. It is only a question: an item that may begin may
	// still not be the next. It must be quick, and must not call the queue. nil admits
	// all.
	Admit func(p Priority, atWork int) (ok bool, again time.Duration)
}

// Queue is a work queue with one item per key. Make it with New. Its methods may be
// called from any goroutine; it has none of its own.
type Queue[K comparable] struct {
	config Config[K]

	mu      sync.Mutex
	entries map[K]*entry[K] // all that wait or are at work
	seq     uint64          // counts what was set
	handed  uint64          // counts what was handed out
	future  entryHeap[K]    // those that were not due when last read
	lanes   [lanes]lane[K]  // those that were
	waiting [priorities]int // how many are in future and lanes
	working [priorities]int // how many are at work
	atWork  [lanes]int      // the same by lane
	changed chan struct{}   // closed when Next should look again; nil: no one waits
	timer   *time.Timer     // calls Wake when time alone changes what Next sees
}

// New returns an empty queue.
func New[K comparable](c Config[K]) *Queue[K] {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Admit == nil {
		c.Admit = func(Priority, int) (bool, time.Duration) { return true, 0 }
	}
	c.Workers = max(1, c.Workers)
	if c.Slow < 1 {
		c.Slow = max(1, c.Workers/4)
	}
	return &Queue[K]{config: c, entries: map[K]*entry[K]{}}
}

// Set puts items, each in the place of the one with its key. An item that is due and
// is set again as due, with the same priority, keeps its place in the order. If the
// key is at work, the item comes when that is done, and counts instead of what Done
// is given.
//
// Set, Sooner and Done panic if a priority is none of the constants.
func (q *Queue[K]) Set(items ...Item[K]) {
	q.each(items, func(e *entry[K], it Item[K], now time.Time) {
		q.set(e, it, now)
		e.decided = true
	})
}

// Sooner asks that each key is handed out no later than at this due time, and with
// this priority at least. An item that waits and is due as early and as urgent stays
// as it is. Otherwise the more urgent of the two stays, with its reason, or else the
// earlier, and it is due as soon as either is. If the key is at work and was neither
// set nor removed since, what Done is given counts as the item that waits.
func (q *Queue[K]) Sooner(items ...Item[K]) { q.each(items, q.sooner) }

func (q *Queue[K]) each(items []Item[K], put func(*entry[K], Item[K], time.Time)) {
	for _, it := range items {
		it.Priority.check()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.config.Now()
	for _, it := range items {
		e := q.entries[it.Key]
		if e == nil {
			e = &entry[K]{key: it.Key}
			q.entries[it.Key] = e
		}
		q.out(e)
		put(e, it, now)
		q.in(e, now)
	}
	q.wake()
}

// set makes an item the one that comes next for its key.
func (q *Queue[K]) set(e *entry[K], it Item[K], now time.Time) {
	if it.Due.IsZero() {
		it.Due = now
	}
	it.Since = it.Due
	q.seq++
	seq := q.seq
	if was := e.next; e.comes {
		it.Slow = it.Slow || was.Slow
		if was.Priority == it.Priority && was.due(now) && it.due(now) {
			seq, it.Since = e.seq, earlier(was.Since, it.Since)
		}
	}
	e.next, e.seq, e.comes = it, seq, true
}

// sooner joins an item with the one that comes next for its key.
func (q *Queue[K]) sooner(e *entry[K], it Item[K], now time.Time) {
	if !e.comes {
		q.set(e, it, now)
		return
	}
	if it.Due.IsZero() {
		it.Due = now
	}
	first, second := e.next, it
	if it.Priority < first.Priority || it.Priority == first.Priority && it.Due.Before(first.Due) {
		first, second = it, first
	}
	first.Slow = first.Slow || second.Slow
	if first.Due.After(now) && second.Due.Before(first.Due) {
		first.Due = later(second.Due, now) // in its priority it was not due before
	}
	q.set(e, first, now)
}

// Remove takes the item of a key away. If the key is at work, nothing comes when that
// is done, whatever Done is given, unless it is set after this.
func (q *Queue[K]) Remove(key K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	if e == nil {
		return
	}
	q.out(e)
	e.comes, e.next, e.decided = false, Item[K]{}, true
	q.in(e, q.config.Now())
}

// Clear takes the items of all keys away, as Remove does.
func (q *Queue[K]) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.config.Now()
	for _, e := range q.entries {
		q.out(e)
		e.comes, e.next, e.decided = false, Item[K]{}, true
		q.in(e, now)
	}
}

// Next waits until an item is due, admitted, and has a worker place, and hands it
// out. It is at work from then until Done. Next returns the error of ctx when that
// ends.
func (q *Queue[K]) Next(ctx context.Context) (Item[K], error) {
	for {
		if err := ctx.Err(); err != nil {
			return Item[K]{}, err
		}
		it, changed := q.try()
		if changed == nil {
			return it, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// try hands out an item, or returns a channel that is closed when there may be one.
func (q *Queue[K]) try() (Item[K], <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.config.Now()
	q.ripen(now)
	may, again := q.open()
	if e := q.choose(may); e != nil {
		q.begin(e, now)
		return e.work.Item, nil
	}
	q.alarm(now, again)
	if q.changed == nil {
		q.changed = make(chan struct{})
	}
	return Item[K]{}, q.changed
}

func (q *Queue[K]) begin(e *entry[K], now time.Time) {
	q.out(e)
	q.handed++
	e.handed = q.handed
	e.work = &Work[K]{Item: e.next, Began: now}
	e.comes, e.next, e.decided = false, Item[K]{}, false
	q.working[e.work.Priority]++
	q.atWork[e.work.lane()]++
}

// Done ends the work at a key and says what comes next for it; nil is nothing. If the
// key was set while it was at work, that comes instead, and is slow if next is. If it
// was removed, nothing comes. What Sooner asked for meanwhile is joined with next. Done
// does nothing if the key is not at work.
func (q *Queue[K]) Done(key K, next *Item[K]) {
	if next != nil {
		next.Priority.check()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	if e == nil || e.work == nil {
		return
	}
	q.working[e.work.Priority]--
	q.atWork[e.work.lane()]--
	e.work = nil
	now := q.config.Now()
	if next != nil {
		q.follow(e, *next, now)
	}
	q.in(e, now)
	q.wake()
}

// follow puts what the work at a key ended with together with what was said meanwhile.
func (q *Queue[K]) follow(e *entry[K], next Item[K], now time.Time) {
	next.Key = e.key
	if e.decided {
		e.next.Slow = e.next.Slow || next.Slow
		return
	}
	atLatest, some := e.next, e.comes
	e.comes = false
	q.set(e, next, now)
	if some {
		q.sooner(e, atLatest, now)
	}
}

// Wake has Next ask Admit again now.
func (q *Queue[K]) Wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wake()
}

func (q *Queue[K]) wake() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}

// alarm sets the timer to when the first item becomes due, or after again if that is
// earlier and not 0. All other changes call wake. A timer that is too early is
// harmless.
func (q *Queue[K]) alarm(now time.Time, again time.Duration) {
	if e := q.future.first(); e != nil {
		again = shorter(again, e.next.Due.Sub(now))
	}
	switch {
	case again <= 0:
	case q.timer == nil:
		q.timer = time.AfterFunc(again, q.Wake)
	default:
		q.timer.Reset(again)
	}
}

// open returns which items may begin now, and if some were not admitted, after which
// time to ask again; 0 is none.
func (q *Queue[K]) open() (may [lanes]open, again time.Duration) {
	atWork := q.atWork[fast] + q.atWork[slow]
	quarter := max(1, q.config.Workers/4)
	places := [lanes]bool{atWork < q.config.Workers, atWork < q.config.Workers && q.atWork[slow] < q.config.Slow}
	others := atWork-q.working[Push] < max(1, q.config.Workers-quarter)
	for p := Push; p <= Sweep; p++ {
		var some open
		for i := range lanes {
			may[i][p] = places[i] && (p == Push || others) && len(q.lanes[i].due[p]) > 0
			some[p] = some[p] || may[i][p]
		}
		if !some[p] {
			continue
		}
		if ok, wait := q.config.Admit(p, atWork); !ok {
			may[fast][p], may[slow][p] = false, false
			again = shorter(again, wait)
		}
	}
	return may, again
}

// ripen moves the items that are due now to their lanes.
func (q *Queue[K]) ripen(now time.Time) {
	for e := q.future.first(); e != nil && e.next.due(now); e = q.future.first() {
		q.out(e)
		q.in(e, now)
	}
}

// in lets an entry wait if it should, and forgets it if it is of no more use.
func (q *Queue[K]) in(e *entry[K], now time.Time) {
	switch it := e.next; {
	case e.work != nil:
		return
	case !e.comes:
		delete(q.entries, e.key)
		return
	case it.due(now):
		e.enter(&q.lanes[it.lane()].due[it.Priority])
	default:
		e.enter(&q.future)
	}
	q.waiting[e.next.Priority]++
}

// out takes it from where it waits, if it does.
func (q *Queue[K]) out(e *entry[K]) {
	if e.heap != nil {
		q.waiting[e.next.Priority]--
		e.leave()
	}
}
