package controller

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
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
	leases   reconcile.Leases
	unlooked int64        // [control.Control.Unlooked] before the look at git that goes on; the source's goroutine has it
	led      atomic.Int64 // when commits became this process's to decide about; Unix nanoseconds

	// publishing is held while a commit comes into force, until the queues have all of it.
	publishing sync.Mutex
	save       chan *control.Generation // declarations to be put on record; the newest counts
}

// startWhole is the part of the budget up to which a fleet is read as a whole at
// the start.
const startWhole = 4

// begin puts everything into the queue that is in force from an earlier process: what
// was not proved yet at once, and the rest by its turn; or all at once, where that
// costs little. What is under a lease comes with that.
func (c *commits) begin() {
	g := c.control.Current()
	if g == nil {
		return
	}
	c.lanes.noteDeclared(c.outages, g)
	c.lanes.place(g, nil, false)
	work := c.fill(g, c.lanes.all...)
	c.lanes.set(g, itemsOf(withID(work), urgency(len(work)), "not proved by an earlier process")...)
	c.reports.inForce(g, nil, false)
	c.tokens.Set(queue.Item[struct{}]{Reason: "start of the daemon"})
}

// known is the commit that need not be evaluated again: the one in force, unless
// another process has accepted one that nothing is known of. It is asked for right before a look at git.
func (c *commits) known() string {
	c.unlooked = c.control.Unlooked()
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
	defer func() { c.lanes.sweepOn(false) }() // zones of a push before may wait for their proofs
	noteGit(c.outages, p)
	if c.news(p) && !c.refresh(ctx) {
		return
	}
	p.State = c.names.Resolve(p.State)
	within, span := trace.Start(ctx, trace.Decide)
	d, err := c.control.Propose(within, p)
	tellDecided(span, p, d, err)
	if c.reports.state(ctx, "accept", err); err != nil {
		return
	}
	c.outcomes.decided(p, d, time.Now())
	if d.Held == nil {
		c.reports.state(ctx, "looked at", c.control.LookedAt(ctx, c.unlooked, p.Commit))
	}
	if d.Accepted == nil {
		c.reports.looked(ctx, d.Held)
		return
	}
	c.accepted(d.Accepted.State.Commit)
	c.lanes.accepted.Store(&accepted{d.Accepted.State.Commit, trace.OriginOf(ctx)})
	if urgency(d.Forward) == queue.Push {
		c.lanes.first.proves() // the last of its zones has the sweep go on
	}
	c.reports.accepted(ctx, d, p.Problems)
	c.accept(d)
	c.keep(d.Accepted)
	if commit := d.Accepted.State.Commit; commit != "" && c.good != nil { // nothing waits for it
		c.reports.state(ctx, "good", c.good.SetGood(ctx, commit))
	}
}

// rehearsed takes over the values of the commit in force as they were evaluated in this process.
func (c *commits) rehearsed(state desired.State) {
	same := c.control.Adopt(c.names.Resolve(state))
	c.log.Debug("the commit in force was evaluated ahead of the next one", "commit", state.Commit, "as_on_record", same)
	if !same {
		return
	}
	c.publishing.Lock() // not before: to compare takes a while
	defer c.publishing.Unlock()
	g := c.control.Current()
	if c.lanes.placed.Same(g) {
		c.lanes.placed = g
	}
	c.reports.adopted(g)
	c.outcomes.zones.published()
}

// accept has the zones of a new generation read, and forgets those that left.
func (c *commits) accept(d control.Decision) {
	g := d.Accepted
	c.lanes.noteDeclared(c.outages, g)
	c.lanes.place(g, d.Gone, d.SameZones)
	if d.First {
		c.fill(g, c.lanes.all...)
	}
	for _, id := range d.Gone {
		c.retries.worked(id)
	}
	c.seen.keep(g, d.Gone)
	c.outcomes.zones.published()
	// All at once: a zone that is taken between two of these would be read twice.
	items := itemsOf(withID(d.Look), queue.Bulk, "counting the changes of the commit")
	reason := "changed by commit " + g.State.Commit
	items = append(items, itemsOf(withID(d.Due), urgency(d.Forward), reason)...)
	if len(d.Due) > reconcile.SmallPush {
		items = append(items, itemsOf(d.Back, queue.Bulk, reason)...)
	}
	c.lanes.set(g, items...)
	if d.Tokens {
		c.tokens.Set(queue.Item[struct{}]{Reason: "changed by a commit"})
	}
	if !d.SameZones { // else all names were looked up
		c.names.Poke()
	}
}

// saveState puts declarations on record, and reports whether that is to be tried again: other
// processes wait for them. Without others they are evaluated again where they are not there.
func (c *commits) saveState(ctx context.Context, g *control.Generation) (again bool) {
	within, end, held := reconcile.Begin(context.WithoutCancel(ctx), c.leases, reconcile.LeaseCommits)
	defer end()
	if !held {
		return true // unless another process has them on record by then, this one may have to
	}
	err := c.control.SaveState(within, g)
	c.reports.state(ctx, "save", err)
	_, shared := reconcile.LeaseIn(within)
	return err != nil && shared
}

// offer has declarations put on record a while later, unless there are newer ones.
func (c *commits) offer(ctx context.Context, g *control.Generation) {
	select {
	case <-ctx.Done():
	case <-time.After(tickEvery):
	}
	if !c.control.Current().Same(g) {
		return
	}
	select {
	case c.save <- g:
	default: // newer ones
	}
}

// keep has declarations put on record.
func (c *commits) keep(g *control.Generation) {
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
			if again := c.saveState(ctx, g); again {
				c.offer(ctx, g)
			}
		}
	}
}

// reload takes over a commit that another process has accepted. It reports whether all on record was
// read: where it was not, it is to be called again.
func (c *commits) reload(ctx context.Context) (read bool) {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	recalled := c.names.Recall(ctx) // it has looked them up, too
	c.reports.state(ctx, "names", recalled)
	c.forgetTheirs()
	before := c.control.Current()
	d, err := c.control.Reload(ctx)
	if c.reports.state(ctx, "reload", err); err != nil {
		return false
	}
	read = recalled == nil
	if d.Accepted == nil {
		if c.leads() {
			c.source.Poke() // its declarations are not on record: the source proposes it
		}
		return read // whoever has accepted it puts them there: the next tick asks again
	}
	c.begun(before, d.Accepted)
	c.reports.inForce(d.Accepted, d.Due, d.SameZones)
	c.accept(d)
	c.keep(d.Accepted)
	return read
}

// rename brings ids into force that were found since, and returns what is in force then.
func (c *commits) rename(ctx context.Context, g *control.Generation) *control.Generation {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	now := c.control.Current()
	if !now.Same(g) {
		c.names.Poke()
		return now
	}
	g = now
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
	c.keep(d.Accepted)
	c.log.InfoContext(ctx, "zones were found by their names", "zones", len(d.Renamed))
	return d.Accepted
}

// renamed reports whether another process has found other ids of zones than those in force.
func (c *commits) renamed(ctx context.Context) bool {
	g := c.control.Current()
	if g == nil || !g.Named() {
		return false
	}
	err := c.names.Recall(ctx)
	c.reports.state(ctx, "names", err)
	return err == nil && !directory.SameIDs(g.State, c.names.Resolve(g.State))
}

// withID are those of some zones whose id is known. The others are put into the queue when
// their names were looked up.
func withID(ids []edge.Scope) []edge.Scope {
	return slices.DeleteFunc(slices.Clone(ids), func(id edge.Scope) bool { return desired.Sought(id.ID) })
}
