package controller

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// lane is the work with one credential: the queue of its zones, what may be sent, and the
// stages of a zone. Its workers take zones from this queue alone, and have no other client:
// a credential that is rejected, throttled or slow stops its own zones and no others.
type lane struct {
	reconcile.Lane
	queue     *queue.Queue[edge.Scope]
	admission *admission
	work      *zoneWork
	outages   *outage.Tracker
}

// lanes are those of all credentials. An account is in one of them, so a zone's item is in
// one queue.
type lanes struct {
	of    reconcile.Lanes
	all   []*lane
	asked atomic.Pointer[time.Time] // when a look at every zone was asked for last; nil for never
	// placed is the generation by which items were put into the queues; guarded by the
	// controller's publishing.
	placed *control.Generation
}

// ask notes that a look at every zone is asked for. The time keeps its monotonic reading:
// a clock that is set back must not make lists of rulesets look older than they are.
func (l *lanes) ask(now time.Time) { l.asked.Store(&now) }

// at is the lane of a zone; nil where it is not declared, or its account has none.
func (l *lanes) at(g *control.Generation, id edge.Scope) *lane {
	if g == nil {
		return nil
	}
	task, declared := g.Task(id)
	if !declared {
		return nil
	}
	return l.account(task.Account().Key)
}

// account is the lane of an account; nil where it has none.
func (l *lanes) account(key string) *lane {
	if i := l.of.Index(key); i >= 0 {
		return l.all[i]
	}
	return nil
}

// part parts items by lane. What has no lane is in none.
func (l *lanes) part(g *control.Generation, items []queue.Item[edge.Scope]) map[*lane][]queue.Item[edge.Scope] {
	parts := map[*lane][]queue.Item[edge.Scope]{}
	for _, item := range items {
		if lane := l.at(g, item.Key); lane != nil {
			parts[lane] = append(parts[lane], item)
		}
	}
	return parts
}

// set puts items into the queues; see [queue.Queue.Set].
func (l *lanes) set(g *control.Generation, items ...queue.Item[edge.Scope]) {
	for lane, part := range l.part(g, items) {
		lane.queue.Set(part...)
	}
}

// sooner asks for items no later than they say; see [queue.Queue.Sooner].
func (l *lanes) sooner(g *control.Generation, items ...queue.Item[edge.Scope]) {
	for lane, part := range l.part(g, items) {
		lane.queue.Sooner(part...)
	}
}

// place takes out of the queues what a generation does not have there any more, and puts
// zones whose account has another lane now into its queue.
func (l *lanes) place(g *control.Generation, gone []edge.Scope) {
	before := l.placed
	l.placed = g
	for _, id := range gone {
		for _, lane := range l.all {
			lane.queue.Remove(id)
		}
	}
	if before == nil || len(l.all) == 1 {
		return
	}
	for id := range g.Zones() {
		was, is := l.at(before, id), l.at(g, id)
		if was == nil || was == is {
			continue
		}
		was.queue.Remove(id)
		if is != nil {
			is.queue.Set(queue.Item[edge.Scope]{Key: id, Priority: queue.Sweep, Reason: "its account has another credential"})
		}
	}
}

// forget drops what is known of accounts that a generation does not declare.
func (l *lanes) forget(g *control.Generation) {
	for _, lane := range l.all {
		lane.work.worker.Accounts.Keep(g.State)
	}
}

// stats counts the items of all lanes.
func (l *lanes) stats() (all queue.Stats) {
	for _, lane := range l.all {
		for p, n := range lane.queue.Stats() {
			all[p].Waiting += n.Waiting
			all[p].Due += n.Due
			all[p].AtWork += n.AtWork
			if !n.Oldest.IsZero() && (all[p].Oldest.IsZero() || n.Oldest.Before(all[p].Oldest)) {
				all[p].Oldest = n.Oldest
			}
		}
	}
	return all
}

// find returns the item of a zone that comes next, and the work on it, whichever lane has
// them.
func (l *lanes) find(id edge.Scope) (next *queue.Item[edge.Scope], work *queue.Work[edge.Scope]) {
	for _, lane := range l.all {
		if next, work = lane.queue.Of(id); next != nil || work != nil {
			return next, work
		}
	}
	return nil, nil
}

// longest is the work that goes on for longest; false where none does.
func (l *lanes) longest() (longest queue.Work[edge.Scope], ok bool) {
	for _, lane := range l.all {
		if work, some := lane.queue.Longest(); some && (!ok || work.Began.Before(longest.Began)) {
			longest, ok = work, true
		}
	}
	return longest, ok
}

// foresee plans a zone from what was last seen of it and of its account.
func (l *lanes) foresee(t zone.Task) (diff.Plan, bool) {
	lane := l.account(t.Account().Key)
	if lane == nil {
		return diff.Plan{}, false
	}
	return lane.work.foresee(t)
}

// ruleset is the id of a managed ruleset, as last listed; empty where that is not known.
func (l *lanes) ruleset(of desired.Account, ref desired.RulesetRef) edge.RulesetID {
	lane := l.account(of.Key)
	if lane == nil {
		return ""
	}
	return lane.work.worker.Accounts.Named(of, ref)
}

// noteDeclared says which zones are declared from now on.
func (l *lanes) noteDeclared(all *outage.Tracker, g *control.Generation) {
	all.Declare(g.State.Zones(), g.Declares)
	if len(l.all) == 1 {
		return
	}
	for i, part := range l.of.Part(g.State) {
		own := l.all[i]
		own.outages.Declare(part.Zones(), func(id edge.Scope) bool { return l.at(g, id) == own })
	}
}

// The times after which a lane counts as away, while others have done their part of what is
// reported together: since its platform is down or its credential is rejected; and without
// progress, beside a whole window of its budget.
const (
	awayAfter  = 30 * time.Second
	stuckAfter = time.Minute
)

// away says why nothing is to be expected of a lane in which the last zone was read at a
// time; empty where something is.
func (l *lane) away(now, progress time.Time) string {
	if down := l.admission.breaker.downSince(); down.cause != nil && now.Sub(down.since) >= awayAfter && now.Sub(progress) >= awayAfter {
		return fmt.Sprintf("not read: only probes are sent with %s: %v", l.Credential, down.cause)
	}
	if now.Sub(progress) >= l.Budget.Per+stuckAfter {
		return fmt.Sprintf("not read: no zone could be read with %s for %s", l.Credential, now.Sub(progress).Round(time.Second))
	}
	return ""
}

// countAway has a commit counted without the zones of lanes that are away: they count when
// they are about to be written.
func (c *Controller) countAway(ctx context.Context, now time.Time) {
	g := c.control.Current()
	if g == nil || len(c.lanes.all) == 1 {
		return
	}
	for _, id := range control.Uncounted(c.control) {
		lane := c.lanes.at(g, id)
		if lane == nil || lane.away(now, lane.work.lastProgress(c.outcomes.began)) == "" {
			continue
		}
		due, err := c.control.Looked(ctx, id)
		c.reports.state(ctx, "looked", err)
		c.lanes.set(g, itemsOf(due, urgency(len(due), false), "the commit is counted")...)
	}
}
