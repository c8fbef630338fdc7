package control

import (
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
	lasts                 time.Duration
}

// newLimits counts what was done before: drifts, and zones that were written because of the
// commit.
func newLimits(facts guard.Facts, drifts []reconcile.Drift, since time.Time, sent map[edge.Scope]bool) limits {
	if len(facts.Rules) == 0 {
		return limits{}
	}
	l := limits{
		on: true, commitBase: guard.NewBase(facts.Rules, len(facts.Zones)), driftBase: guard.NewBase(facts.Rules, len(facts.Zones)),
		unseen: map[edge.Scope]bool{}, sent: map[edge.Scope]bool{}, lasts: facts.Now.Sub(since),
	}
	facts.Base = l.commitBase
	l.commit = guard.NewTally("this commit", facts)
	facts.Base = l.driftBase
	l.drift = guard.NewTally("this sweep", facts)
	for id, weakens := range sent {
		l.sent[id] = weakens
		l.commit.Count(id, weakens)
	}
	for _, d := range drifts {
		if !d.At.Before(since) {
			l.drifts = append(l.drifts, d)
			l.drift.Count(d.Scope, d.Weakens)
		}
	}
	return l
}

// counting reports whether zones are still to be read before the commit is
// counted.
func (l *limits) counting() bool { return len(l.unseen) > 0 }

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
		l.sent[d.Scope] = l.sent[d.Scope] || d.Weakens
		l.commit.Count(d.Scope, d.Weakens)
	default:
		l.drifts = append(l.drifts, d)
		l.drift.Count(d.Scope, d.Weakens)
	}
}

// countCommit counts a plan as what the commit changes: each zone once, and none of whose
// changes all are approved, but for those that were written before.
func (l *limits) countCommit(plan diff.Plan) {
	counts := map[edge.Scope]bool{}
	for _, change := range plan.Changes {
		if !change.Approved && (change.Applies() || change.Refused != nil && countsThough(change.Refused.Guard)) {
			counts[change.Scope] = counts[change.Scope] || change.Direction == diff.Weakens
		}
	}
	for _, change := range plan.Changes {
		_, counted := counts[change.Scope]
		if _, sent := l.sent[change.Scope]; !counted && !sent && change.Approved {
			l.commit.Drop(change.Scope)
		}
	}
	for id, weakens := range counts {
		l.commit.Count(id, weakens)
	}
}

// countsThough reports whether a change that a guard refuses counts for limits all
// the same: waiting must not make a large commit look small.
func countsThough(guard diff.Guard) bool {
	return slices.Contains([]diff.Guard{diff.GuardLimit, diff.GuardApproval, diff.GuardFreeze, diff.GuardWave}, guard)
}

// forget drops drifts of long ago.
func (l *limits) forget(now time.Time) {
	old := 0
	for old < len(l.drifts) && now.Sub(l.drifts[old].At) >= l.lasts {
		old++
	}
	if old == 0 {
		return
	}
	for _, d := range l.drifts[:old] {
		l.drift.Drop(d.Scope)
	}
	l.drifts = l.drifts[old:]
	for _, d := range l.drifts { // a zone may have drifted again since
		l.drift.Count(d.Scope, d.Weakens)
	}
}
