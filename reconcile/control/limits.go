package control

import (
	"iter"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// limits count what is changed: of a commit once, whatever order its zones come in,
// and of drift within a while. Without rules nothing is counted.
type limits struct {
	on     bool
	commit *guard.Tally
	// Of how many zones shares are shares: for the commit, of those that were there before
	// it; for drift, of those in force.
	commitBase, driftBase *guard.Base
	unseen                map[edge.Scope]bool // zones of the commit that must be read before it is counted
	sent                  map[edge.Scope]bool // zones of the commit that were written, and whether that weakened
	drift                 *guard.Tally
	drifts                []reconcile.Drift // that count, in the order of time
	anew                  bool              // drifts and sent were read from the record, and are not counted yet
	newest                map[edge.Scope]newestDrift
	lasts                 time.Duration
	// counted is the number up to which it is known what all processes have counted; see
	// [reconcile.Counts].
	counted int64

	// Of several processes one counts the commit for all of them. whole is what it has counted, as
	// far as that is known here: without it nothing of the commit is written. agreed are the zones
	// that do not count because people have agreed to all of their changes.
	whole  *reconcile.Count
	weighs bool // the commit was counted here, and what is on record may be something else
	fresh  bool // whole is news: what waits for it may go on
	agreed map[edge.Scope]bool
}

// newestDrift is when a zone drifted last, and last so that healing it weakened; zero for never.
type newestDrift struct{ at, weakened time.Time }

// newLimits counts what was done before: drifts, and zones that were written because of the
// commit.
func newLimits(facts guard.Facts, drifts []reconcile.Drift, lasts time.Duration, sent map[edge.Scope]bool) limits {
	if len(facts.Rules) == 0 {
		return limits{}
	}
	l := limits{commitBase: guard.NewBase(facts.Rules, len(facts.Zones)), driftBase: guard.NewBase(facts.Rules, len(facts.Zones)), lasts: lasts}
	return l.over(facts, drifts, sent)
}

// over counts what was done before anew, while shares are of the same zones.
func (l *limits) over(facts guard.Facts, drifts []reconcile.Drift, sent map[edge.Scope]bool) limits {
	next := limits{on: true, commitBase: l.commitBase, driftBase: l.driftBase, newest: map[edge.Scope]newestDrift{}, lasts: l.lasts, sent: sent}
	facts.Base = next.driftBase
	next.drift = guard.NewTally("this sweep", facts)
	for _, d := range drifts {
		next.drifted(d)
	}
	next.forget(facts.Now)
	next.begin(facts)
	return next
}

// begin counts a commit that comes into force. Of it, what was sent counts.
func (l *limits) begin(facts guard.Facts) {
	facts.Base = l.commitBase
	l.commit, l.unseen, l.agreed = guard.NewTally("this commit", facts), map[edge.Scope]bool{}, map[edge.Scope]bool{}
	if l.sent == nil {
		l.sent = map[edge.Scope]bool{}
	}
	for id, weakens := range l.sent {
		l.commit.Count(id, weakens)
	}
}

// follow counts by the facts of the next generation, as newLimits does. All but these zones are
// selected by the rules that selected them before.
func (l *limits) follow(facts guard.Facts, zones iter.Seq[edge.Scope]) {
	l.forget(facts.Now)
	facts.Base = l.driftBase
	l.drift.Follow(facts, zones)
	l.begin(facts)
}

// join has what all processes have counted for a commit, and for drifts, count in this one.
func (l *limits) join(list []reconcile.Count, commit, here string) {
	if !l.on {
		return
	}
	for _, c := range list {
		l.counted = max(l.counted, c.Number)
		switch d := (reconcile.Drift{Scope: c.Scope, At: c.At, Weakens: c.Weakens}); {
		case c.All != nil:
			if c.Commit == commit && (l.whole == nil || c.By != here && l.whole.Number < c.Number) {
				l.take(&c)
				l.fresh = true
			}
		case c.Commit == "" && !l.knows(d):
			l.drifted(d)
		case c.Commit != "" && c.Commit == commit:
			l.count(d, true)
		}
	}
}

// knows reports whether a drift counts already.
func (l *limits) knows(d reconcile.Drift) bool {
	if _, some := l.newest[d.Scope]; !some {
		return false
	}
	return slices.ContainsFunc(l.drifts, func(have reconcile.Drift) bool { return have.Scope == d.Scope && have.At.Equal(d.At) })
}

// drifted has a drift count.
func (l *limits) drifted(d reconcile.Drift) {
	at := len(l.drifts)
	for at > 0 && d.At.Before(l.drifts[at-1].At) { // the clock was set back: what is ahead of it must not stop the others from being forgotten
		at--
	}
	l.drifts = slices.Insert(l.drifts, at, d)
	l.drift.Count(d.Scope, d.Weakens)
	n := l.newest[d.Scope]
	if n.at = latest(n.at, d.At); d.Weakens {
		n.weakened = latest(n.weakened, d.At)
	}
	l.newest[d.Scope] = n
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// take has the zones count that a process has counted for the whole commit, in the place of those
// that it has counted so before.
func (l *limits) take(whole *reconcile.Count) {
	if l.whole != nil {
		for id := range l.whole.All {
			if _, still := whole.All[id]; !still && !l.wrote(id) {
				l.commit.Drop(id)
			}
		}
	}
	l.whole = whole
	for id, weakens := range whole.All {
		l.commit.Count(id, weakens)
	}
}

// ours reports whether this process has counted the whole commit.
func (l *limits) ours(here string) bool { return l.whole != nil && l.whole.By == here }

func (l *limits) wrote(id edge.Scope) bool {
	_, sent := l.sent[id]
	return sent
}

// reading reports whether zones are still to be read before the commit is counted here.
func (l *limits) reading() bool { return len(l.unseen) > 0 }

// tally is what counts beside a zone of the commit, or beside a drift.
func (l *limits) tally(commit bool, now time.Time) *guard.Tally {
	if !l.on || commit {
		return l.commit
	}
	l.forget(now)
	return l.drift
}

// count has a zone count that is about to be written, because of the commit or of a
// drift.
func (l *limits) count(d reconcile.Drift, commit bool) {
	switch {
	case !l.on:
	case commit:
		if l.sent == nil { // records were read anew, without the declarations
			l.sent = map[edge.Scope]bool{}
		}
		l.sent[d.Scope] = l.sent[d.Scope] || d.Weakens
		l.commit.Count(d.Scope, d.Weakens)
	default:
		l.drifted(d)
	}
}

// countCommit counts a plan as what the commit changes: each zone once, and none of whose
// changes all are approved, but for those that were written before. Of theirs, which other processes
// work on, one that people have agreed to counts no more: it may be written by now, and what was seen of
// it is of before.
func (l *limits) countCommit(plan diff.Plan, theirs func(edge.Scope) bool) {
	counts := map[edge.Scope]bool{}
	for _, change := range plan.Changes {
		if !change.Approved && (change.Applies() || change.Refused != nil && countsThough(change.Refused.Guard)) {
			counts[change.Scope] = counts[change.Scope] || change.Direction == diff.Weakens
		}
	}
	for _, change := range plan.Changes {
		_, counted := counts[change.Scope]
		if !counted && !l.wrote(change.Scope) && change.Approved {
			l.commit.Drop(change.Scope)
			l.agreed[change.Scope] = true
		}
	}
	for id, weakens := range counts {
		if !l.agreed[id] || !theirs(id) {
			l.commit.Count(id, weakens)
		}
	}
	l.weighs = true
}

// countsThough reports whether a change that a guard refuses counts for limits all
// the same: waiting must not make a large commit look small.
func countsThough(guard diff.Guard) bool {
	return slices.Contains([]diff.Guard{diff.GuardLimit, diff.GuardApproval, diff.GuardFreeze, diff.GuardWave, diff.GuardOvertaken}, guard)
}

// forget drops drifts of long ago. A zone may have drifted again since.
func (l *limits) forget(now time.Time) {
	for len(l.drifts) > 0 && now.Sub(l.drifts[0].At) >= l.lasts {
		d := l.drifts[0]
		l.drifts = l.drifts[1:]
		switch n := l.newest[d.Scope]; {
		case !n.at.After(d.At):
			l.drift.Drop(d.Scope)
			delete(l.newest, d.Scope)
		case d.Weakens && !n.weakened.After(d.At):
			l.drift.Drop(d.Scope)
			l.drift.Count(d.Scope, false)
			l.newest[d.Scope] = newestDrift{at: n.at}
		}
	}
}
