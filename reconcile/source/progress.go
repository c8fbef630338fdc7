package source

import (
	"sync"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Progress says how it is going with git.
type Progress struct {
	Commit   string    // the newest that was fetched; empty for none, and for a folder
	Success  time.Time // when a fetch succeeded last; zero: none since the start
	Failures int       // fetches that failed since then, in a row
	Err      error     // the last of them, nil where none has failed since
	Looking  time.Time // when the look began that goes on; zero: none does
	Next     time.Time // when the next look begins, unless someone pokes; zero: none is planned, or one goes on
}

// progress is that of a source, for whoever asks.
type progress struct {
	mu  sync.Mutex
	now Progress
}

// Progress says how it is going. It may be called at any time.
func (s *Source) Progress() Progress {
	s.progress.mu.Lock()
	defer s.progress.mu.Unlock()
	return s.progress.now
}

// A look is overdue after so many times of what is between two by the schedule, within these bounds.
const (
	overdueTimes   = 3
	soonestOverdue = 2 * time.Minute
	latestOverdue  = 15 * time.Minute
)

// Overdue reports whether a look goes on for far longer than it may. It may be called at any time.
func (s *Source) Overdue(now time.Time) bool {
	began := s.Progress().Looking
	if began.IsZero() {
		return false
	}
	bound := latestOverdue
	if s.Schedule != nil {
		if next := s.Schedule.Next(began); !next.IsZero() {
			bound = min(max(overdueTimes*s.Schedule.Next(next).Sub(next), soonestOverdue), latestOverdue)
		}
	}
	return now.Sub(began) > bound
}

// begin notes that a look begins.
func (p *progress) begin(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Looking, p.now.Next = now, time.Time{}
}

// end notes that a look has ended, with what was made of it.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Looking = time.Time{}
}

// waits notes when the next look begins.
func (p *progress) waits(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Next = until
}

// looked notes what a look has come to. A commit that cannot be evaluated, or that is
// not trusted, was fetched.
func (p *progress) looked(proposal reconcile.Proposal, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proposal.Err != nil && proposal.Commit == "" {
		p.now.Failures, p.now.Err = p.now.Failures+1, proposal.Err
		return
	}
	p.now.Commit, p.now.Success, p.now.Failures, p.now.Err = proposal.Commit, now, 0, nil
}
