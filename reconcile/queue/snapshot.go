package queue

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot is what a queue holds at one time.
type Snapshot[K comparable] struct {
	Waiting []Item[K] // by due time, then in the order of setting
	AtWork  []Work[K] // by when they began
}

// Snapshot lists all items. It copies them, so it is for people who look at it and not
// for each request; metrics use Stats.
func (q *Queue[K]) Snapshot() (s Snapshot[K]) {
	waiting, atWork := q.list()
	slices.SortFunc(waiting, func(a, b entry[K]) int {
		return cmp.Or(a.next.Due.Compare(b.next.Due), cmp.Compare(a.seq, b.seq))
	})
	for _, e := range waiting {
		s.Waiting = append(s.Waiting, e.next)
	}
	slices.SortFunc(atWork, func(a, b entry[K]) int { return cmp.Compare(a.handed, b.handed) })
	for _, e := range atWork {
		w := *e.work
		if e.comes {
			w.Next = new(e.next)
		}
		s.AtWork = append(s.AtWork, w)
	}
	return s
}

// list returns what waits and what is at work. The entries are not in the queue, and
// their work does not change while it goes on.
func (q *Queue[K]) list() (waiting, atWork []entry[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.entries {
		if e.work == nil {
			waiting = append(waiting, *e)
		} else {
			atWork = append(atWork, *e)
		}
	}
	return waiting, atWork
}

// Of returns the item that is to come next for a key, and the work on it; nil where there
// is none.
func (q *Queue[K]) Of(key K) (next *Item[K], work *Work[K]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	if e == nil {
		return nil, nil
	}
	if e.comes {
		next = new(e.next)
	}
	if e.work != nil {
		work = new(*e.work)
	}
	return next, work
}

// Longest returns the work that goes on for longest; false where none does.
func (q *Queue[K]) Longest() (longest Work[K], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first uint64
	for _, e := range q.entries {
		if e.work != nil && (!ok || e.handed < first) {
			longest, first, ok = *e.work, e.handed, true
		}
	}
	return longest, ok
}

// Stats counts the items of each priority: stats[queue.Push].Due.
type Stats [priorities]Count

// Count says how many items of one priority there are.
type Count struct {
	Waiting int       // not at work, due or not
	Due     int       // of those, due
	Oldest  time.Time // since when the first of them is due; zero: none is
	AtWork  int
}

// Stats counts the items. What was set while its key is at work is not counted.
func (q *Queue[K]) Stats() (s Stats) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ripen(q.config.Now())
	for p := range s {
		s[p] = Count{Waiting: q.waiting[p], AtWork: q.working[p]}
		var oldest *entry[K]
		for i := range q.lanes {
			s[p].Due += len(q.lanes[i].due[p])
			oldest = first(oldest, q.lanes[i].due[p].first())
		}
		if oldest != nil {
			s[p].Oldest = oldest.next.Since
		}
	}
	return s
}
