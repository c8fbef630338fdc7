package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// OnRecord says what the records say, as [New] reads them, for who asks where no process that works
// answers. It must not be run: nothing is read or written by it.
func OnRecord(ctx context.Context, config Config) (*Controller, error) {
	c, err := New(ctx, config)
	if err != nil {
		return nil, err
	}
	g, now := c.control.Current(), time.Now()
	if g == nil {
		return c, nil
	}
	holds := diff.HoldsOn(c.control.Holds())
	for id := range g.Zones() {
		_, z := g.At(id)
		hold, held := holds(z.Key, id)
		if d := c.onRecord(id, hold, held && c.control.CommitWork(g, id), now); len(d) > 0 {
			c.fleet.looked(id, func(lastLook) lastLook { return lastLook{notable: &notable{decisions: d}} })
		}
	}
	return c, nil
}

// onRecord is what the records decide about a zone. held says that a hold keeps back what is declared.
func (c *Controller) onRecord(id edge.Scope, hold diff.Hold, held bool, now time.Time) (decisions []inspect.Decision) {
	for _, try := range c.control.Tries(id) {
		decisions = append(decisions, inspect.Decision{
			Stage: inspect.StageProve, Outcome: inspect.NonConvergent, Reason: "the platform did not keep a write to one of its deployments", Until: try.Next, Since: try.At,
		})
		break // the others are alike
	}
	if held {
		d := inspect.Decision{Stage: inspect.StageGuard, Guard: diff.GuardHold, Outcome: inspect.Waiting, Reason: fmt.Sprintf("the zone is %s", hold), Until: hold.Until, Since: now}
		if hold.Reverted() {
			d.Outcome = inspect.PutBack
		}
		decisions = append(decisions, d)
	}
	return decisions
}
