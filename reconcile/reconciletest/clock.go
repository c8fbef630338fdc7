package reconciletest

import (
	"sync"
	"time"
)

// Clock is a wall clock that moves when told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock stands at the beginning of 2026.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now is what it shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves it.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
