package client

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/retry"
)

// maxResume bounds a pause that another process tells of.
const maxResume = wire.MaxPause

// Store keeps the [Window] of one credential for all processes of a host.
type Store interface {
	// Update has change alter the window, and keeps it, while no other process can
	// come between. It calls change once, or fails and keeps the window as it was.
	// An absent window is the zero value; one that could not be read is Lost.
	Update(change func(*Window)) error
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
	// [ErrCountLost], or that cannot be shared: this process alone then takes half
	// of its budget. Nil calls nothing.
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
	ended   []Count     // not told yet
	free    int         // in the store, when it was visited last
	rooms   classCounts // of it, by class
	visited time.Time
	failing bool
	idle    *time.Timer
	used    time.Time // when something was taken from spare last
}

// purse is what a process took for the requests of a class.
type purse struct {
	spare int       // taken and not used
	useBy time.Time // the end of spare
	size  int       // of what was taken last
	next  time.Time // there is nothing before
	asked time.Time // when the store was asked how much there is
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
		if p := &s.purses[c]; all || !now.Before(p.useBy) {
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

// Close gives back what other processes may use. The budget goes on working.
func (b *Budget) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.share; s != nil {
		if s.idle != nil && s.idle.Stop() {
			s.idle = nil // there will be nothing left to give back
		}
		s.giveBack(time.Time{}, true)
		b.meet(time.Now(), s.Class, 0)
	}
}

// borrow takes one request out of what the processes share, and returns zero, or
// how long to wait.
func (b *Budget) borrow(now time.Time, c edge.Class) time.Duration {
	s := b.share
	if s == nil {
		return 0
	}
	if wait := b.refill(now, c); wait > 0 {
		return wait
	}
	if s.failing {
		wait := b.alone(now)
		if wait == 0 {
			s.flight[c]++
		}
		return wait
	}
	s.purses[c].spare--
	s.flight[c]++
	s.used = now
	return 0
}

// others is what there is to wait for where nothing can be borrowed.
func (b *Budget) others(c edge.Class) waitsFor {
	switch s := b.share; {
	case s.failing: // half of the budget is taken to be used up
		return moment
	case s.free <= 0:
		return usedUp
	case s.rooms[c] <= 0:
		return keptUp
	}
	return moment
}

// refill sees to it that there is something to take; otherwise it returns how
// long to wait.
func (b *Budget) refill(now time.Time, c edge.Class) time.Duration {
	s := b.share
	p := &s.purses[c]
	fresh := now.Before(p.useBy)
	if p.spare > 0 && fresh {
		return 0
	}
	if !now.Before(p.next) {
		p.spare = 0
		p.size = min(p.size*2, mostTaken, s.Quota/shareOfQuota)
		if p.size = max(p.size, 1); !fresh {
			p.size = 1
		}
		b.meet(now, c, p.size)
	}
	if p.spare > 0 || s.failing {
		return 0
	}
	return max(p.next.Sub(now), time.Millisecond)
}

// alone is the budget of a process that cannot share: half of it.
func (b *Budget) alone(now time.Time) time.Duration {
	switch {
	case b.inFlight+len(b.ended) < max(1, b.requests/2):
		return 0
	case len(b.ended) > 0:
		return b.ended[0].Add(b.per).Sub(now)
	}
	return pollHeld
}

// meet visits the store, and asks for requests of a class.
func (b *Budget) meet(now time.Time, c edge.Class, want int) {
	s := b.share
	s.giveBack(now, false)
	v := visit{now, b.per, s.Quota, s.holder, s.ended, s.holds(), c, want, s.purses[c].asked.Equal(now), b.resume}
	var got bargain
	if err := s.Store.Update(func(w *Window) { got = w.trade(v) }); err != nil {
		if !s.failing {
			s.Tell(err)
		}
		s.failing = true
		for i := range s.purses {
			s.purses[i].spare, s.purses[i].next = 0, now.Add(retry.Count.First)
		}
		return
	}
	if got.lost {
		s.Tell(ErrCountLost)
	}
	if s.failing {
		for i := range s.purses {
			s.purses[i].next = time.Time{}
		}
	}
	s.failing, s.ended = false, nil
	s.free, s.rooms, s.visited = got.free, got.rooms, now
	if want > 0 {
		p := &s.purses[c]
		p.spare, p.useBy, p.next = p.spare+got.granted, now.Add(useBy), got.next
	}
	if got.resume.After(b.resume) {
		b.resume = got.resume
	}
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
		s.ended = addCount(s.ended, Count{grain(now, b.per), sent, c})
	}
	if throttled {
		b.meet(now, c, 0)
	}
	if b.inFlight == 0 && s.idle == nil {
		s.idle = time.AfterFunc(idleAfter, b.rest)
	}
}

// rest gives back what is not used, once nothing was sent for a while.
func (b *Budget) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, now := b.share, time.Now()
	s.idle = nil
	switch left := idleAfter - now.Sub(s.used); {
	case b.inFlight > 0: // the end of the last one comes here again
	case left > 0:
		s.idle = time.AfterFunc(left, b.rest)
	default:
		s.giveBack(now, true)
		b.meet(now, s.Class, 0)
	}
}
