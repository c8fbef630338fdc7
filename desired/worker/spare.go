package worker

import (
	"sync"
	"time"
)

// Spare keeps one worker process ahead of the jobs, for [Runner.Spare]. It has
// nothing of any job in it: not its input, not its environment. It costs some 5 MiB of
// memory while it waits, for its program is the parent's, and no processor time. It
// ends with the parent, however that does.
//
// The zero Spare is ready and has none; the first job brings it. Close it. It is safe
// for concurrent use.
type Spare struct {
	mu      sync.Mutex
	waiting *child // nil for none
	kind    kind   // of waiting
	timer   *time.Timer
	closed  bool
}

// rest is how long after a job the next process is started: whoever gets the job's
// result is still busy with it.
const rest = time.Second

// take returns the process that waits, nil where there is none of the kind.
func (s *Spare) take(k kind) *child {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.waiting
	if c == nil || s.kind != k {
		return nil
	}
	s.waiting = nil
	if !c.alive() {
		c.end()
		return nil
	}
	return c
}

// prepare starts a process, unless one waits. Without one, the next job starts its
// own, and says what keeps it from that.
func (s *Spare) prepare(r Runner, limits Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.waiting != nil {
		return
	}
	if c, err := r.start(limits); err == nil {
		s.waiting, s.kind = c, r.kind(limits)
	}
}

// prepareLater starts a process when things have calmed down.
func (s *Spare) prepareLater(r Runner, limits Limits) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(rest, func() { s.prepare(r, limits) })
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
