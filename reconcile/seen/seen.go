// Package seen keeps what each entry point was when it was read last, and when. Many
// zones can then be planned without a request: to count what a commit changes, or to
// show how a fleet is.
//
// It is never the ground for a write: each write reads first. What was written is
// forgotten before it is sent, so that nothing here is older than our own writes.
package seen

import (
	"maps"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Entry is what was seen of a zone.
type Entry struct {
	EntryPoint diff.Observed[edge.Ruleset]
	Others     map[edge.Phase]diff.Observed[edge.Ruleset] // those of other phases
	At         time.Time                                  // when it was asked for
}

// Cache keeps an entry for each zone, in memory. It is safe for concurrent use; the
// zero value is empty.
type Cache struct {
	mu    sync.Mutex
	zones map[edge.Scope]Entry
	plans map[edge.Scope]*diff.Memory
}

// Put keeps what was seen, in the place of what there is.
func (c *Cache) Put(zone edge.Scope, e Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.zones == nil {
		c.zones = map[edge.Scope]Entry{}
	}
	c.zones[zone] = e
}

// Get returns what was seen last.
func (c *Cache) Get(zone edge.Scope) (Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.zones[zone]
	return e, ok
}

// Drop forgets what was seen of a zone.
func (c *Cache) Drop(zone edge.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.zones, zone)
}

// Plans returns the memory by which planning a zone again costs little. Only who
// works on the zone may use it.
func (c *Cache) Plans(zone edge.Scope) *diff.Memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.plans[zone]
	if m == nil {
		if c.plans == nil {
			c.plans = map[edge.Scope]*diff.Memory{}
		}
		m = m.Renew()
		c.plans[zone] = m
	}
	return m
}

// Keep forgets zones that are not declared.
func (c *Cache) Keep(declared func(edge.Scope) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.zones, func(id edge.Scope, _ Entry) bool { return !declared(id) })
	maps.DeleteFunc(c.plans, func(id edge.Scope, _ *diff.Memory) bool { return !declared(id) })
}
