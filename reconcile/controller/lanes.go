package controller

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// lane is one credential: the queue of its zones, what may be sent, and what is known of its
// accounts. Its workers (zones.go) take zones from this queue alone, and have no other
// client: a credential that is rejected, throttled or slow stops its own zones and no others.
//
// Where the platform answers 429, the client of the lane waits for as long as Retry-After
// says (edge/client/budget.go): Pause says for how long, and the workers that have a request
// to send wait in the client. No other lane has this client.
type lane struct {
	reconcile.Lane
	queue     *queue.Queue[edge.Scope]
	admission *admission
	outages   *outage.Tracker
	accounts  accountsSeen
	progress  atomic.Int64 // Unix nanoseconds at which a zone was read last; zero for never

	leases reconcile.Leases
	lease  reconcile.LeaseName
	// held is the lease for which the queue was filled; nil: another process has it, and the queue
	// has nothing but zones to be counted.
	held atomic.Pointer[reconcile.Lease]
}

// places is how many zones may be worked on at once. The queue keeps a quarter for pushes.
func (l *lane) places() int { return l.Workers() + l.AtOnce()/2 }

// lastProgress is when a zone was read last, or else a time.
func (l *lane) lastProgress(otherwise time.Time) time.Time {
	if at := l.progress.Load(); at > 0 {
		return time.Unix(0, at)
	}
	return otherwise
}

// lanes are those of all credentials. An account is in one of them, so a zone's item is in
// one queue.
type lanes struct {
	of    reconcile.Lanes
	all   []*lane
	asked atomic.Pointer[time.Time] // when a look at every zone was asked for last; nil for never
	// accepted is where the newest commit comes from; nil: from an earlier process.
	accepted atomic.Pointer[accepted]
	// placed is the generation by which items were put into the queues; guarded by the lock
	// of commits.
	placed   *control.Generation
	placedAt atomic.Int64 // when that was, for the first of its commit; Unix nanoseconds
	first    *PushFirst
	seen     *lastSeen
}

// newLanes makes a lane for each credential. What is known of zones is shared by all, and
// what is known of the platform is not.
func newLanes(of reconcile.Lanes, leases reconcile.Leases, looking reconcile.Looking, sweep *turns, seen *lastSeen, outages *outage.Tracker, first *PushFirst) *lanes {
	l := &lanes{of: of, first: first, seen: seen}
	for i, one := range of.All {
		if one.Room == nil {
			one.Room = func(edge.Class, int) int { return 1 << 20 }
		}
		if one.Pause == nil {
			one.Pause = func() time.Duration { return 0 }
		}
		one.Credential = cmp.Or(one.Credential, outage.CredentialZones)
		lane := &lane{Lane: one, leases: leases, lease: reconcile.LeaseOf(one), outages: outages, accounts: seen.accounts[i], admission: &admission{
			budget: one.Budget, room: one.Room, sweep: sweep, looking: looking, shares: &shares{budget: one.Budget}, breaker: newBreaker(2 * one.AtOnce()), first: l.first,
		}}
		if lease, held := leases.Held(lane.lease); held && lease.Epoch == 0 { // there is no other process
			lane.held.Store(&lease)
		}
		if len(of.All) > 1 {
			lane.outages = outages.Lane(one.Name, one.Credential)
		}
		lane.queue = queue.New(queue.Config[edge.Scope]{Workers: lane.places(), Slow: max(1, one.AtOnce()/4), Admit: lane.admission.admit})
		l.all = append(l.all, lane)
	}
	return l
}

// ask notes that a look at every zone is asked for. The time keeps its monotonic reading:
// a clock that is set back must not make lists of rulesets look older than they are.
func (l *lanes) ask(now time.Time) { l.asked.Store(&now) }

// sweepOn has the sweep go on where it has waited for a push: for proofs, or for what comes before
// these.
func (l *lanes) sweepOn(proofs bool) {
	if !l.first.end(proofs, time.Now()) {
		return
	}
	for _, lane := range l.all {
		lane.queue.Wake()
	}
}

// at is the lane of a zone; nil where it is not declared, or its account has none.
func (l *lanes) at(g *control.Generation, id edge.Scope) *lane {
	if g == nil {
		return nil
	}
	if !g.Declares(id) {
		return nil
	}
	account, _ := g.At(id)
	return l.account(account.Key)
}

// account is the lane of an account; nil where it has none.
func (l *lanes) account(key string) *lane {
	if i := l.of.Index(key); i >= 0 {
		return l.all[i]
	}
	return nil
}

// part parts items by lane. What has no lane is in none, and neither is what another process works on.
func (l *lanes) part(g *control.Generation, items []queue.Item[edge.Scope]) map[*lane][]queue.Item[edge.Scope] {
	byLane := map[*lane][]queue.Item[edge.Scope]{}
	for _, item := range items {
		if lane := l.at(g, item.Key); lane != nil && lane.works() {
			if byLane[lane] == nil { // mostly there is one lane
				byLane[lane] = make([]queue.Item[edge.Scope], 0, len(items)/len(l.all)+1)
			}
			byLane[lane] = append(byLane[lane], item)
		}
	}
	return byLane
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
// zones whose account has another lane now into its queue. same says that it has the zones of
// the one before, in the same accounts.
func (l *lanes) place(g *control.Generation, gone []edge.Scope, same bool) {
	before := l.placed
	l.placed = g
	if before == nil || before.State.Commit != g.State.Commit {
		l.placedAt.Store(time.Now().UnixNano())
	}
	for _, id := range gone {
		for _, lane := range l.all {
			lane.queue.Remove(id)
		}
	}
	if before == nil || same || len(l.all) == 1 {
		return
	}
	differs, _, ok := g.Differs(before)
	if !ok {
		differs = slices.Collect(g.Zones())
	}
	for _, id := range differs {
		was, is := l.at(before, id), l.at(g, id)
		if was == nil || was == is {
			continue
		}
		was.queue.Remove(id)
		switch {
		case is != nil && is.works():
			is.queue.Set(queue.Item[edge.Scope]{Key: id, Priority: queue.Sweep, Reason: "its account has another credential"})
		case is != nil:
			l.seen.readAway(id) // what was read of it while this process worked on it
		}
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

// stuckAfter is after which time without progress, beside a whole window of its budget, a
// lane counts as away.
const stuckAfter = time.Minute

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

// nextTry is when a zone is read next with a credential that fails, or that is throttled.
func (l *lane) nextTry(now time.Time) time.Time {
	_, next := l.admission.breaker.state()
	if paused := now.Add(l.Pause()); paused.After(next) {
		return paused
	}
	return next
}

// concerns reports whether an outage of the platform or of a credential is one of a lane.
func (l *lanes) concerns(of *lane, o reconcile.Outage) bool {
	switch o.Subject {
	case reconcile.OutagePlatform:
		return len(l.all) == 1 || o.Name == of.Name
	case reconcile.OutageCredential:
		return o.Name == of.Credential || len(l.all) == 1 && o.Name == outage.CredentialZones
	default:
		return false
	}
}

// urgency is how urgent the work on so many zones of a commit is.
func urgency(zones int) queue.Priority {
	if zones <= reconcile.SmallPush {
		return queue.Push
	}
	return queue.Bulk
}

// itemsOf are zones to be read now, in the order of their ids, as the ledger has their rows:
// zones that are written at the same time then share the pages of the file.
func itemsOf(ids []edge.Scope, p queue.Priority, reason string) []queue.Item[edge.Scope] {
	items := make([]queue.Item[edge.Scope], len(ids))
	for i, id := range slices.SortedFunc(slices.Values(ids), edge.Scope.Compare) {
		items[i] = queue.Item[edge.Scope]{Key: id, Priority: p, Reason: reason}
	}
	return items
}

// counted puts the zones of a commit that is counted into the queues.
func (l *lanes) counted(g *control.Generation, due []edge.Scope) {
	l.set(g, itemsOf(due, urgency(len(due)), "the commit is counted")...)
}
