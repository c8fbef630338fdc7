package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
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
	c.countCommit(g, changes)
	return nil
}

// countCommit counts the changes of a commit, and expands approvals of several of
// them to approvals of each.
func (c *Control) countCommit(g *Generation, changes []diff.Change) {
	plan := diff.Gather(g.State.Commit, g.State.Zones(), 0, changes, nil)
	plan = diff.Guard(plan, c.facts(g))
	for _, change := range plan.Changes {
		switch {
		case change.Approved:
			c.words.approved[change.ApprovalDigest()] = true
			c.limits.commit.Drop(change.ZoneID)
		case change.Applies(), change.Refused != nil && countsThough(change.Refused.Guard):
			c.limits.commit.Count(change.ZoneID, change.Direction == diff.Weakens)
		}
	}
	if words, spent := c.expanded(plan); len(words)+len(spent) > 0 {
		c.limits.words, c.limits.spent = words, spent
	}
}

// countsThough reports whether a change that a guard refuses counts for limits all
// the same: waiting must not make a large commit look small.
func countsThough(guard string) bool {
	return slices.Contains([]string{"limit", "approval", "freeze", "wave"}, guard)
}

// expanded returns the approvals of single changes that approvals of a whole come
// down to, and the digests that are spent with that.
func (c *Control) expanded(plan diff.Plan) (words []reconcile.Approval, spent []string) {
	if len(plan.Granted) == 0 {
		return nil, nil
	}
	known, who := map[string]bool{}, ""
	for _, a := range c.words.approvals {
		known[a.Digest] = true
		if slices.Contains(plan.Granted, a.Digest) {
			who = a.Who
		}
	}
	single := map[string]bool{}
	for _, change := range plan.Changes {
		digest := change.ApprovalDigest()
		if single[digest] = true; change.Approved && !known[digest] {
			known[digest] = true
			words = append(words, reconcile.Approval{
				Digest: digest, Kind: reconcile.Approved, Who: who, Reason: change.Name(), At: c.Now(),
			})
		}
	}
	for _, digest := range plan.Granted {
		if !single[digest] {
			spent = append(spent, digest)
		}
	}
	return words, spent
}

// recordWords writes down what judging has found people to have agreed to.
func (c *Control) recordWords(ctx context.Context) error {
	c.mu.Lock()
	words, spent := c.limits.words, c.limits.spent
	c.limits.words, c.limits.spent = nil, nil
	c.mu.Unlock()
	if len(words) > 0 {
		if err := c.Records.Approve(ctx, words); err != nil {
			return fmt.Errorf("recording approvals: %w", err)
		}
	}
	return c.spend(ctx, spent)
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
	for id := range g.Zones() {
		if c.isCommitWork(g, id) {
			due = append(due, id)
		}
	}
	c.countCommit(g, c.foreseen(g))
	c.mu.Unlock()
	return due, c.recordWords(ctx)
}

// foreseen are the changes of the commit work, from what was last seen. What could not
// be read is counted when it is about to be written. The caller holds the lock.
func (c *Control) foreseen(g *Generation) (changes []diff.Change) {
	for id := range g.Zones() {
		if !c.isCommitWork(g, id) {
			continue
		}
		t, _ := g.Task(id)
		t.Applied = c.zone(id).applied
		if plan, seen := c.Foresee(t); seen {
			changes = append(changes, plan.Changes...)
		}
	}
	return changes
}
