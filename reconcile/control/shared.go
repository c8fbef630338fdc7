package control

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What follows is for several processes over the same records, each of which works on the zones of
// some credentials: what becomes of zones that another process works on is not known here.

// leading is the context of what only the process does that decides about commits; false where that
// is another one.
func (c *Control) leading(ctx context.Context) (context.Context, bool) {
	if c.Leads == nil {
		return ctx, true
	}
	lease, leads := c.Leads()
	return reconcile.Under(ctx, lease), leads
}

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
	c.Anew() // others have worked on them
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
			z.sent, z.under, z.settled, z.skips, z.recalled = false, "", nil, nil, false
		}
	}
	return d, unfinished, nil
}

// Leave forgets what zones wait for and what became of them, since another process works on them now.
func (c *Control) Leave(theirs func(edge.Scope) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.state.rollout.outcomes, func(id edge.Scope, _ reconcile.ZoneOutcome) bool { return theirs(id) })
	maps.DeleteFunc(c.state.rollout.under, func(id edge.Scope, _ reconcile.Lease) bool { return theirs(id) })
	c.state.waiting.keep(func(id edge.Scope) bool { return !theirs(id) })
}

// count has a permitted change count for the limits of all processes. Where others have counted what
// is not known here, that is taken in: the change is to be judged again.
func (c *Control) count(ctx context.Context, p permit) error {
	if p.count == nil || !c.Shared {
		return nil
	}
	count := *p.count
	count.By = c.process
	err := c.Records.Tally(ctx, count, p.counted, c.Now().Add(-c.DriftFor))
	if errors.Is(err, reconcile.ErrCounted) {
		return errors.Join(err, c.recount(ctx))
	}
	if err != nil {
		return fmt.Errorf("counting the change for limits: %w", err)
	}
	return nil
}

// recount takes in what all processes have counted for limits since that was asked last.
func (c *Control) recount(ctx context.Context) error {
	for c.Shared {
		c.mu.Lock()
		on, after, restored := c.state.limits.on, c.state.limits.counted, c.state.restored
		c.mu.Unlock()
		if !on {
			return nil
		}
		list, err := c.Records.Tallied(ctx, after)
		if err != nil {
			return fmt.Errorf("reading what counts for limits: %w", err)
		}
		c.mu.Lock()
		same := c.state.restored == restored && c.state.limits.on
		if same {
			c.state.join(list, c.state.accepted.Commit, c.process)
		}
		c.mu.Unlock()
		if same {
			return nil
		}
	}
	return nil
}

// recordWhole puts on record how much the commit in force changes, where that was counted here, is
// news, and this process decides about commits: all others wait for it before they write any of the
// commit. It reports whether they did, and this one, too.
func (c *Control) recordWhole(ctx context.Context) (first bool, err error) {
	if !c.Shared {
		return false, nil
	}
	c.wholes.Lock()
	defer c.wholes.Unlock()
	ctx, leads := c.leading(ctx)
	c.mu.Lock()
	g, l := c.Current(), &c.state.limits
	if !leads || g == nil || !l.on || !l.weighs || l.reading() {
		c.mu.Unlock()
		return false, nil
	}
	whole := reconcile.Count{Commit: g.State.Commit, At: c.Now(), By: c.process, All: maps.Collect(l.commit.Zones()), Read: c.state.lately(g)}
	l.weighs = false
	known := l.whole != nil && maps.Equal(l.whole.All, whole.All)
	c.mu.Unlock()
	if known {
		return false, nil
	}
	err = c.Records.Counted(ctx, whole)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch current := c.Current(); {
	case err != nil:
		c.state.limits.weighs = true
	case current.State.Commit == whole.Commit && c.state.limits.on:
		first = c.state.limits.whole == nil
		c.state.limits.take(&whole)
	}
	if err == nil || errors.Is(err, reconcile.ErrSuperseded) || errors.Is(err, reconcile.ErrLeaseLost) {
		return first, nil // where it failed another process decides, or another commit is accepted
	}
	return false, fmt.Errorf("recording how much the commit changes: %w", err)
}
