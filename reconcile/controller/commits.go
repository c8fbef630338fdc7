package controller

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

func urgency(zones int, revert bool) queue.Priority {
	if zones <= reconcile.SmallPush || revert {
		return queue.Push
	}
	return queue.Bulk
}

// itemsOf are zones to be read now.
func itemsOf(ids []edge.Scope, p queue.Priority, reason string) []queue.Item[edge.Scope] {
	items := make([]queue.Item[edge.Scope], len(ids))
	for i, id := range ids {
		items[i] = queue.Item[edge.Scope]{Key: id, Priority: p, Reason: reason}
	}
	return items
}

// startWhole is the part of the budget up to which a fleet is read as a whole at
// the start.
const startWhole = 4

// begin puts everything into the queue that is in force from an earlier process: what
// was not proved yet at once, and the rest by its turn; or all at once, where that
// costs little.
func (c *Controller) begin(ctx context.Context) {
	g := c.control.Current()
	if g == nil {
		return
	}
	c.lanes.noteDeclared(c.Outages, g)
	c.lanes.place(g, nil)
	work := c.fill(g)
	c.lanes.set(g, itemsOf(withID(work), urgency(len(work), false), "not proved by an earlier process")...)
	c.reports.inForce(ctx, g, nil)
	c.tokens.Set(queue.Item[struct{}]{Reason: "start of the daemon"})
}

// fill puts the zones of the first generation of a process into the queue that were
// proved by an earlier one, and returns the others.
func (c *Controller) fill(g *control.Generation) (work []edge.Scope) {
	now := time.Now()
	whole := map[*lane]bool{}
	for i, part := range c.Lanes.Part(g.State) {
		requests := int64(c.Lanes.All[i].Budget.Requests)
		whole[c.lanes.all[i]] = c.Sweep == nil || requests == 0 || reconcile.SweepRequests(part)*startWhole <= requests
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
func (c *Controller) follow(ctx context.Context) {
	if accepted := c.control.Accepted(); accepted != "" && c.control.Current() == nil {
		// An earlier process accepted it and could not put its declarations on record.
		if p := c.Source.Evaluate(ctx, accepted); p.Err == nil {
			c.propose(ctx, p)
		}
	}
	c.Source.Run(ctx, c.known, c.propose)
}

// known is the commit that need not be evaluated again: the one in force, unless
// another process has accepted one that nothing is known of.
func (c *Controller) known() string {
	state, _ := c.control.InForce()
	if c.control.Accepted() != state.Commit {
		return ""
	}
	return state.Commit
}

// propose decides about a commit, and has done what the decision asks for.
func (c *Controller) propose(ctx context.Context, p reconcile.Proposal) {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	noteGit(c.Outages, p)
	p.State = c.Names.Resolve(p.State)
	d, err := c.control.Propose(ctx, p)
	if c.reports.state(ctx, "accept", err); err != nil {
		return
	}
	c.outcomes.decided(p, d, time.Now())
	if d.Accepted == nil {
		c.reports.looked(ctx, d.Held)
		return
	}
	c.Begin(d.Accepted.State.Commit)
	c.reports.accepted(ctx, d, p.Problems)
	c.accept(d)
	if commit := d.Accepted.State.Commit; commit != "" && c.Good != nil { // nothing waits for it
		c.reports.state(ctx, "good", c.Good.SetGood(ctx, commit))
	}
}

// accept has the zones of a new generation read, and forgets those that left.
func (c *Controller) accept(d control.Decision) {
	g := d.Accepted
	c.lanes.noteDeclared(c.Outages, g)
	c.lanes.place(g, d.Gone)
	if d.First {
		c.fill(g)
	}
	for _, id := range d.Gone {
		c.retries.worked(id)
	}
	c.seen.Keep(g.Declares)
	c.lanes.forget(g)
	c.outcomes.keep(g.Declares)
	c.lanes.set(g, itemsOf(withID(d.Look), queue.Bulk, "counting the changes of the commit")...)
	reason := "changed by commit " + g.State.Commit
	c.lanes.set(g, itemsOf(withID(d.Due), urgency(len(d.Due)-len(d.Back), d.Revert), reason)...)
	if len(d.Due) > reconcile.SmallPush {
		c.lanes.set(g, itemsOf(d.Back, queue.Bulk, reason)...)
	}
	if d.Tokens {
		c.tokens.Set(queue.Item[struct{}]{Reason: "changed by a commit"})
	}
	c.names.poke()
	for offered := false; !offered; {
		select {
		case c.save <- g:
			offered = true
		case <-c.save: // an older one need not be kept
		}
	}
}

// keepStates puts declarations on record, the newest at a time.
func (c *Controller) keepStates(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case g := <-c.save:
			c.reports.state(ctx, "save", c.control.SaveState(context.WithoutCancel(ctx), g))
		}
	}
}

// tickEvery is how often control is asked what time and people have brought.
const tickEvery = time.Second

// sweptEvery is how often it is recorded how far the sweep has come.
const sweptEvery = time.Minute

// atWorkFor is for how long a look that was begun may go on: a process that ends may
// not have come to its end.
const atWorkFor = 30 * time.Second

// recordSwept records how far the sweep has come: to the oldest turn that is due, or
// may be at work.
func (c *Controller) recordSwept(ctx context.Context) {
	c.reports.state(ctx, "swept", c.Records.Swept(ctx, c.sweptUntil(time.Now())))
}

func (c *Controller) sweptUntil(now time.Time) time.Time {
	until := now.Add(-atWorkFor)
	if oldest := c.lanes.stats()[queue.Sweep].Oldest; !oldest.IsZero() && oldest.Before(until) {
		until = oldest
	}
	return until
}

// tick asks for that until ctx ends.
func (c *Controller) tick(ctx context.Context) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	last, swept := "", time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := time.Now(); now.Sub(swept) >= sweptEvery {
			swept = now
			c.recordSwept(ctx)
		}
		for _, lane := range c.lanes.all {
			lane.admission.turnsWaiting.Store(int64(lane.queue.Stats()[queue.Sweep].Waiting))
		}
		ticked, err := c.control.Tick(ctx)
		switch {
		case err == nil:
			last = ""
			c.Outages.Worked(reconcile.OutageState, "", "tick")
		case ctx.Err() == nil && outage.Cause(err) != last:
			last = outage.Cause(err)
			c.reports.state(ctx, "tick", err)
		case ctx.Err() == nil:
			c.Outages.Failed(reconcile.OutageState, "", "tick", err)
		}
		c.tryState(ctx, time.Now())
		c.Outages.Tick()
		c.countAway(ctx, time.Now())
		c.reports.soFar(ctx, time.Now())
		if len(ticked.Released) > 0 { // asking for nothing would wake every worker
			c.lanes.sooner(c.control.Current(), itemsOf(ticked.Released, queue.Released, "the wait is over")...)
		}
		if ticked.Tokens {
			c.tokens.Set(queue.Item[struct{}]{Reason: "something was released"})
		}
		if ticked.Overtaken != "" {
			c.reload(ctx)
		}
	}
}

// stateTries is how the state folder was found by the last tick.
type stateTries struct {
	next  time.Time // when it is tried again
	tries int       // in a row that found it to work, while something fails all the same
	lasts bool      // its outage
}

// tryState writes to the ledger while the state folder fails. Once its outage has ended, all
// that has failed is due at once. Where the ledger can be written and something fails all the
// same, it is tried ever more slowly: not every zone is to be asked again and again.
func (c *Controller) tryState(ctx context.Context, now time.Time) {
	s := &c.stateTries
	lasts, fails := c.Outages.State()
	if fails && !now.Before(s.next) {
		s.next = now.Add(retry.Ledger.First)
		if err := c.Records.Swept(ctx, c.sweptUntil(now)); err != nil {
			c.Outages.Failed(reconcile.OutageState, "", "swept", err)
		} else {
			c.Outages.Worked(reconcile.OutageState, "", "swept")
			if full := c.Outages.StateWorks(); full {
				c.Source.Poke() // git may have found no space
			} else {
				s.tries++
				s.next = now.Add(retry.Ledger.Delay(s.tries))
				c.stateAgain()
			}
			lasts, _ = c.Outages.State()
		}
	}
	if s.lasts && !lasts {
		s.tries = 0
		c.stateAgain()
	}
	s.lasts = lasts
}

// stateAgain has everything tried that may have failed of the state folder.
func (c *Controller) stateAgain() {
	const reason = "the state folder may work again"
	c.tokens.Sooner(queue.Item[struct{}]{Priority: queue.Retry, Reason: reason})
	c.lanes.sooner(c.control.Current(), itemsOf(c.retries.failing(), queue.Retry, reason)...)
}

// reload takes over a commit that another process has accepted.
func (c *Controller) reload(ctx context.Context) {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	c.reports.state(ctx, "names", c.Names.Recall(ctx)) // it has looked them up, too
	d, err := c.control.Reload(ctx)
	if c.reports.state(ctx, "reload", err); err != nil {
		return
	}
	if d.Accepted == nil {
		c.Source.Poke() // its declarations are not on record: the source proposes it
		return
	}
	c.reports.inForce(ctx, d.Accepted, d.Due)
	c.accept(d)
}

// lookNow has every zone read when that is asked for.
func (c *Controller) lookNow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.Look:
		}
		c.Source.Poke()
		g := c.control.Current()
		if g == nil {
			continue
		}
		c.lanes.ask(time.Now())
		c.control.TryUnkept()
		for _, lane := range c.lanes.all {
			lane.admission.breaker.hurry()
			lane.work.worker.Accounts.Hurry()
		}
		ids := allOf(g)
		c.reports.round(ids)
		c.lanes.sooner(g, itemsOf(ids, queue.Sweep, "requested")...)
		c.tokens.Set(queue.Item[struct{}]{Reason: "requested"})
		c.names.poke()
	}
}
