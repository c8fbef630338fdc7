package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// zoneWork is the way of the zones of one lane: what is desired now is compared with what is
// live, guarded, written and proved, and its next look goes into the queue of the lane. It is
// safe for concurrent use: each worker has a look of its own.
type zoneWork struct {
	*lane
	lanes    *lanes
	control  *control.Control
	commits  *commits
	worker   *zone.Worker
	seen     *lastSeen
	sweep    *turns
	retries  *retries
	reports  *reports
	outcomes *outcomes
	rulesets *rulesetLoop
	asks     *asks
	looking  reconcile.Looking
}

// run takes one zone after the other from the queue until ctx ends.
func (w *zoneWork) run(ctx context.Context) {
	for {
		item, err := w.queue.Next(ctx)
		if err != nil {
			return
		}
		now := time.Now()
		w.admission.breaker.begin(now)
		if !desired.Sought(item.Key.ID) { // else nothing is sent
			w.admission.use(item.Priority, 1, now)
		}
		w.queue.Done(item.Key, w.work(ctx, item))
	}
}

// busyFor is how long a zone waits whose account is being read for another one.
const busyFor = 200 * time.Millisecond

// work looks at a zone and makes it what is desired. It returns when to look again.
func (w *zoneWork) work(ctx context.Context, item queue.Item[edge.Scope]) *queue.Item[edge.Scope] {
	ctx, end, mine := w.begin(ctx)
	defer end()
	switch {
	case mine || w.countsFor(item.Key):
	case w.works(): // the lease ends soon, or is gone: then the queue is emptied
		return w.later(ctx, item, tickEvery)
	default:
		return nil // another process works on it
	}
	ctx = edge.WithClass(ctx, requestClass(item.Priority))
	l := look{item: item, generation: w.control.Current(), began: time.Now()}
	if w.lanes.at(l.generation, item.Key) != w.lane {
		return nil // it is not declared, or its account has another credential now
	}
	l.task, _ = w.control.Task(l.generation, item.Key)
	l.commit = w.control.CommitWork(l.generation, item.Key)
	l.task.Memory, l.task.ListedSince = w.seen.memory(item.Key), w.listedSince(item.Key, l.began)
	l.task.LookedSince = w.lookedSince(item, l.began)
	ctx = w.beginSpan(ctx, &l)
	defer l.endSpan()
	again, err := w.observe(ctx, &l)
	if err != nil || again != nil {
		return again
	}
	if !mine {
		w.counted(ctx, &l)
		return nil
	}
	verdict, err := w.plan(ctx, &l)
	if err == nil && verdict == control.Counting {
		if !w.counted(ctx, &l) {
			return w.next(&l, control.Next{Waits: true})
		}
		verdict, err = w.plan(ctx, &l) // it was the last one: what was read of it stands
	}
	switch {
	case err != nil:
		return w.later(ctx, item, busyFor)
	case verdict != control.Act:
		return w.later(ctx, item, 0)
	}
	return w.carryOut(ctx, &l)
}

// carryOut does what is planned, while the lease lasts, and returns when to look again.
func (w *zoneWork) carryOut(ctx context.Context, l *look) *queue.Item[edge.Scope] {
	l.unrecorded = w.apply(ctx, l)
	if left, bounded := reconcile.Left(ctx); bounded && left <= 0 || anotherDoes(l.unrecorded) {
		w.seen.drop(l.item.Key)
		return nil // whoever has the lease now finds out what has become of it
	}
	if l.unrecorded != nil {
		w.reports.failure(ctx, l.unrecorded) // noteLook notes it
	}
	return w.conclude(ctx, l)
}

// later is an item once more, after a while; none where everything ends.
func (w *zoneWork) later(ctx context.Context, item queue.Item[edge.Scope], d time.Duration) *queue.Item[edge.Scope] {
	if ctx.Err() != nil {
		return nil
	}
	item.Due = time.Now().Add(d)
	return &item
}

// observe reads the zone. It returns the item where it must come again before anything
// can be said of the zone.
func (w *zoneWork) observe(ctx context.Context, l *look) (again *queue.Item[edge.Scope], err error) {
	within, span := trace.Start(ctx, trace.Read)
	l.sight, err = w.worker.Read(within, l.task)
	span.End(cmp.Or(err, l.sight.Err()))
	w.admission.use(l.item.Priority, l.sight.Looked, time.Now())
	switch {
	case errors.Is(err, zone.ErrBusy):
		w.admission.breaker.pass()
		return w.later(ctx, l.item, busyFor), nil
	case err != nil:
		return nil, err
	}
	opened, closed := false, false
	if l.asked() {
		opened, closed = w.admission.breaker.note(l.sight.Failed(), time.Now())
	} else {
		w.admission.breaker.pass()
	}
	if closed {
		w.queue.Wake()
	}
	if opened {
		w.outages.Down(l.sight.Failed())
	}
	if opened && errors.Is(l.sight.Failed(), edge.ErrForbidden) {
		w.reports.failure(ctx, fmt.Errorf("the platform refuses all requests; check the permissions of %s: %w", w.Credential, l.sight.Err()))
	}
	if errors.Is(l.sight.Err(), edge.ErrUnauthenticated) {
		noteLook(w.outages, l)
		if opened {
			w.reports.failure(ctx, zone.Rejected(w.lane.Lane, l.sight.Err()))
		}
		w.outcomes.note(l, time.Now())
		return w.later(ctx, l.item, retry.Probe.First), nil
	}
	if l.answered() {
		w.progress.Store(time.Now().UnixNano())
	}
	w.keep(l)
	return nil, nil
}

// keep remembers what was seen of the zone and its account.
func (w *zoneWork) keep(l *look) {
	w.rulesets.note(l.task.Account().ID, l.sight.Account, time.Now())
	if l.answered() {
		w.control.Read(l.item.Key)
	}
	if !l.observed() {
		w.seen.drop(l.item.Key)
		return
	}
	w.seen.put(l.item.Key, l.sight.Places)
	// Asked after it was put: who leaves the lane forgets what was put before, and a commit may have
	// moved the zone to another lane by now.
	if w.lanes.elsewhere(w.control.Current(), l.item.Key) {
		w.seen.readAway(l.item.Key)
	}
}

// plan plans the zone and passes it through the guards. What it would change it has
// worked out from a list of rulesets that is young.
func (w *zoneWork) plan(ctx context.Context, l *look) (control.Verdict, error) {
	for {
		_, span := trace.Start(ctx, trace.Plan)
		plan := w.worker.Plan(l.task, l.sight)
		span.Count(trace.Changes, len(plan.Changes))
		span.End(nil)
		_, span = trace.Start(ctx, trace.Guard)
		plan, verdict := w.control.Guard(l.generation, l.item.Key, plan)
		tellGuarded(span, plan, verdict)
		if l.plan = plan; verdict != control.Act {
			return verdict, nil
		}
		again, err := w.worker.Refresh(ctx, l.task, &l.sight, plan)
		if err != nil || !again {
			return verdict, err
		}
	}
}

// apply writes what is to be written, and records what agrees.
func (w *zoneWork) apply(ctx context.Context, l *look) error {
	for _, change := range l.plan.Changes {
		if change.Applies() {
			w.seen.drop(l.item.Key) // before it is sent
			l.results, l.sight = w.worker.Apply(ctx, l.task, l.sight, l.plan)
			w.admission.use(l.item.Priority, (requestsPerZone-1)*len(l.results), time.Now())
			l.refuseLate()
			w.keep(l)
			break
		}
	}
	if len(l.plan.Problems) > 0 && len(l.plan.Settled) == 0 || ctx.Err() != nil {
		return nil // nothing agrees
	}
	ctx, cancel := reconcile.Lingering(ctx)
	defer cancel()
	return w.control.Proved(ctx, l.task, l.plan.Settled)
}

// counted notes that a zone was read only to count what its commit changes, and reports
// whether the commit is counted with it.
func (w *zoneWork) counted(ctx context.Context, l *look) bool {
	l.counting, l.theirs = true, !w.commits.leads()
	if w.works() { // else another process says how the zone is
		w.outcomes.note(l, time.Now())
	}
	due, err := w.control.Looked(ctx, l.item.Key)
	w.reports.state(ctx, "looked", err)
	noteLook(w.outages, l)
	all := len(due)
	due = slices.DeleteFunc(due, func(id edge.Scope) bool { return id == l.item.Key })
	w.lanes.set(l.generation, itemsOf(due, urgency(all), "the commit is counted")...)
	l.counting = all == 0
	return all > 0
}

// conclude tells what has become of the zone, and returns when to look again.
func (w *zoneWork) conclude(ctx context.Context, l *look) *queue.Item[edge.Scope] {
	lingering, cancel := reconcile.Lingering(ctx)
	defer cancel()
	next, err := w.control.Note(lingering, control.Outcome{
		Scope: l.item.Key, Fingerprint: l.task.Fingerprint, Plan: l.plan, Results: l.results, Ahead: l.sight.Ahead,
	})
	w.reports.state(ctx, "note", err)
	noteLook(w.outages, l)
	for i, result := range l.results {
		if result.Outcome == reconcile.NonConvergent {
			l.results[i].Next = w.control.Tries(l.item.Key)[result.Change.ID()].Next
		}
	}
	var again *queue.Item[edge.Scope]
	switch {
	case l.superseded():
		again = w.later(ctx, l.item, 0)
	case l.elsewhere():
		again = w.later(ctx, l.item, elsewhereFor)
	default:
		again = w.next(l, next)
	}
	if due, err := w.control.Looked(lingering, l.item.Key); err == nil {
		w.lanes.counted(w.control.Current(), due)
	}
	w.outcomes.note(l, time.Now())
	w.reports.zone(ctx, l)
	return again
}

// elsewhereFor is how long a zone waits that another process writes to.
const elsewhereFor = time.Second

// next is the zone's next item: its turn in the sweep, or earlier where it waits for
// something or has failed.
func (w *zoneWork) next(l *look, n control.Next) *queue.Item[edge.Scope] {
	now := time.Now()
	item := queue.Item[edge.Scope]{Key: l.item.Key, Priority: queue.Sweep, Reason: "its turn"}
	var turns bool
	item.Due, turns = w.sweep.next(l.item.Key, now)
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
		wait := w.retries.failed(l.item.Key)
		if w.admission.breaker.away(now) {
			wait = min(wait, retry.Away)
		}
		earlier(now.Add(wait), queue.Retry, "it failed before")
		item.Slow = errors.Is(l.sight.Err(), edge.ErrUnavailable)
	} else {
		w.retries.worked(l.item.Key)
	}
	item.Slow = item.Slow || w.slow(l, now)
	if !turns {
		return nil // without a schedule only commits and guards ask for a look
	}
	return &item
}

// slow reports whether the look took long, and not because the budget is used up.
func (w *zoneWork) slow(l *look, now time.Time) bool {
	return now.Sub(l.began) > slowAfter && w.admission.room(requestClass(l.item.Priority), 0) > 0
}
