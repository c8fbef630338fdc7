package controller

import (
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
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
	// wantedFor is for how long work that was asked for counts as work that waits.
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

// requestClass is the class of a priority's requests in the budget that processes share.
func requestClass(p queue.Priority) edge.Class {
	switch p {
	case queue.Push:
		return edge.Urgent
	case queue.Sweep:
		return edge.Sweep
	case queue.Bulk, queue.Released, queue.Retry:
		return edge.Bulk
	}
	return edge.Question // the smallest share
}

// shares keeps the budget's classes to their shares of each window. What the sweep needs
// comes evenly, so it is kept whether or not it is wanted at the moment: a large commit
// would use it up in a burst. What is left of the commit's share flows to the sweep.
type shares struct {
	budget diff.Budget

	mu     sync.Mutex
	wanted time.Time              // when there was work last
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
	all := s.budget.Requests - s.kept()
	share := min(need, all/2)
	switch {
	case c == work:
		s.wanted, share = now, all-share
	case now.Sub(s.wanted) >= wantedFor:
		return true // no one else wants it
	}
	used, part := 0, s.part(now)
	for i, n := range s.used[c] {
		if part-s.grain[c][i] < grains {
			used += n
		}
	}
	return used < share
}
