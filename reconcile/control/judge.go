package control

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// A commit is counted once, before any of it is written: how many zones it changes
// and weakens, and which of its changes people have agreed to as a whole. That needs
// no request where its zones were seen before; those that were not are read
// first.

// counting reports whether a commit is still to be counted before any of it is written: here, and
// where there are other processes, by the one that decides about commits, which counts for all.
func (s *state) counting() bool {
	return s.limits.reading() || s.shared && s.limits.on && s.limits.whole == nil
}

// judge counts a generation's commit work from what was last seen. It returns the
// zones that must be read before that can be done.
func (s *state) judge(g *Generation) (unseen []edge.Scope) {
	if !s.limits.on {
		return nil
	}
	s.limits.unseen = map[edge.Scope]bool{}
	changes, unseen := s.foreseen(g, s.zones.commitWork(g))
	if len(unseen) > 0 {
		for _, id := range unseen {
			s.limits.unseen[id] = true
		}
		return unseen
	}
	s.weigh(g, changes)
	return nil
}

// mustCount reports whether changes must not be made before the commit is counted: a limit
// or an approval may be about them. What no rule is about need not wait until the whole fleet
// was read, least of all what strengthens. While there are approvals all wait: one may be of
// the whole commit.
func (s *state) mustCount(g *Generation, plan diff.Plan) bool {
	f := s.facts(g)
	return len(f.Approved) > 0 && len(plan.Changes) > 0 || slices.ContainsFunc(plan.Changes, f.Minded)
}

// weigh counts the changes of a commit, and has approvals of several changes count for
// each of them: of those of the commit, or of all that is planned to be changed.
func (s *state) weigh(g *Generation, changes []diff.Change) {
	plan, now := s.guarded(g, changes), s.now()
	s.approvals.divide(plan, now)
	if drifts, _ := s.foreseen(g, s.driftsThatWait(g)); len(drifts) > 0 {
		s.approvals.divide(s.guarded(g, slices.Concat(changes, drifts)), now)
		plan = s.guarded(g, changes)
	}
	s.limits.countCommit(plan, func(id edge.Scope) bool { return s.theirs(g, id) })
}

// weighAgain counts the commit in force anew, where it was counted before.
func (s *state) weighAgain() {
	if g := s.current.Load(); g != nil && s.limits.on && !s.limits.reading() {
		changes, _ := s.foreseen(g, s.zones.commitWork(g))
		s.weigh(g, changes)
	}
}

// guarded passes changes that were foreseen through the guards, as one plan.
func (s *state) guarded(g *Generation, changes []diff.Change) diff.Plan {
	plan := diff.Gather(g.State.Commit, g.State.Zones(), 0, changes, nil)
	plan.Leaving = s.zones.memory.leaving
	return guard.Check(plan, s.facts(g))
}

// driftsThatWait are the zones whose drift a limit or an approval holds back, in their order.
func (s *state) driftsThatWait(g *Generation) []edge.Scope {
	return g.inOrder(func(yield func(edge.Scope) bool) {
		for id, reasons := range s.waiting.zones {
			if reasons.forPerson() && g.Declares(id) && !s.zones.unproved(g, id) && !yield(id) {
				return
			}
		}
	})
}

// foreseen are the changes of zones, from what was last seen, and the zones that were not
// seen or could not be read: those are counted when they are about to be written.
func (s *state) foreseen(g *Generation, ids []edge.Scope) (changes []diff.Change, unseen []edge.Scope) {
	for _, id := range ids {
		if plan, seen := s.foresee(s.zones.task(g, id)); seen {
			changes = append(changes, plan.Changes...)
		} else {
			unseen = append(unseen, id)
		}
	}
	return changes, unseen
}

// MustRead reports whether a zone must be read before the commit in force is counted here.
func (c *Control) MustRead(id edge.Scope) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.limits.unseen[id]
}

// Uncounted are the zones that must be read before the commit in force is counted here; none
// where it is.
func Uncounted(c *Control) []edge.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.state.limits.unseen))
}

// Looked tells that a zone was read, whatever came of it. It returns the zones of the
// commit once all of them were, so that it could be counted: they are due, but for those that
// could not be read, which are tried again anyway.
func (c *Control) Looked(ctx context.Context, id edge.Scope) (due []edge.Scope, err error) {
	c.mu.Lock()
	due, counted := c.state.looked(id)
	c.mu.Unlock()
	if !counted {
		return nil, nil
	}
	err = c.recordDivided(ctx)
	_, failed := c.recordWhole(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.counting() { // elsewhere, or not on record yet: a tick tells of it
		due = nil
	}
	return due, errors.Join(err, failed)
}

// looked reports whether the commit is counted with this zone, and which zones it
// changes.
func (s *state) looked(id edge.Scope) (due []edge.Scope, counted bool) {
	if !s.limits.unseen[id] {
		return nil, false
	}
	delete(s.limits.unseen, id)
	if s.limits.reading() {
		return nil, false
	}
	g := s.current.Load()
	due = s.zones.commitWork(g)
	changes, unread := s.foreseen(g, due)
	s.weigh(g, changes)
	again := make(map[edge.Scope]bool, len(unread))
	for _, id := range unread {
		again[id] = true
	}
	return slices.DeleteFunc(due, func(id edge.Scope) bool { return again[id] }), true
}
