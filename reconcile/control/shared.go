package control

import (
	"context"
	"fmt"
	"maps"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What follows is for several processes over the same records, each of which works on the zones of
// some credentials: what becomes of zones that another process works on is not known here.

// Behind reports whether another process has accepted a commit that is not in force here: what it
// declares is not on record yet, or was not when that was asked last.
func (c *Control) Behind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.overtaken != "" || c.Current() == nil && c.state.onRecord != ""
}

// Retake takes everything on record anew, since some zones that another process has worked on are
// this one's now; mine says which. It returns what Reload does, and those of these zones that have a
// write without a result: they are to be read first.
func (c *Control) Retake(ctx context.Context, mine func(edge.Scope) bool) (d Decision, unfinished []edge.Scope, err error) {
	open, err := c.Records.Unfinished(ctx)
	if err != nil {
		return Decision{}, nil, fmt.Errorf("loading writes without a result: %w", err)
	}
	if d, err = c.Reload(ctx); err != nil {
		return Decision{}, nil, err
	}
	var resumed []reconcile.Entry
	for _, e := range open {
		if id := e.Subject.Scope; mine(id) {
			resumed, unfinished = append(resumed, e), append(unfinished, id)
		}
	}
	c.writes.Resume(resumed)
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, z := range c.state.zones.records {
		if mine(id) { // what was known of it is of before another process had it
			z.sent, z.under, z.settled = false, "", nil
		}
	}
	return d, unfinished, nil
}

// Leave forgets what zones wait for and what became of them, since another process works on them now.
func (c *Control) Leave(theirs func(edge.Scope) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.state.rollout.outcomes, func(id edge.Scope, _ reconcile.ZoneOutcome) bool { return theirs(id) })
	c.state.waiting.keep(func(id edge.Scope) bool { return !theirs(id) })
}
