package worker

import (
	"sync"
	"time"
)

// Spare keeps one worker process ahead of the jobs, for [Runner.Spare]. There is
// nothing of any job in it, neither its input nor its environment. While it waits it
// takes a few MiB of memory, for its program is the parent's, and no processor time.
// It ends with the parent, however that does.
//
// The zero Spare has the default bounds. It begins with [Spare.Prepare], and is to be
// closed. It is safe for concurrent use, and a nil Spare never has a process.
type Spare struct {
	Limits     Limits // those for the process, as in the Runner that takes it
	Executable string // the same
	// Ahead is a job without input that the process does before it waits, so that the
	// one it waits for finds everything loaded; empty for none. What it emits and returns
	// is dropped.
	Ahead string
	// Busy says for how long, at the most, something goes on yet that is to have the processors first:
	// the start of a process takes some of them. Nil: nothing ever does.
	Busy func() time.Duration

	mu      sync.Mutex
	waiting *child      // nil for none
	timer   *time.Timer // nil until there is one to be started
	closed  bool
}

// askAgain is after how long Busy is asked again at the latest: what goes on may end earlier than it
// must.
const askAgain = 250 * time.Millisecond

// Prepare has a process started, unless one waits: at once, or as soon as nothing has the processors
// first. Each job asks for the next one as it begins, so that one which nobody waits for leaves a
// process to the one that comes meanwhile.
func (s *Spare) Prepare() {
	if s != nil {
		s.startIn(0)
	}
}

// startIn has the process started after a while.
func (s *Spare) startIn(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.waiting != nil {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(d, s.start)
}

// start starts the process, unless something has the processors first. Without it the next job starts
// its own, and says what keeps it from that.
func (s *Spare) start() {
	if s.Busy != nil {
		if d := s.Busy(); d > 0 {
			s.startIn(min(d, askAgain))
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.waiting != nil {
		return
	}
	if c, err := start(s.kind(), s.Ahead); err == nil {
		s.waiting = c
	}
}

func (s *Spare) kind() kind { return kindOf(s.Executable, s.Limits.withDefaults()) }

// take returns the process that waits, nil where there is none of the kind.
func (s *Spare) take(k kind) *child {
	if s == nil || s.kind() != k {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.waiting
	s.waiting = nil
	if c != nil && !c.alive() {
		c.end()
		return nil
	}
	return c
}

// Close ends the process that waits. Jobs that come later start their own.
func (s *Spare) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.waiting != nil {
		s.waiting.end()
		s.waiting = nil
	}
}
