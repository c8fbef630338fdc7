package controller

import (
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

const (
	// keptForPushes is how many requests of the budget only small pushes and reverts may
	// take; of a small budget, a tenth.
	keptForPushes = 60
	// requestsPerZone is what a zone takes that differs: the look, the write, the proof.
	requestsPerZone = 3
	// askAgain is how long to wait before the budget is asked again.
	askAgain = 250 * time.Millisecond
	// wantedFor is for how long a class that has asked counts as one that waits.
	wantedFor = 2 * time.Second
)

// class is who shares what of the budget is not kept for pushes.
type class int

const (
	work  class = iota // bulk, released, retry
	sweep              // the zones whose turn has come
	classes
)

func classOf(p queue.Priority) class {
	if p == queue.Sweep {
		return sweep
	}
	return work
}

// shares keeps the budget's classes to their shares of each window while both of them
// want more than there is. What one does not use flows to the other.
type shares struct {
	budget diff.Budget

	mu     sync.Mutex
	wanted [classes]time.Time     // when each last asked
	used   [classes][grains]int   // requests by part of the window
	grain  [classes][grains]int64 // which part that was
}

// grains is into how many parts a window is divided.
const grains = 30

// kept is what only pushes may take.
func (s *shares) kept() int { return min(keptForPushes, s.budget.Requests/10) }

// use counts requests of a class.
func (s *shares) use(c class, n int, now time.Time) {
	if s.budget.Per <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	part := s.part(now)
	i := part % grains
	if s.grain[c][i] != part {
		s.grain[c][i], s.used[c][i] = part, 0
	}
	s.used[c][i] += n
}

func (s *shares) part(now time.Time) int64 {
	return now.UnixNano() / max(1, int64(s.budget.Per)/grains)
}

// may reports whether a class may take more now. need is what the sweep takes in a
// window to hold its interval.
func (s *shares) may(c class, need int, now time.Time) bool {
	if s.budget.Per <= 0 || s.budget.Requests <= 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted[c] = now
	if other := 1 - c; now.Sub(s.wanted[other]) >= wantedFor {
		return true // nobody else wants it
	}
	all := s.budget.Requests - s.kept()
	share := min(need, all/2)
	if c == work {
		share = all - share
	}
	used, part := 0, s.part(now)
	for i, n := range s.used[c] {
		if part-s.grain[c][i] < grains {
			used += n
		}
	}
	return used < share
}

// admit says whether a zone may be worked on now: the budget is asked before a worker
// is taken. A push may take what there is.
func (c *Controller) admit(p queue.Priority, atWork int) (bool, time.Duration) {
	now := time.Now()
	if ok, wait := c.breaker.allow(now); !ok {
		return false, wait
	}
	if p == queue.Push {
		return true, 0
	}
	if !c.shares.may(classOf(p), c.sweepNeeds(now), now) || c.Room(c.shares.kept()+requestsPerZone*atWork) < requestsPerZone {
		return false, askAgain
	}
	return true, 0
}

// sweepNeeds is what the sweep takes of each window to hold its interval.
func (c *Controller) sweepNeeds(now time.Time) int {
	state, ok := c.control.InForce()
	turn := c.sweep.turn(now)
	if !ok || turn <= 0 || c.Budget.Per <= 0 {
		return 0
	}
	return int(float64(control.SweepRequests(state))*float64(c.Budget.Per)/float64(turn)) + 1
}
