package sim

import (
	"sync"
	"time"
)

// clock is a clock that can be set and then goes on from there.
type clock struct {
	base func() time.Time

	mu     sync.Mutex
	offset time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base().Add(c.offset).UTC()
}

func (c *clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = at.Sub(c.base())
}

// SetClock makes at the time of the simulated platform, which goes on from
// there at the pace of the configured clock.
func (s *Server) SetClock(at time.Time) { s.clock.Set(at) }
