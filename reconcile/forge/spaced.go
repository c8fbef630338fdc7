package forge

import (
	"sync"
	"time"
)

// Poker is who looks for itself once it is poked. Poke returns at once.
type Poker interface{ Poke() }

// spaced passes on pokes, at most one in a gap of time. One that comes too early is kept
// until the gap is over, for what it is about must be seen; more of them are one.
type spaced struct {
	poked []Poker

	mu      sync.Mutex
	last    time.Time
	waiting bool
}

const pokeGap = time.Second

func (s *spaced) poke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting {
		return
	}
	if rest := pokeGap - time.Since(s.last); rest > 0 {
		s.waiting = true
		time.AfterFunc(rest, s.passOn)
		return
	}
	s.last = time.Now()
	s.each()
}

// passOn passes on what was kept.
func (s *spaced) passOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting, s.last = false, time.Now()
	s.each()
}

func (s *spaced) each() {
	for _, p := range s.poked {
		p.Poke()
	}
}
