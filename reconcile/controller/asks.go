package controller

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

const (
	// readAgainAfter is how long after one order to read a zone the next one counts.
	readAgainAfter = 10 * time.Second
	// Of all orders together, so many zones are read at once, and so many a second.
	mostReads       = 200
	readsEachSecond = 5
)

// asks bound how often zones are read because people order it.
type asks struct {
	all *rate.Limiter

	mu sync.Mutex
	at map[edge.Scope]time.Time // of the last order for each zone, while it counts
}

func newAsks() *asks {
	return &asks{all: rate.NewLimiter(readsEachSecond, mostReads), at: map[edge.Scope]time.Time{}}
}

// take returns the zones of an order that are to be read now.
func (a *asks) take(zones []edge.Scope, now time.Time) (some []edge.Scope) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, at := range a.at {
		if now.Sub(at) >= readAgainAfter {
			delete(a.at, id)
		}
	}
	for _, id := range zones {
		if _, asked := a.at[id]; !asked && a.all.AllowN(now, 1) {
			a.at[id] = now
			some = append(some, id)
		}
	}
	return some
}

// of is when a zone was ordered to be read; zero where that does not count any more.
func (a *asks) of(id edge.Scope) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at[id]
}

// ReadNow has declared zones read soon, and returns those. One that was ordered just before
// is not among them, nor is what is more than may be ordered at once. record is called with
// them first, and nothing is read where it fails. The requests are of the budget's share for
// work that is no push.
func (c *Controller) ReadNow(zones []edge.Scope, record func([]edge.Scope) error) ([]edge.Scope, error) {
	g := c.control.Current()
	if g == nil {
		return nil, ErrNotBegun
	}
	some := c.asks.take(zones, time.Now())
	if len(some) == 0 {
		return nil, nil
	}
	if err := record(some); err != nil {
		return nil, err
	}
	c.control.TryUnkept(some)
	for _, id := range some {
		if lane := c.lanes.at(g, id); lane != nil {
			lane.admission.breaker.hurry()
			lane.accounts.Hurry()
		}
	}
	priority := queue.Released
	if len(some) > reconcile.SmallPush {
		priority = queue.Sweep
	}
	c.lanes.sooner(g, itemsOf(some, priority, "requested")...)
	return some, nil
}

// Heed has what people have put on record acted on at once, and not with the next tick.
func (c *Controller) Heed() {
	c.control.Heed()
	c.ticks.poked.Poke()
}

// Hear takes in what people have put on record, for an answer that is given now.
func (c *Controller) Hear(ctx context.Context) error { return c.control.Hear(ctx) }

// Hint has what other processes have put on record looked for at once, and not with the next tick.
func (c *Controller) Hint() { c.ticks.poked.Poke() }

// Declared is a zone as the commit in force declares it, false where it does not.
func (c *Controller) Declared(id edge.Scope) (account desired.Account, zone desired.Zone, ok bool) {
	g := c.control.Current()
	if g == nil {
		return account, zone, false
	}
	t, ok := g.Task(id)
	if !ok {
		return account, zone, false
	}
	return t.Account(), t.Zone(), true
}

// Labels are those by which people have rights on a zone; without any where it is not declared.
func (c *Controller) Labels(id edge.Scope) inspect.ZoneLabels {
	declared, proved := c.control.Labels(id)
	return inspect.ZoneLabels{Declared: declared, Proved: proved}
}

// Waits reports whether changes of a zone wait now until a person approves a digest, and whether
// a commit asks for them: else they correct drift.
func (c *Controller) Waits(id edge.Scope, digest string) (waits, byCommit bool) {
	v := c.view()
	if v.g == nil || !v.g.Declares(id) {
		return false, false
	}
	t, _ := v.control.Task(v.g, id)
	for _, w := range v.waiting(t) {
		if w.Digest == digest {
			leaves := len(w.Fields) == 0 // settings, which only a commit has a zone do
			return true, leaves || v.control.CommitWork(v.g, id)
		}
	}
	return false, false
}

// Waited reports whether the last look at a zone has found that it waits for a digest.
func (c *Controller) Waited(id edge.Scope, digest string) bool {
	r, _ := c.fleet.of(id)
	n := r.last.notable
	return n != nil && slices.ContainsFunc(n.decisions, func(d inspect.Decision) bool { return d.Approve == digest })
}
