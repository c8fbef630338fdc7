package controller

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
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
	outages  *outage.Tracker
	rulesets *rulesetLoop

	epoch  atomic.Int64 // of the lease on tokens; 0 for none
	kept   map[*lane]keptLooks
	failed int // tries in a row
}

// keptLooks are the last looks at the zones of a lane whose lease has ended, and under which lease of
// which records they were. They count again where this process gets the next lease: then none had it in
// between.
type keptLooks struct {
	looks   map[edge.Scope]lastLook
	epoch   int64
	putBack int64
}

// begin takes over what this process has from the start.
func (l *leaseLoop) begin(ctx context.Context) { l.take(ctx) }

// run takes over and leaves what changes, until ctx ends.
func (l *leaseLoop) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := l.leases.Changed()
		l.take(ctx)
		again := maybeChanged(changed)
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

// maybeChanged is when to ask again for leases that may change with time alone; never without other
// processes.
func maybeChanged(changed <-chan struct{}) <-chan time.Time {
	if changed == nil {
		return nil
	}
	return time.After(tickEvery)
}

// take leaves the lanes whose lease this process has not any more, and takes over those whose lease
// it has now. What fails is tried again.
func (l *leaseLoop) take(ctx context.Context) {
	got := map[*lane]reconcile.Lease{}
	var left []leftLane
	for _, lane := range l.lanes.all {
		before := lane.held.Load()
		now, held := l.leases.Held(lane.lease)
		if before != nil && (!held || before.Epoch != now.Epoch) {
			left = append(left, l.leave(lane, *before))
			before = nil
		}
		if held && before == nil {
			got[lane] = now
		}
	}
	l.recordLeft(ctx, left)
	if lease, _ := l.leases.Held(reconcile.LeaseTokens); lease.Epoch != l.epoch.Load() {
		l.leaveTokens()
		l.reports.leaveTokens(ctx)
		if l.epoch.Store(lease.Epoch); lease.Epoch > 0 {
			l.tokens.Set(queue.Item[struct{}]{Reason: "another process has done the work on tokens until now"})
		} else {
			l.reports.leave(ctx, func(edge.Scope) bool { return false })
		}
	}
	l.failed++
	if len(got) == 0 || l.commits.take(ctx, got) {
		l.failed = 0
		l.goOn(got)
	}
}

// goOn has what was known of the zones of lanes count again that no other process has worked on.
func (l *leaseLoop) goOn(got map[*lane]reconcile.Lease) {
	for lane, lease := range got {
		if kept := l.kept[lane]; kept.epoch+1 == lease.Epoch && kept.putBack == l.control.PutBack() {
			l.outcomes.zones.again(kept.looks)
		}
		delete(l.kept, lane)
	}
}

// leaveTokens forgets what is known of tokens: another process has worked on them, or does.
func (l *leaseLoop) leaveTokens() {
	l.epoch.Store(0)
	l.outcomes.leaveTokens()
	l.outages.Forget(outage.OfTokens)
}

// leftLane is a lane that was left: which zones it has, under which lease they were this process's, and
// how far its sweep had come.
type leftLane struct {
	theirs func(edge.Scope) bool
	lease  reconcile.Lease
	swept  time.Time
}

// recordLeft puts on record how far the sweeps of lanes had come. It comes once all of them were left:
// where the records do not answer, nothing may be told meanwhile of zones that another process has.
func (l *leaseLoop) recordLeft(ctx context.Context, left []leftLane) {
	for _, of := range left {
		l.reports.leave(ctx, of.theirs)
		l.reports.state(ctx, "swept", l.records.Swept(reconcile.Under(ctx, of.lease), of.swept)) // so that none of them is read twice
	}
}

// leave empties the queue of a lane, and forgets what is known of its zones: another process works
// on them.
func (l *leaseLoop) leave(of *lane, lease reconcile.Lease) leftLane {
	swept := of.sweptUntil(time.Now())
	of.held.Store(nil)
	of.queue.Clear()
	g := l.control.Current()
	theirs := func(id edge.Scope) bool { return l.lanes.at(g, id) == of }
	l.control.Leave(theirs)
	l.retries.leave(theirs)
	if g != nil {
		l.kept[of] = keptLooks{l.outcomes.zones.left(g, theirs), lease.Epoch, l.control.PutBack()}
		l.seen.leave(g, theirs)
	}
	of.admission.breaker.leave()
	if of.outages.LeaveZones(theirs); g != nil {
		l.rulesets.leave(g, of)
	}
	return leftLane{theirs, lease, swept}
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

// elsewhere reports whether a zone is another process's to work on.
func (l *lanes) elsewhere(g *control.Generation, id edge.Scope) bool {
	lane := l.at(g, id)
	return lane != nil && !lane.works()
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

// tokensOurs reports whether the work on tokens is this process's.
func (l *lanes) tokensOurs() bool {
	_, held := l.all[0].leases.Held(reconcile.LeaseTokens)
	return held
}

// countsFor reports whether a zone that another process works on is read here all the same: one that
// decides about commits counts what a commit changes in it.
func (w *zoneWork) countsFor(id edge.Scope) bool {
	return w.commits.leads() && w.control.MustRead(id)
}

// anotherDoes reports whether something was not done because it is another process's to do.
func anotherDoes(err error) bool { return errors.Is(err, reconcile.ErrLeaseLost) }
