package control

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Verdict says whether a guarded plan may be acted on.
type Verdict int

// The verdicts.
const (
	Act        Verdict = iota
	Superseded         // a newer commit declares the zone otherwise: look again
	Counting           // how much the commit changes is not known yet: nothing of it is written
)

// Guard passes the plan of one zone through the guards, as they are at this moment.
func (c *Control) Guard(g *Generation, id edge.ZoneID, plan diff.Plan) (diff.Plan, Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.Current(); now != g && now.prints[id] != g.prints[id] {
		return plan, Superseded
	}
	if c.limits.counting() && c.isCommitWork(g, id) {
		return plan, Counting
	}
	plan = diff.Guard(plan, c.factsOf(c.Current(), id))
	c.agree(plan)
	return plan, Act
}

// GuardTokens passes a plan of tokens through the guards; unkept are updates that the
// platform took and did not keep.
func (c *Control) GuardTokens(g *Generation, plan diff.Plan, unkept map[edge.TokenID]string) diff.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.facts(g)
	f.NonConvergentTokens = unkept
	return diff.Guard(plan, f)
}

// factsOf are what guards need to know of one zone; the caller holds the lock.
func (c *Control) factsOf(g *Generation, id edge.ZoneID) diff.Facts {
	f := c.facts(g)
	f.NonConvergent = c.zone(id).nonConvergent(id, f.Now)
	f.Rollout = c.rollout.of(id, c.Guards.Waves, f.Now)
	f.Tally = c.limits.tally(c.isCommitWork(g, id), f.Now)
	return f
}

// facts are what guards need to know of anything; the caller holds the lock.
func (c *Control) facts(g *Generation) diff.Facts {
	now := c.Now()
	size := g.size()
	return diff.Facts{
		Before: size, After: size, Shrink: c.Guards.Shrink, // a commit that shrank too much is not in force
		Now: now, CheckSink: c.CheckSink, Zones: g.labels, LabelsBefore: c.labels,
		Rules: c.Guards.Rules, Observe: c.Guards.Observe, Approved: c.words.approved, Holds: diff.Active(c.words.holds, now, g.declaration),
		Freezes: c.freezes(now),
	}
}

// freezes are those that a time is in.
func (c *Control) freezes(now time.Time) []diff.Freeze {
	inForce, _ := reconcile.FreezesAt(c.Guards.Freezes, now, false)
	return inForce
}

// shrunk says why a commit is held, nil where it does not shrink too much.
func (c *Control) shrunk(state desired.State, allow bool) *reconcile.Held {
	f := diff.Facts{Before: c.accepted.Size, After: sizeOf(state), Shrink: c.Guards.Shrink, AllowShrink: allow}
	if !f.Shrunk() {
		return nil
	}
	return &reconcile.Held{Commit: state.Commit, Reason: f.ShrinkReason()}
}
