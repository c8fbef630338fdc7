package controller

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// OnRecord says what the records say, as [New] reads them, for who asks where no process that works
// answers. It must not be run: nothing is read or written by it. accepted is when the commit in force was
// accepted; zero: not known.
func OnRecord(ctx context.Context, config Config, accepted func(commit string) time.Time) (*Controller, error) {
	config.onRecord = true
	c, err := New(ctx, config)
	if err != nil {
		return nil, err
	}
	g := c.control.Current()
	if g == nil {
		return c, nil
	}
	since := accepted(g.State.Commit)
	for id := range g.Zones() {
		if d := c.onRecord(id, since); len(d) > 0 {
			c.fleet.looked(id, func(lastLook) lastLook { return lastLook{notable: &notable{decisions: d}} })
		}
	}
	return c, nil
}

// onRecord is what the records decide about a zone.
func (c *Controller) onRecord(id edge.Scope, accepted time.Time) (decisions []inspect.Decision) {
	for _, try := range c.control.Tries(id) {
		decisions = append(decisions, inspect.Decision{
			Stage: inspect.StageProve, Outcome: inspect.NonConvergent, Reason: "the platform did not keep a write to one of its deployments", Until: try.Next, Since: try.At,
		})
		break // the others are alike
	}
	if !c.control.CommitWork(c.control.Current(), id) {
		return decisions
	}
	d := inspect.Decision{Stage: inspect.StageQueue, Outcome: inspect.Pending, Reason: "a commit changes it, and no proof since then is on record", Since: accepted}
	switch o := c.control.OnRecord(id); {
	case o.Refusal != nil:
		d = ofRefusal(d, *o.Refusal)
		if d.Guard == diff.GuardHold || d.Guard == diff.GuardReverted || d.Guard == diff.GuardFreeze {
			d.Since = time.Time{} // the records have no time at which it began
		}
	case o.Counting:
		d.Stage, d.Guard, d.Reason = inspect.StageGuard, diff.GuardLimit, countedElsewhere
	case o.Approval != "":
		d.Reason += "; guards." + o.Approval + " asks for an approval, and which are given is a replica's to say"
	}
	return append(decisions, d)
}
