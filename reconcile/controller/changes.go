package controller

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/source"
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

// glance is what pages show beside zones, commits and tokens. Nothing tells when it changes: it
// is looked at once a second.
type glance struct {
	source  source.Progress
	failed  string // of the source
	queue   queue.Stats
	rollout *guard.Rollout
	holds   []diff.Hold
	freezes []inspect.Freeze
	outages []reconcile.Outage
}

func (v view) glance() glance {
	g := glance{
		source: v.source.Progress(), queue: v.lanes.stats(), rollout: v.control.Rollout(), holds: v.control.Holds(), freezes: v.freezes(),
		outages: v.lasting(),
	}
	if g.source.Err != nil {
		g.failed, g.source.Err = g.source.Err.Error(), nil
	}
	return g
}

// changed reports whether another glance shows something else.
func (g *glance) changed(now glance) bool {
	// What is compared by == is first: it is all that most daemons have, and reflection would
	// take most of the time of a tick.
	same := g.source == now.source && g.failed == now.failed && g.queue == now.queue &&
		len(g.holds) == len(now.holds) && len(g.freezes) == len(now.freezes) && len(g.outages) == len(now.outages)
	if same && (now.rollout != nil || g.rollout != nil || len(now.holds)+len(now.freezes)+len(now.outages) > 0) {
		same = reflect.DeepEqual(g.rollout, now.rollout) && reflect.DeepEqual(g.holds, now.holds) &&
			reflect.DeepEqual(g.freezes, now.freezes) && reflect.DeepEqual(g.outages, now.outages)
	}
	*g = now
	return !same
}
