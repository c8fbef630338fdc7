package controller

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// commits is the way of a commit: proposed by the source, decided about by control, and
// then in the queues of all lanes.
type commits struct {
	source   *source.Source
	good     reconcile.GoodCommit // nil: nothing keeps the accepted commit in the store of git
	accepted func(commit string)
	control  *control.Control
	names    *directory.Names
	lanes    *lanes
	tokens   *queue.Queue[struct{}]
	seen     *lastSeen
	sweep    *turns
	retries  *retries
	reports  *reports
	outcomes *outcomes
	outages  *outage.Tracker
	log      *slog.Logger

	// publishing is held while a commit comes into force, until the queues have all of it.
	publishing sync.Mutex
	save       chan *control.Generation // declarations to be put on record; the newest counts
}

// startWhole is the part of the budget up to which a fleet is read as a whole at
// the start.
const startWhole = 4

// begin puts everything into the queue that is in force from an earlier process: what
// was not proved yet at once, and the rest by its turn; or all at once, where that
// costs little.
func (c *commits) begin() {
	g := c.control.Current()
	if g == nil {
		return
	}
	c.lanes.noteDeclared(c.outages, g)
	c.lanes.place(g, nil, false)
	work := c.fill(g)
	c.lanes.set(g, itemsOf(withID(work), urgency(len(work)), "not proved by an earlier process")...)
	c.reports.inForce(g, nil, false)
	c.tokens.Set(queue.Item[struct{}]{Reason: "start of the daemon"})
}

// fill puts the zones of the first generation of a process into the queue that were
// proved by an earlier one, and returns the others.
func (c *commits) fill(g *control.Generation) (work []edge.Scope) {
	now := time.Now()
	whole := map[*lane]bool{}
	for i, part := range c.lanes.of.Part(g.State) {
		requests := int64(c.lanes.all[i].Budget.Requests)
		whole[c.lanes.all[i]] = c.sweep.schedule == nil || requests == 0 || reconcile.SweepRequests(part)*startWhole <= requests
	}
	swept := c.control.Swept()
	if swept.IsZero() || swept.After(now) {
		swept = now
	}
	var turns []queue.Item[edge.Scope]
	for id := range g.Zones() {
		if c.control.CommitWork(g, id) {
			work = append(work, id)
			continue
		}
		due, ok := c.sweep.first(id, swept)
		if whole[c.lanes.at(g, id)] || !ok || due.Before(now) { // its turn came while no process was there
			due = now
		}
		due = now.Add(due.Sub(now)) // by the monotonic clock
		turns = append(turns, queue.Item[edge.Scope]{Key: id, Due: due, Priority: queue.Sweep, Reason: "its turn"})
	}
	c.lanes.set(g, turns...)
	return work
}

// follow has the source look, and decides about what it proposes, until ctx ends.
func (c *commits) follow(ctx context.Context) {
	if accepted := c.control.Accepted(); accepted != "" && c.control.Current() == nil {
		// An earlier process accepted it and could not put its declarations on record.
		if p := c.source.Evaluate(ctx, accepted); p.Err == nil {
			c.propose(ctx, p)
		}
	}
	c.source.Run(ctx, c.known, c.propose)
}

// known is the commit that need not be evaluated again: the one in force, unless
// another process has accepted one that nothing is known of.
func (c *commits) known() string {
	state, _ := c.control.InForce()
	if c.control.Accepted() != state.Commit {
		return ""
	}
	return state.Commit
}

// propose decides about a commit, and has done what the decision asks for.
func (c *commits) propose(ctx context.Context, p reconcile.Proposal) {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	noteGit(c.outages, p)
	p.State = c.names.Resolve(p.State)
	within, span := trace.Start(ctx, trace.Decide)
	d, err := c.control.Propose(within, p)
	tellDecided(span, p, d, err)
	if c.reports.state(ctx, "accept", err); err != nil {
		return
	}
	c.outcomes.decided(p, d, time.Now())
	if d.Accepted == nil {
		c.reports.looked(ctx, d.Held)
		return
	}
	c.accepted(d.Accepted.State.Commit)
	c.lanes.accepted.Store(&accepted{d.Accepted.State.Commit, trace.OriginOf(ctx)})
	c.reports.accepted(ctx, d, p.Problems)
	c.accept(d)
	if commit := d.Accepted.State.Commit; commit != "" && c.good != nil { // nothing waits for it
		c.reports.state(ctx, "good", c.good.SetGood(ctx, commit))
	}
}

// accept has the zones of a new generation read, and forgets those that left.
func (c *commits) accept(d control.Decision) {
	g := d.Accepted
	c.lanes.noteDeclared(c.outages, g)
	c.lanes.place(g, d.Gone, d.SameZones)
	if d.First {
		c.fill(g)
	}
	for _, id := range d.Gone {
		c.retries.worked(id)
	}
	c.seen.keep(g, d.Gone)
	c.outcomes.zones.published()
	c.lanes.set(g, itemsOf(withID(d.Look), queue.Bulk, "counting the changes of the commit")...)
	reason := "changed by commit " + g.State.Commit
	c.lanes.set(g, itemsOf(withID(d.Due), urgency(d.Forward), reason)...)
	if len(d.Due) > reconcile.SmallPush {
		c.lanes.set(g, itemsOf(d.Back, queue.Bulk, reason)...)
	}
	if d.Tokens {
		c.tokens.Set(queue.Item[struct{}]{Reason: "changed by a commit"})
	}
	if !d.SameZones { // else all names were looked up
		c.names.Poke()
	}
	for offered := false; !offered; {
		select {
		case c.save <- g:
			offered = true
		case <-c.save: // an older one need not be kept
		}
	}
}

// keepStates puts declarations on record, the newest at a time.
func (c *commits) keepStates(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case g := <-c.save:
			c.reports.state(ctx, "save", c.control.SaveState(context.WithoutCancel(ctx), g))
		}
	}
}

// reload takes over a commit that another process has accepted.
func (c *commits) reload(ctx context.Context) {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	c.reports.state(ctx, "names", c.names.Recall(ctx)) // it has looked them up, too
	d, err := c.control.Reload(ctx)
	if c.reports.state(ctx, "reload", err); err != nil {
		return
	}
	if d.Accepted == nil {
		c.source.Poke() // its declarations are not on record: the source proposes it
		return
	}
	c.reports.inForce(d.Accepted, d.Due, d.SameZones)
	c.accept(d)
}

// rename brings ids into force that were found since, and returns what is in force then.
func (c *commits) rename(ctx context.Context, g *control.Generation) *control.Generation {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	if c.control.Current() != g {
		c.names.Poke()
		return c.control.Current()
	}
	state := c.names.Resolve(g.State)
	if directory.SameIDs(g.State, state) {
		return g
	}
	d, err := c.control.Rename(ctx, g, state)
	if c.reports.state(ctx, "names", err); err != nil || d.Accepted == nil {
		return g
	}
	c.reports.renamed(d.Accepted, d.Renamed)
	c.accept(d)
	c.log.InfoContext(ctx, "zones were found by their names", "zones", len(d.Renamed))
	return d.Accepted
}

// withID are those of some zones whose id is known. The others are put into the queue when
// their names were looked up.
func withID(ids []edge.Scope) []edge.Scope {
	return slices.DeleteFunc(slices.Clone(ids), func(id edge.Scope) bool { return desired.Sought(id.ID) })
}
