package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// leaseLoop has this process work on what it gets a lease on, and leave what it loses one on. What
// has begun goes on for as long as its lease lasts.
type leaseLoop struct {
	leases   reconcile.Leases
	control  *control.Control
	commits  *commits
	lanes    *lanes
	tokens   *queue.Queue[struct{}]
	records  control.Records
	retries  *retries
	reports  *reports
	seen     *lastSeen
	outcomes *outcomes

	epoch  int64 // of the lease on tokens; 0 for none
	failed int   // tries in a row
}

// begin takes over what this process has from the start.
func (l *leaseLoop) begin(ctx context.Context) { l.take(ctx) }

// run takes over and leaves what changes, until ctx ends.
func (l *leaseLoop) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := l.leases.Changed()
		l.take(ctx)
		var again <-chan time.Time
		if l.failed > 0 {
			again = time.After(retry.Ledger.Delay(l.failed))
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-again:
		}
	}
}

// take leaves the lanes whose lease this process has not any more, and takes over those whose lease
// it has now. What fails is tried again.
func (l *leaseLoop) take(ctx context.Context) {
	got := map[*lane]reconcile.Lease{}
	for _, lane := range l.lanes.all {
		before := lane.held.Load()
		now, held := l.leases.Held(lane.lease)
		if before != nil && (!held || before.Epoch != now.Epoch) {
			l.leave(ctx, lane, *before)
			before = nil
		}
		if held && before == nil {
			got[lane] = now
		}
	}
	if lease, _ := l.leases.Held(reconcile.LeaseTokens); lease.Epoch != l.epoch {
		if l.epoch = lease.Epoch; lease.Epoch > 0 {
			l.tokens.Set(queue.Item[struct{}]{Reason: "another process has done the work on tokens until now"})
		}
	}
	l.failed++
	if len(got) == 0 || l.commits.take(ctx, got) {
		l.failed = 0
	}
}

// leave empties the queue of a lane, and forgets what is known of its zones: another process works
// on them.
func (l *leaseLoop) leave(ctx context.Context, of *lane, lease reconcile.Lease) {
	swept := of.sweptUntil(time.Now())
	of.held.Store(nil)
	of.queue.Clear()
	g := l.control.Current()
	theirs := func(id edge.Scope) bool { return l.lanes.at(g, id) == of }
	l.control.Leave(theirs)
	l.retries.leave(theirs)
	l.reports.leave(ctx, theirs)
	if g != nil {
		l.outcomes.zones.left(g, theirs)
		l.seen.leave(g, theirs)
	}
	l.reports.state(ctx, "swept", l.records.Swept(reconcile.Under(ctx, lease), swept)) // so that none of them is read twice
}

// works reports whether the zones of the lane are this process's to work on.
func (l *lane) works() bool { return l.held.Load() != nil }

// begin begins work on a zone of the lane; false where that is another process's, and where the
// queue was not filled for the lease yet. end is to be called at the end.
func (l *lane) begin(ctx context.Context) (within context.Context, end func(), mine bool) {
	within, end, held := reconcile.Begin(ctx, l.leases, l.lease)
	lease, _ := reconcile.LeaseIn(within)
	if at := l.held.Load(); held && at != nil && at.Epoch == lease.Epoch {
		return within, end, true
	}
	end()
	return ctx, func() {}, false
}

// sweptUntil is how far the sweep of the lane has come: to the oldest turn that is due, or may be at
// work.
func (l *lane) sweptUntil(now time.Time) time.Time {
	until := now.Add(-atWorkFor)
	if oldest := l.queue.Stats()[queue.Sweep].Oldest; !oldest.IsZero() && oldest.Before(until) {
		return oldest
	}
	return until
}

// shared reports whether another process works on zones of a lane.
func (l *lanes) shared() bool {
	for _, lane := range l.all {
		if !lane.works() {
			return true
		}
	}
	return false
}

// in are the zones of some lanes.
func (l *lanes) in(g *control.Generation, some map[*lane]reconcile.Lease) (ids []edge.Scope) {
	for id := range g.Zones() {
		if _, in := some[l.at(g, id)]; in {
			ids = append(ids, id)
		}
	}
	return ids
}

// ours are the lanes whose zones are this process's; all says that there are no others.
func (l *lanes) ours() (ours map[*lane]bool, all bool) {
	ours = map[*lane]bool{}
	for _, lane := range l.all {
		if _, held := lane.leases.Held(lane.lease); held {
			ours[lane] = true
		}
	}
	return ours, len(ours) == len(l.all)
}

// leads reports whether commits are this process's to decide about.
func (c *commits) leads() bool {
	_, held := c.leases.Held(reconcile.LeaseCommits)
	return held
}

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
	g := c.control.Current()
	if g == nil {
		return true
	}
	work := c.fill(g, slices.Collect(maps.Keys(got))...)
	c.lanes.set(g, itemsOf(withID(work), urgency(len(work)), "not proved by an earlier process")...)
	c.lanes.set(g, itemsOf(withID(unfinished), queue.Push, "what became of a write is not known")...)
	c.reports.join(c.lanes.in(g, got))
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
		c.reports.inForce(d.Accepted, d.Due, d.SameZones)
	}
	c.accept(d)
}

// news reports whether a proposal is of another commit than the one in force, while other processes
// work on some of the zones: what they have proved is not known here.
func (c *commits) news(p reconcile.Proposal) bool {
	return p.Err == nil && !p.Same && len(desired.Errors(p.Problems)) == 0 && c.lanes.shared()
}

// refresh takes in what other processes have put on record of their zones, and forgets what was seen
// of these here: a commit is decided about by that.
func (c *commits) refresh(ctx context.Context) bool {
	before := c.control.Current()
	if before != nil {
		c.seen.leave(before, func(id edge.Scope) bool { lane := c.lanes.at(before, id); return lane != nil && !lane.works() })
	}
	d, err := c.control.Reload(ctx)
	if c.reports.quiet(ctx, "reload", err) != nil {
		return false
	}
	c.takeOver(before, d)
	return true
}

// fill puts the zones of some lanes into their queues that were proved by an earlier process, and
// returns the others: it is for the first generation of a process, and for a lane whose lease it gets.
func (c *commits) fill(g *control.Generation, lanes ...*lane) (work []edge.Scope) {
	now := time.Now()
	whole := map[*lane]bool{}
	for i, part := range c.lanes.of.Part(g.State) {
		requests := int64(c.lanes.all[i].Budget.Requests)
		whole[c.lanes.all[i]] = c.sweep.schedule == nil || requests == 0 || reconcile.SweepRequests(part)*startWhole <= requests
	}
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

// follow has the source look, and decides about what it proposes, whenever that is this process's
// to do, until ctx ends.
func (c *commits) follow(ctx context.Context) {
	for ctx.Err() == nil {
		changed := c.leases.Changed()
		c.lead(ctx)
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// lead has the source look for as long as that is this process's to do.
func (c *commits) lead(ctx context.Context) {
	within, end, held := reconcile.Begin(ctx, c.leases, reconcile.LeaseCommits)
	defer end()
	if !held {
		return
	}
	within, cancel := context.WithCancel(within)
	var resigning sync.WaitGroup
	resigning.Go(func() { c.resign(within, cancel) })
	defer resigning.Wait()
	defer cancel()
	if _, shared := reconcile.LeaseIn(within); shared {
		c.reload(within)
	}
	if accepted := c.control.Accepted(); accepted != "" && c.control.Current() == nil {
		// An earlier process accepted it and could not put its declarations on record.
		if p := c.source.Evaluate(within, accepted); p.Err == nil {
			c.propose(within, p)
		}
	}
	c.source.Run(within, c.known, c.propose)
}

// resign cancels once commits are not this process's to decide about any more.
func (c *commits) resign(ctx context.Context, cancel func()) {
	lease, _ := reconcile.LeaseIn(ctx)
	for {
		changed := c.leases.Changed()
		if now, held := c.leases.Held(reconcile.LeaseCommits); !held || now.Epoch != lease.Epoch {
			cancel()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// quiet notes how something that needs the state has ended, and returns the error. What another
// process does by now has not failed.
func (r *reports) quiet(ctx context.Context, part string, err error) error {
	r.state(ctx, part, err)
	return err
}

// anotherDoes reports whether something was not done because it is another process's to do.
func anotherDoes(err error) bool { return errors.Is(err, reconcile.ErrLeaseLost) }
