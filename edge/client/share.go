package client

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// maxResume bounds a pause that another process tells of.
const maxResume = wire.MaxPause

// Store keeps the [Window] of one credential for all processes that use it.
type Store interface {
	// Update has change alter the window, and keeps it, while no other process can come
	// between. It calls change once, or fails and does not; where it fails later, the window
	// may or may not have been kept. now is by a clock that all these processes have in
	// common, read when none can come between any more: by an earlier one change would
	// cut short what another has just written.
	// An absent window is the zero value; one that could not be read is Lost.
	Update(change func(w *Window, now time.Time)) error
	// Alone is how many requests out of a budget a process may have sent in a span, to send
	// more while Update fails.
	Alone(requests int) int
}

// ErrCountLost: the shared count was damaged, and has begun anew.
var ErrCountLost = errors.New("the shared count of requests could not be read; half of the budget is taken to be used up")

// Sharing is how a budget is shared with other processes.
type Sharing struct {
	Store Store
	Quota int // of all that share it; zero: that of the budget
	// Class is that of requests whose context has none; see [edge.WithClass].
	Class edge.Class
	// Tell is called, once each time it begins, with a count that was lost, as
	// [ErrCountLost], or that cannot be shared: this process alone then takes what its
	// store lets it, see [Store]. Nil calls nothing.
	Tell func(error)
}

// mostTaken bounds how many requests a process takes from the store at once, and
// shareOfQuota is the part of the quota it may be.
const (
	mostTaken    = 32
	shareOfQuota = 16
)

// idleAfter is when a process gives back what it took and did not use.
const idleAfter = time.Second

// sharing is a budget's side of it, guarded by the budget's lock. The store is
// not asked for each request: a process takes some at once, more the faster it
// uses them, and tells what ended when it comes for more, or is idle.
type sharing struct {
	Sharing
	holder  string
	purses  [edge.Classes]purse
	flight  classCounts // requests under way
	ended   []answered  // not told yet
	free    int         // in the store, when it was visited last
	rooms   classCounts // of it, by class
	failing bool
	idle    *time.Timer
	used    time.Time     // when something was taken from spare last
	visit   chan struct{} // closed with the end of the visit that is under way; nil: none is
	heard   time.Time     // until when others said that all have to wait
}

// answered are requests that ended at one time.
type answered struct {
	at    time.Time
	n     int
	class edge.Class
}

// purse is what a process took for the requests of a class.
type purse struct {
	spare int       // taken and not used
	useBy time.Time // the end of spare
	size  int       // of what was taken last
	next  time.Time // there is nothing before
	more  time.Time // about when there is something; zero: not known
	asked time.Time // when the store was asked how much there is
}

// fresh reports whether what was taken may be used. Both clocks have to say so: one is put
// back, the other stands still while the machine is suspended.
func (p *purse) fresh(now time.Time) bool {
	return now.Before(p.useBy) && now.Round(0).Before(p.useBy.Round(0))
}

// spare is what was taken for all classes and not used.
func (s *sharing) spare() (n int) {
	for _, p := range s.purses {
		n += p.spare
	}
	return n
}

// holds is what the process has under way, or may still send.
func (s *sharing) holds() classCounts {
	held := s.flight
	for c, p := range s.purses {
		held[c] += p.spare
	}
	return held
}

// giveBack drops what was taken and is not used: of all classes, or of those whose time is over.
func (s *sharing) giveBack(now time.Time, all bool) {
	for c := range s.purses {
		if p := &s.purses[c]; all || !p.fresh(now) {
			p.spare = 0
		}
	}
}

// Class is that of requests whose context has none.
func (b *Budget) Class() edge.Class {
	if b.share == nil {
		return edge.Urgent
	}
	return b.share.Class
}

// classOf is that of a request.
func (b *Budget) classOf(ctx context.Context) edge.Class {
	if c, said := edge.ClassOf(ctx); said {
		return c
	}
	return b.Class()
}

// Share makes the budget one with that of every process that shares the store.
// Call it before the first request.
func (b *Budget) Share(s Sharing) {
	setDefault(&s.Quota, b.requests)
	if s.Tell == nil {
		s.Tell = func(error) {}
	}
	b.share = &sharing{Sharing: s, holder: rand.Text()[:12]}
}

// borrow takes one request out of what the processes share, or says what there is to wait
// for, as tryTake does.
func (b *Budget) borrow(now time.Time, c edge.Class) (waitsFor, time.Duration, <-chan struct{}) {
	s := b.share
	if s == nil {
		return nothing, 0, nil
	}
	p := &s.purses[c]
	switch {
	case p.spare > 0 && p.fresh(now):
		p.spare--
		s.used = now
	case s.visit != nil:
		return moment, 0, s.visit
	case s.failing:
		if wait := b.alone(now, p.next); wait > 0 {
			return moment, wait, nil
		}
	default:
		return s.others(c), max(p.next.Sub(now), time.Millisecond), nil
	}
	s.flight[c]++
	return nothing, 0, nil
}

// expect is about how long a request waits that is to ask again after a time.
func (b *Budget) expect(c edge.Class, again time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.share == nil {
		return again
	}
	return max(again, b.share.purses[c].more.Sub(b.now()))
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// alone is how long a process that cannot share has to wait.
func (b *Budget) alone(now, next time.Time) time.Duration {
	if b.inFlight+len(b.ended) < b.share.Store.Alone(b.requests) {
		return 0
	}
	wait := next.Sub(now)
	if len(b.ended) > 0 {
		wait = min(wait, b.ended[0].Add(b.per).Sub(now))
	}
	return max(wait, time.Millisecond)
}

// others is what there is to wait for where nothing can be borrowed.
func (s *sharing) others(c edge.Class) waitsFor {
	switch {
	case s.free <= 0:
		return usedUp
	case s.rooms[c] <= 0:
		return keptUp
	}
	return moment
}

// lent is how many requests the store lets the process send without a wait, of so many at the most.
func (b *Budget) lent(now time.Time, c edge.Class, left int) int {
	switch s := b.share; {
	case s == nil:
	case s.failing:
		left = min(left, max(0, s.Store.Alone(b.requests)-b.inFlight-len(b.ended), s.purses[c].spare))
	case s.purses[c].spare == 0 && now.Before(s.purses[c].next):
		return 0
	}
	return left
}

// count notes that a request ended of which so many copies were sent, and sees
// to it that others learn of it. Of a 429 they do at once.
func (b *Budget) count(now time.Time, c edge.Class, sent int, throttled bool) {
	s := b.share
	if s == nil {
		return
	}
	s.flight[c]--
	if sent > 0 {
		s.ended = append(s.ended, answered{now, sent, c})
	}
	if throttled {
		b.meet(c, 0, false)
	}
	if b.inFlight == 0 && s.idle == nil {
		s.idle = time.AfterFunc(idleAfter, b.rest)
	}
}
