package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/seen"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// workZones takes one zone after the other from the queue until ctx ends.
func (c *Controller) workZones(ctx context.Context) {
	for {
		item, err := c.zones.Next(ctx)
		if err != nil {
			return
		}
		now := time.Now()
		c.breaker.begin(now)
		if item.Priority != queue.Push {
			c.shares.use(classOf(item.Priority), 1, now)
		}
		c.zones.Done(item.Key, c.work(ctx, item))
	}
}

// busyFor is how long a zone waits whose account is being read for another one.
const busyFor = 200 * time.Millisecond

// look is one look at a zone, from what is desired now to when to look again.
type look struct {
	item       queue.Item[edge.ZoneID]
	generation *control.Generation
	task       zone.Task
	began      time.Time
	commit     bool // the declaration was not proved yet: not drift
	counting   bool // looked at only to count what the commit changes
	sight      zone.Sight
	plan       diff.Plan
	results    []reconcile.Result
	unrecorded error // why what agrees could not be put on record
}

// work looks at a zone and makes it what is desired. It returns when to look again.
func (c *Controller) work(ctx context.Context, item queue.Item[edge.ZoneID]) *queue.Item[edge.ZoneID] {
	l := look{item: item, generation: c.control.Current(), began: time.Now()}
	declared := false
	if l.generation != nil {
		l.task, declared = c.control.Task(l.generation, item.Key)
	}
	if !declared {
		return nil
	}
	l.commit = c.control.CommitWork(l.generation, item.Key)
	l.task.Memory, l.task.ListAge = c.seen.Plans(item.Key), c.listAge(l.began)
	again, err := c.observe(ctx, &l)
	if err != nil || again != nil {
		return again
	}
	verdict, err := c.plan(ctx, &l)
	switch {
	case err != nil:
		return c.later(ctx, item, busyFor)
	case verdict == control.Superseded:
		return c.later(ctx, item, 0)
	case verdict == control.Counting:
		l.counting = true
		c.outcomes.note(&l, time.Now())
		return c.counted(ctx, &l)
	}
	if l.unrecorded = c.apply(ctx, &l); l.unrecorded != nil {
		c.reports.failure(ctx, l.unrecorded) // noteLook notes it
	}
	return c.conclude(ctx, &l)
}

// listedFor is how old a list of rulesets may be where no sweep is scheduled.
const listedFor = time.Minute

// listAge is how old a list of rulesets may be: a turn of the sweep, and not older than
// the last time that somebody asked for a look at everything.
func (c *Controller) listAge(now time.Time) time.Duration {
	turn := c.sweep.turn(now)
	if turn <= 0 {
		turn = listedFor
	}
	if asked := c.asked.Load(); asked > 0 {
		return min(turn, now.Sub(time.Unix(0, asked)))
	}
	return turn
}

// later is an item once more, after a while; none where everything ends.
func (c *Controller) later(ctx context.Context, item queue.Item[edge.ZoneID], d time.Duration) *queue.Item[edge.ZoneID] {
	if ctx.Err() != nil {
		return nil
	}
	item.Due = time.Now().Add(d)
	return &item
}

// observe reads the zone. It returns the item where it must come again before anything
// can be said of the zone.
func (c *Controller) observe(ctx context.Context, l *look) (again *queue.Item[edge.ZoneID], err error) {
	l.sight, err = c.worker.Read(ctx, l.task)
	switch {
	case errors.Is(err, zone.ErrBusy):
		c.breaker.pass()
		return c.later(ctx, l.item, busyFor), nil
	case err != nil:
		return nil, err
	}
	opened, closed := false, false
	if l.asked() {
		opened, closed = c.breaker.note(l.sight.EntryPoint.Err, time.Now())
	} else {
		c.breaker.pass()
	}
	if closed {
		c.zones.Wake()
	}
	if opened {
		c.Outages.Down(l.sight.EntryPoint.Err)
	}
	if opened && errors.Is(l.sight.EntryPoint.Err, edge.ErrForbidden) {
		c.reports.failure(ctx, fmt.Errorf("the platform refuses all requests; check the permissions of credentials.rulesets: %w", l.sight.EntryPoint.Err))
	}
	if errors.Is(l.sight.EntryPoint.Err, edge.ErrUnauthenticated) {
		noteLook(c.Outages, l)
		if opened {
			c.reports.failure(ctx, zone.Rejected(l.sight.EntryPoint.Err))
		}
		c.outcomes.note(l, time.Now())
		return c.later(ctx, l.item, firstProbe), nil
	}
	c.keep(l)
	return nil, nil
}

// asked reports whether the platform was asked something in this look. Where the
// account could not be listed just before, it was not: that says nothing new.
func (l *look) asked() bool {
	return l.sight.Account.Listed.Err == nil || !l.sight.ListedAt.IsZero()
}

// keep remembers what was seen of the zone.
func (c *Controller) keep(l *look) {
	if l.sight.At.IsZero() || l.sight.EntryPoint.Err != nil && !errors.Is(l.sight.EntryPoint.Err, edge.ErrEntryPointNotFound) {
		c.seen.Drop(l.item.Key)
		return
	}
	c.seen.Put(l.item.Key, seen.Entry{EntryPoint: l.sight.EntryPoint, At: l.sight.At})
}

// plan plans the zone and passes it through the guards. What it would change it has
// worked out from a list of rulesets that is young.
func (c *Controller) plan(ctx context.Context, l *look) (control.Verdict, error) {
	for {
		plan, verdict := c.control.Guard(l.generation, l.item.Key, c.worker.Plan(l.task, l.sight))
		if l.plan = plan; verdict != control.Act {
			return verdict, nil
		}
		again, err := c.worker.Refresh(ctx, l.task, &l.sight, plan)
		if err != nil || !again {
			return verdict, err
		}
	}
}

// apply writes what is to be written, and records what agrees.
func (c *Controller) apply(ctx context.Context, l *look) error {
	for _, change := range l.plan.Changes {
		if change.Applies() {
			c.seen.Drop(l.item.Key) // before it is sent
			l.results, l.sight = c.worker.Apply(ctx, l.task, l.sight, l.plan)
			if l.item.Priority != queue.Push {
				c.shares.use(classOf(l.item.Priority), (requestsPerZone-1)*len(l.results), time.Now())
			}
			c.keep(l)
			break
		}
	}
	if len(l.plan.Problems) > 0 || ctx.Err() != nil {
		return nil // what is settled beside them is looked at again
	}
	ctx, cancel := reconcile.Lingering(ctx, grace)
	defer cancel()
	return c.control.Proved(ctx, l.task, l.plan.Settled)
}

// grace is how long records may be written after everything was told to stop.
const grace = 20 * time.Second

// counted notes that a zone was looked at only to count what its commit changes.
func (c *Controller) counted(ctx context.Context, l *look) *queue.Item[edge.ZoneID] {
	due, err := c.control.Looked(ctx, l.item.Key)
	c.reports.state(ctx, "looked", err)
	noteLook(c.Outages, l)
	c.setDue(due, c.urgency(len(due), false), "the commit is counted")
	if len(due) > 0 {
		return c.later(ctx, l.item, 0)
	}
	return c.next(l, control.Next{Waits: true})
}

// conclude tells what has become of the zone, and returns when to look again.
func (c *Controller) conclude(ctx context.Context, l *look) *queue.Item[edge.ZoneID] {
	lingering, cancel := reconcile.Lingering(ctx, grace)
	defer cancel()
	next, err := c.control.Note(lingering, control.Outcome{
		Zone: l.item.Key, Fingerprint: l.task.Fingerprint, Plan: l.plan, Results: l.results,
	})
	c.reports.state(ctx, "note", err)
	noteLook(c.Outages, l)
	var again *queue.Item[edge.ZoneID]
	if l.superseded() {
		again = c.later(ctx, l.item, 0)
	} else {
		again = c.next(l, next)
	}
	if due, err := c.control.Looked(lingering, l.item.Key); err == nil && len(due) > 0 {
		c.setDue(due, c.urgency(len(due), false), "the commit is counted")
	}
	c.outcomes.note(l, time.Now())
	c.reports.zone(ctx, l)
	return again
}

// superseded reports whether a newer declaration has kept something from being sent.
func (l *look) superseded() bool {
	for _, result := range l.results {
		if errors.Is(result.Err, reconcile.ErrSuperseded) {
			return true
		}
	}
	return false
}

// failed reports whether another try may help.
func (l *look) failed() bool {
	if l.unrecorded != nil {
		return true
	}
	for _, problem := range l.plan.Problems {
		if problem.State.Unread() {
			return true
		}
	}
	for _, result := range l.results {
		if result.Outcome == reconcile.Failed || result.Outcome == reconcile.NotStarted && result.Change.Refused == nil {
			return true
		}
	}
	return false
}

// next is the zone's next item: its turn in the sweep, or earlier where it waits for
// something or has failed.
func (c *Controller) next(l *look, n control.Next) *queue.Item[edge.ZoneID] {
	now := time.Now()
	item := queue.Item[edge.ZoneID]{Key: l.item.Key, Priority: queue.Sweep, Reason: "its turn"}
	var turns bool
	item.Due, turns = c.sweep.next(l.item.Key, now)
	earlier := func(at time.Time, p queue.Priority, reason string) {
		if !turns || at.Before(item.Due) {
			item.Due, item.Priority, item.Reason, turns = at, p, reason, true
		}
	}
	if !n.At.IsZero() {
		p, reason := queue.Retry, "the platform did not keep a change"
		if n.Waits {
			p, reason = queue.Released, "the wait ends"
		}
		earlier(n.At, p, reason)
	}
	if l.failed() {
		earlier(now.Add(c.retries.failed(l.item.Key)), queue.Retry, "it failed before")
		item.Slow = errors.Is(l.sight.EntryPoint.Err, edge.ErrUnavailable)
	} else {
		c.retries.worked(l.item.Key)
	}
	item.Slow = item.Slow || c.slow(l, now)
	if !turns {
		return nil // without a schedule only commits and guards ask for a look
	}
	return &item
}

// slow reports whether the look took long, and not because the budget is used up.
func (c *Controller) slow(l *look, now time.Time) bool {
	return now.Sub(l.began) > slowAfter && c.Room(0) > 0
}

// inForce is the commit of what is in force.
func (c *Controller) inForce() desired.State {
	state, _ := c.control.InForce()
	return state
}
