package controller

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// take puts the zones of lanes into their queues whose lease this process has now: what was not
// proved yet at once, and the rest by its turn; or all at once, where that costs little. All on
// record is read first: another process has worked on them until now.
func (c *commits) take(ctx context.Context, got map[*lane]reconcile.Lease) bool {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	unfinished, ok := c.retake(ctx, func(id edge.Scope) bool {
		_, mine := got[c.lanes.at(c.control.Current(), id)]
		return mine
	})
	if !ok {
		return false
	}
	for lane, lease := range got {
		lane.held.Store(&lease)
	}
	c.outcomes.zones.proofs.note(edge.Scope{})
	g := c.control.Current()
	if g == nil {
		return true
	}
	work := c.fill(g, slices.Collect(maps.Keys(got))...)
	c.lanes.set(g, itemsOf(withID(work), urgency(len(work)), "not proved by an earlier process")...)
	c.lanes.set(g, itemsOf(withID(unfinished), queue.Push, "what became of a write is not known")...)
	c.reports.join(ctx, g.State.Commit, c.lanes.in(g, got), work)
	return true
}

// retake takes everything on record anew, for zones that are this process's now; it returns those of
// them of which a write has no result.
func (c *commits) retake(ctx context.Context, mine func(edge.Scope) bool) (unfinished []edge.Scope, ok bool) {
	if err := c.names.Recall(ctx); c.reports.quiet(ctx, "names", err) != nil {
		return nil, false
	}
	before := c.control.Current()
	d, unfinished, err := c.control.Retake(ctx, mine)
	if c.reports.quiet(ctx, "reload", err) != nil {
		return nil, false
	}
	c.takeOver(before, d)
	return unfinished, true
}

// takeOver takes over what is in force after all on record was read anew.
func (c *commits) takeOver(before *control.Generation, d control.Decision) {
	if d.Accepted == nil {
		return
	}
	if before == nil || before.State.Commit != d.Accepted.State.Commit {
		c.begun(before, d.Accepted)
		c.reports.inForce(d.Accepted, d.Due, d.SameZones)
	}
	c.accept(d)
}

// fill puts the zones of some lanes into their queues that were proved by an earlier process, and
// returns the others: it is for the first generation of a process, and for a lane whose lease it gets.
func (c *commits) fill(g *control.Generation, lanes ...*lane) (work []edge.Scope) {
	now := time.Now()
	whole := c.startWhole(g)
	swept := map[*lane]time.Time{}
	for _, lane := range lanes {
		lease := lane.held.Load()
		if lease == nil {
			continue
		}
		if swept[lane] = c.control.Swept(*lease); swept[lane].IsZero() || swept[lane].After(now) {
			swept[lane] = now
		}
		whole[lane] = whole[lane] && lease.Epoch == 0 // else another process has read them until now
	}
	var turns []queue.Item[edge.Scope]
	for id := range g.Zones() {
		lane := c.lanes.at(g, id)
		from, mine := swept[lane]
		if lane == nil || !mine {
			continue
		}
		if c.control.CommitWork(g, id) {
			work = append(work, id)
			continue
		}
		due, ok := c.sweep.first(id, from)
		if whole[lane] || !ok || due.Before(now) { // its turn came while no process was there
			due = now
		}
		due = now.Add(due.Sub(now)) // by the monotonic clock
		turns = append(turns, queue.Item[edge.Scope]{Key: id, Due: due, Priority: queue.Sweep, Reason: "its turn"})
	}
	c.lanes.set(g, turns...)
	return work
}

// startWhole says of which lanes all zones are looked at at once: it costs little, or they have no turns.
func (c *commits) startWhole(g *control.Generation) map[*lane]bool {
	whole := map[*lane]bool{}
	for i, part := range c.lanes.of.Part(g.State) {
		requests := int64(c.lanes.all[i].Budget.Requests)
		whole[c.lanes.all[i]] = c.sweep.schedule == nil || requests == 0 || reconcile.SweepRequests(part)*startWhole <= requests
	}
	return whole
}

// quiet notes how something that needs the state has ended, and returns the error. What another
// process does by now has not failed.
func (r *reports) quiet(ctx context.Context, part string, err error) error {
	r.state(ctx, part, err)
	return err
}
