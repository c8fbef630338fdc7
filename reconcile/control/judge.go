package control

import (
	"context"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// A commit is counted once, before any of it is written: how many zones it changes
// and weakens, and which of its changes people have agreed to as a whole. That needs
// no request where its zones were seen before; those that were not are looked at
// first.

// judge counts a generation's commit work from what was last seen. It returns the
// zones that must be looked at before that can be done; the caller holds the lock.
func (c *Control) judge(g *Generation) (unseen []edge.ZoneID) {
	if !c.limits.on {
		return nil
	}
	c.limits.unseen = map[edge.ZoneID]bool{}
	var changes []diff.Change
	for id := range g.Zones() {
		if !c.isCommitWork(g, id) {
			continue
		}
		t, _ := g.Task(id)
		t.Applied = c.zone(id).applied
		plan, seen := c.Foresee(t)
		if !seen {
			c.limits.unseen[id] = true
			unseen = append(unseen, id)
			continue
		}
		changes = append(changes, plan.Changes...)
	}
	if len(unseen) > 0 {
		return unseen
	}
	c.weigh(g, changes)
	return nil
}

// weigh counts the changes of a commit, and has approvals of several changes count for
// each of them: of those of the commit, or of all that is planned to be changed.
func (c *Control) weigh(g *Generation, changes []diff.Change) {
	plan := c.guarded(g, changes)
	c.agree(plan)
	if drifts := c.foreseen(g, c.driftsThatWait(g)); len(drifts) > 0 {
		c.agree(c.guarded(g, slices.Concat(changes, drifts)))
		plan = c.guarded(g, changes)
	}
	counts := map[edge.ZoneID]bool{}
	for _, change := range plan.Changes {
		if !change.Approved && (change.Applies() || change.Refused != nil && countsThough(change.Refused.Guard)) {
			counts[change.ZoneID] = counts[change.ZoneID] || change.Direction == diff.Weakens
		}
	}
	for _, change := range plan.Changes {
		if _, ok := counts[change.ZoneID]; !ok && change.Approved {
			c.limits.commit.Drop(change.ZoneID)
		}
	}
	for id, weakens := range counts {
		c.limits.commit.Count(id, weakens)
	}
}

// guarded passes changes that were foreseen through the guards, as one plan.
func (c *Control) guarded(g *Generation, changes []diff.Change) diff.Plan {
	return diff.Guard(diff.Gather(g.State.Commit, g.State.Zones(), 0, changes, nil), c.facts(g))
}

// countsThough reports whether a change that a guard refuses counts for limits all
// the same: waiting must not make a large commit look small.
func countsThough(guard string) bool {
	return slices.Contains([]string{"limit", "approval", "freeze", "wave"}, guard)
}

// Looked tells that a zone was looked at, whatever came of it. It returns the zones
// of the commit once all of them were, so that it could be counted: they are due.
func (c *Control) Looked(ctx context.Context, id edge.ZoneID) (due []edge.ZoneID, err error) {
	c.mu.Lock()
	if !c.limits.unseen[id] {
		c.mu.Unlock()
		return nil, nil
	}
	delete(c.limits.unseen, id)
	if c.limits.counting() {
		c.mu.Unlock()
		return nil, nil
	}
	g := c.Current()
	due = c.commitWork(g)
	c.weigh(g, c.foreseen(g, due))
	c.mu.Unlock()
	return due, c.recordAgreements(ctx)
}

func (c *Control) commitWork(g *Generation) (ids []edge.ZoneID) {
	for id := range g.Zones() {
		if c.isCommitWork(g, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// driftsThatWait are the zones whose drift a limit or an approval holds back.
func (c *Control) driftsThatWait(g *Generation) (ids []edge.ZoneID) {
	for id := range g.Zones() {
		if w := c.waiting[id]; w.forSomebody() && !c.isCommitWork(g, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// foreseen are the changes of zones, from what was last seen. What could not be read is
// counted when it is about to be written. The caller holds the lock.
func (c *Control) foreseen(g *Generation, ids []edge.ZoneID) (changes []diff.Change) {
	for _, id := range ids {
		t, _ := g.Task(id)
		t.Applied = c.zone(id).applied
		if plan, seen := c.Foresee(t); seen {
			changes = append(changes, plan.Changes...)
		}
	}
	return changes
}
