package forge

import (
	"context"
	"sync"
	"time"
)

// Poker is who looks for itself once it is poked. Poke returns at once.
type Poker interface{ Poke() }

// Spaced returns what passes on pokes within this process, at most one in a second. One that comes
// too early is kept until that is over, for what it is about must be seen; more of them are one.
func Spaced(poked ...Poker) func(context.Context) error {
	pokes := &spaced{poked: poked}
	return func(context.Context) error {
		pokes.poke()
		return nil
	}
}

// spaced is the state of [Spaced].
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
