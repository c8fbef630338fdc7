package controller

import (
	"sync"
	"sync/atomic"
	"time"
)

// Changes tells those who show how things are that something has changed: whoever changes
// something notes it, and whoever shows it waits for the next change. It costs no goroutine,
// and while no one waits a note is one addition. Its owner may keep it for longer than a
// [Controller] lives. It is safe for concurrent use. Make it with [NewChanges].
type Changes struct {
	count atomic.Uint64
	waits atomic.Bool // someone waits
	timer atomic.Bool // one runs that tells them
	mu    sync.Mutex
	next  chan struct{}
}

// together is for how long changes are gathered before they are told: a sweep changes many
// zones at once.
const together = 100 * time.Millisecond

// NewChanges returns one to which nothing has happened.
func NewChanges() *Changes { return &Changes{next: make(chan struct{})} }

// Note notes a change.
func (c *Changes) Note() {
	c.count.Add(1)
	if c.waits.Load() && c.timer.CompareAndSwap(false, true) {
		time.AfterFunc(together, c.tell)
	}
}

// Changed returns how many changes there were, and a channel that is closed soon after the
// next one.
func (c *Changes) Changed() (count uint64, next <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits.Store(true)
	return c.count.Load(), c.next
}

// tell tells those who wait.
func (c *Changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Store(false)
	c.waits.Store(false)
	close(c.next)
	c.next = make(chan struct{})
}
