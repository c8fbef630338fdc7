package control

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// state is what decisions are made by, in parts that own one thing each. Neither it nor
// its parts are safe for concurrent use: the lock of [Control] guards them all. Nothing
// here reads or writes records.
type state struct {
	means
	progress

	current   atomic.Pointer[Generation] // may be loaded without the lock
	accepted  reconcile.Accepted         // without its state
	accepting string                     // the commit that is about to be put on record; empty for none
	overtaken string                     // a commit that another process has accepted; empty for none
	unlooked  int64                      // [reconcile.Standing.PutBack]: nothing is written before git was looked at

	swept      time.Time // as in [reconcile.Record]
	sweptUnder map[reconcile.LeaseName]time.Time

	zones     zones
	approvals approvals
	holds     holds
	limits    limits
	rollout   rollout
	waiting   waiting
	commands  commands
}

// means are what the configuration gives to decide with. They stay as they are.
type means struct {
	guards    reconcile.Guards
	now       func() time.Time
	foresee   func(zone.Task) (diff.Plan, bool)
	checkSink func(desired.Sink) error
	ruleset   func(desired.Account, desired.RulesetRef) edge.RulesetID
	driftFor  time.Duration
	shared    bool                               // other processes change zones, too
	theirs    func(*Generation, edge.Scope) bool // reports whether one of those works on a zone
}

// progress is how far what is on record was taken in, and what this process has put there.
type progress struct {
	recorded uint64         // counts what this process wrote of [reconcile.Standing]
	reads    reads          // of that
	said     int64          // the number of what was read last, and was taken in; see [reconcile.Records]
	onRecord string         // the commit that was accepted when that was read last
	heard    reconcile.News // by the last tick that has taken in what is on record
	putBack  int64          // how often that was found to be of an earlier time, as of when all was taken in
	restored uint64         // counts how often what is on record was taken in
	mark     reconcile.Mark // of what was taken in last; zero: the next look takes in everything
}

func (s *state) init(c Config) {
	s.means = means{
		guards: c.Guards, now: c.Now, foresee: c.Foresee, checkSink: c.CheckSink, ruleset: c.Ruleset, driftFor: c.DriftFor,
		shared: c.Shared, theirs: c.Theirs,
	}
	if s.theirs == nil {
		s.theirs = func(*Generation, edge.Scope) bool { return false }
	}
	s.waiting = waiting{zones: map[edge.Scope]waitReasons{}}
	s.zones = zones{records: map[edge.Scope]*zoneRecord{}, known: newKnown(), ours: scopes{}}
}

// restore makes a record the one that is worked with. Of a record of some zones it returns those that have
// another proof now.
func (s *state) restore(record reconcile.Record) (proved []edge.Scope) {
	s.accepted, s.swept, s.sweptUnder, s.said = record.Accepted, record.Swept, record.SweptUnder, 0
	s.accepted.State = nil
	s.mark, s.accepted.Parts = record.Mark, nil
	if record.Only != nil {
		proved = s.zones.takeSome(record, s.now(), s.current.Load())
		s.zones.takeMemory(record, s.current.Load())
	} else {
		s.zones = s.zones.anew(record, s.now())
		s.zones.reports = s.guards.ReportUnmanaged
	}
	s.approvals.restore(s.guards.Current(record.Approvals, s.now()))
	s.holds.put(record.Holds)
	s.overtaken, s.unlooked = s.foreign(record.Accepted.Commit), record.PutBack
	s.rollout = s.rollout.anew(record.Rollout)
	// They count for the next generation, wherever its declarations come from.
	s.limits.drifts, s.limits.sent, s.limits.counted, s.limits.anew = record.Drifts, maps.Clone(record.Written), 0, true
	s.restored++
	return proved
}

// publish makes a generation the one in force, while what was done before counts.
func (s *state) publish(g *Generation) {
	before, whole := s.current.Swap(g), s.limits.whole
	s.overtaken, s.said = "", 0
	s.zones.move(before, g)
	s.recall(s.zones.onRecord)
	if s.zones.known.follows(g) {
		s.waiting.forget(g.since.gone)
		switch {
		case s.limits.on && s.limits.anew:
			s.limits = s.limits.over(s.facts(g), s.limits.drifts, s.limits.sent)
		case s.limits.on:
			s.limits.follow(s.facts(g), s.zones.changed(g))
		}
	} else {
		s.waiting.keep(g.Declares)
		s.limits = newLimits(s.facts(g), s.limits.drifts, s.driftFor, s.limits.sent)
	}
	s.limits.whole = nil
	if whole != nil && s.limits.on && whole.Commit == g.State.Commit {
		s.limits.take(whole)
	}
	for id := range s.zones.changed(g) {
		s.measureAgain(g, id)
	}
	s.zones.follow(g)
}

// accept takes in what was just put on record.
func (s *state) accept(a reconcile.Acceptance) {
	if a.Commit != s.accepted.Commit {
		s.limits.sent = nil
	}
	s.accepted = reconcile.Accepted{Commit: a.Commit, Author: a.Author, Size: a.Size, Earlier: a.Earlier}
	s.recorded++
	s.approvals.accept(a.Approvals)
	if a.Memory != nil {
		s.zones.onRecord = *a.Memory
	}
	if a.Rollout != nil {
		s.rollout = newRollouts(*a.Rollout)
	}
	s.zones.forget(a.Gone)
	s.zones.keep(a.Keep)
}

// update takes in what people and other processes have put on record.
func (s *state) update(standing reconcile.Standing) {
	s.said, s.onRecord = standing.Said, standing.Commit
	s.holds.put(standing.Holds)
	s.approvals.replace(s.guards.Current(standing.Approvals, s.now()), s.guards.ApprovalsExpire)
	s.approvals.expire(standing.Approvals)
	s.overtaken, s.unlooked = s.foreign(standing.Commit), standing.PutBack
	s.rollout.compare(standing)
	s.zones.departedOnRecord = standing.Departures
	s.commands.newest = standing.Newest
}

// foreign is the accepted commit where it is not the one in force here, else empty: as
// long as what it declares is not known, nothing may be written.
func (s *state) foreign(accepted string) string {
	if g := s.current.Load(); g == nil || accepted == g.State.Commit || accepted == s.accepting {
		return ""
	}
	return accepted
}

// activeHolds are the holds in force.
func (s *state) activeHolds() []diff.Hold { return s.holds.active(s.current.Load(), s.now()) }

// facts are what guards need to know of anything.
func (s *state) facts(g *Generation) guard.Facts {
	now, size := s.now(), g.size
	return guard.Facts{
		Before: size, After: size, Shrink: s.guards.Shrink, // a commit that shrank too much is not in force
		Now: now, CheckSink: s.checkSink, Zones: g.labels, LabelsBefore: s.zones.memory.under, Accounts: s.zones.memory.accounts, Base: s.limits.commitBase,
		Rules: s.guards.Rules, Observe: s.guards.Observe, Approved: s.approvals.digests, Holds: s.holds.active(g, now),
		Freezes: s.freezes(now), PutBack: s.unlooked != 0,
	}
}

// zoneFacts are what guards need to know of one zone.
func (s *state) zoneFacts(g *Generation, id edge.Scope) guard.Facts {
	f := s.facts(g)
	f.NonConvergent, f.Tries = s.zones.of(id).nonConvergent(f.Now), s.zones.of(id).tries()
	f.Rollout = s.rollout.of(id, s.guards.Waves, f.Now)
	f.Tally = s.limits.tally(s.zones.unproved(g, id), f.Now)
	return f
}

// freezes are those that a time is in.
func (s *state) freezes(now time.Time) []guard.Freeze {
	inForce, _ := reconcile.FreezesAt(s.guards.Freezes, now, false)
	return inForce
}

// shrunk says why a commit is held, nil where it does not shrink too much.
func (s *state) shrunk(next *Generation) *reconcile.Held {
	f := guard.Facts{Before: s.accepted.Size, After: next.size, Loss: s.loss(next), Shrink: s.guards.Shrink}
	if !f.Shrunk() {
		return nil
	}
	return &reconcile.Held{Commit: next.State.Commit, Reason: f.ShrinkReason()}
}
