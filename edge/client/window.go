package client

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Window is what the processes that share a credential know of each other: how
// many requests count, and until when. It is a value that a [Store] keeps; only
// this package looks into it. Times are milliseconds since 1970 by the clock of the
// store, which all of them have in common.
type Window struct {
	Ended []Count `json:"ended,omitempty"` // what was answered, oldest first
	// Held is what each process may have under way, or may still send without asking
	// again. A process that is killed gives nothing back; its count ends by itself.
	Held   map[string]Count `json:"held,omitempty"`
	Resume int64            `json:"resume,omitempty"` // after a 429 no one sends before
	// Wanted says until when each class counts as one that waits for requests.
	Wanted [edge.Classes]int64 `json:"wanted,omitzero"`
	// Jumped is by how much, in milliseconds and all together, a clock was set forward that times here
	// have followed.
	Jumped int64 `json:"jumped,omitempty"`
	// Lost says that the count was there and could not be read. Half of the budget
	// is then taken to be used up: less would risk minutes of refusals, and more
	// would stop a fleet because of one damaged file.
	Lost bool `json:"-"`
}

// Count is how many requests of a class count until a time. A program that knows no classes
// writes none: what it sends counts as urgent.
type Count struct {
	Until int64      `json:"until"`
	N     int        `json:"n"`
	Class edge.Class `json:"class,omitempty"`
}

const (
	// useBy is how long a process may use what it took, and underWay the longest
	// that a request takes: six times the time after which a client gives one up.
	useBy    = 5 * time.Second
	underWay = 2 * time.Minute
	// pollHeld is how often to ask again for what other processes hold and may give
	// back at any time.
	pollHeld = 250 * time.Millisecond
	// grains is into how many parts a span is divided: requests that end in the same
	// one are counted together, until its end, so that a window stays small.
	grains = 256
)

// visit is what a process brings to the window, and what it asks for. Its times are by the
// clock of the store.
type visit struct {
	now    time.Time
	per    time.Duration
	quota  int // of all processes together
	holder string
	ended  []Count     // since its last visit
	held   classCounts // under way, or taken and not used
	class  edge.Class  // of want
	want   int         // more; zero for none
	waits  bool        // it has work that it does not begin before there is room for it
	resume time.Time   // as far as it knows
}

// bargain is what it gets.
type bargain struct {
	granted int
	next    time.Time // when to ask again, where nothing was granted
	more    time.Time // about when there is something for the class then, if no one takes it before; zero: not known
	resume  time.Time
	free    int         // of the quota, for anybody, behind what was granted
	rooms   classCounts // what of it each class may take
	lost    bool        // the count was lost before
}

// trade is one visit. However visits of processes follow each other, what counts
// is never more than the quota through a grant: a request counts from the grant
// before it is sent until per after it ended.
func (w *Window) trade(v visit) bargain {
	w.forget(v.now, v.per)
	got := bargain{lost: w.Lost}
	if w.Lost {
		w.add(Count{Until: grain(v.now, v.per), N: v.quota / 2})
		w.Lost = false
	}
	for _, c := range v.ended {
		w.add(c)
	}
	w.hold(v)
	w.Resume = max(w.Resume, milli(v.resume))
	got.resume = time.UnixMilli(w.Resume)
	if v.want > 0 || v.waits {
		w.want(v, time.Time{})
	}
	if v.want > 0 {
		w.grant(&v, &got)
	}
	got.free, got.rooms = max(v.quota-w.taken().sum(), 0), w.rooms(v.quota, v.now)
	return got
}

// grant gives the visitor of what there is for its class, or says when to ask again.
func (w *Window) grant(v *visit, got *bargain) {
	room := w.rooms(v.quota, v.now)[v.class]
	switch {
	case v.now.Before(got.resume):
		got.next = got.resume
	case room > 0:
		// Not more than half of what is free, so that no one sits on the last of it.
		got.granted = min(v.want, max(1, room/2))
		v.held[v.class] += got.granted
		w.hold(*v)
		return
	case v.quota > w.taken().sum(): // it is for other classes, while they ask
		got.next = v.now.Add(pollHeld)
	default:
		got.next = w.soonest(*v)
	}
	got.more = w.roomAgain(*v)
	w.want(*v, got.next)
}

// hold writes down what the visitor holds.
func (w *Window) hold(v visit) {
	for class, n := range v.held {
		key := v.holder
		if class > 0 {
			key += "/" + strconv.Itoa(class)
		}
		if n == 0 {
			delete(w.Held, key)
			continue
		}
		if w.Held == nil {
			w.Held = map[string]Count{}
		}
		w.Held[key] = Count{milli(v.now.Add(useBy + underWay + v.per)), n, edge.Class(class)}
	}
}

// soonest is when something may be free again.
func (w *Window) soonest(v visit) time.Time {
	next := v.now.Add(pollHeld)
	if len(w.Held) == 0 && len(w.Ended) > 0 {
		next = time.UnixMilli(w.Ended[0].Until)
	}
	return next
}

// roomAgain is when enough of what ended no longer counts for the class to have room; zero where what
// is held decides.
func (w *Window) roomAgain(v visit) time.Time {
	i, _ := slices.BinarySearchFunc(w.Ended, true, func(c Count, _ bool) int {
		later := Window{Held: w.Held, Wanted: w.Wanted}
		later.Ended = slices.DeleteFunc(slices.Clone(w.Ended), func(other Count) bool { return other.Until <= c.Until })
		if later.rooms(v.quota, v.now)[v.class] > 0 {
			return 0
		}
		return -1
	})
	if i == len(w.Ended) {
		return time.Time{}
	}
	return time.UnixMilli(w.Ended[i].Until)
}

// add counts requests that ended.
func (w *Window) add(c Count) { w.Ended = addCount(w.Ended, c) }

// addCount keeps counts in order, and those of one time and class together.
func addCount(counts []Count, c Count) []Count {
	i, there := slices.BinarySearchFunc(counts, c, func(have, c Count) int {
		return cmp.Or(cmp.Compare(have.Until, c.Until), cmp.Compare(have.Class, c.Class))
	})
	if there {
		counts[i].N += c.N
		return counts
	}
	return slices.Insert(counts, i, c)
}

// forget drops what no longer counts. What would count for longer than anything
// can was written by a clock that has been put back since.
func (w *Window) forget(now time.Time, per time.Duration) {
	over := func(c Count) bool { return c.Until <= now.UnixMilli() }
	kept := w.Ended
	w.Ended = nil
	for _, c := range kept {
		if !over(c) {
			c.Until = min(c.Until, grain(now, per))
			w.add(c)
		}
	}
	latest := milli(now.Add(useBy + underWay + per))
	for holder, c := range w.Held {
		c.Until = min(c.Until, latest)
		if w.Held[holder] = c; over(c) {
			delete(w.Held, holder)
		}
	}
	for class, until := range w.Wanted {
		w.Wanted[class] = min(until, milli(now.Add(maxResume+per+wantedFor)))
	}
	if w.Resume = min(w.Resume, milli(now.Add(maxResume))); w.Resume <= now.UnixMilli() {
		w.Resume = 0
	}
}

// over reports whether nothing counts any more.
func (w *Window) over(now time.Time) bool { return w.last() <= now.UnixMilli() }

// last is when that is so.
func (w *Window) last() int64 {
	last := w.Resume
	for _, c := range w.Held {
		last = max(last, c.Until)
	}
	for _, c := range w.Ended {
		last = max(last, c.Until)
	}
	return last
}

// grain is until when a request counts that ends now, rounded up.
func grain(now time.Time, per time.Duration) int64 {
	step := max(int64(per/time.Millisecond)/grains, 1)
	return (milli(now.Add(per)) + step - 1) / step * step
}

// milli rounds up; the zero time is zero.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Add(time.Millisecond - 1).UnixMilli()
}
