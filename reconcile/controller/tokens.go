package controller

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// tokensDueEvery is how often the ledger is asked whether a token's time has come.
const tokensDueEvery = time.Minute

// tokenWork is when the tokens were looked at, and how that went.
type tokenWork struct {
	last     time.Time // zero for never
	failures int       // in a row
}

// workTokens does the token work of the credential when it is due, until ctx ends: one
// item, so one thing at a time. A doubt about tokens holds no zone back.
func (c *Controller) workTokens(ctx context.Context) {
	if c.Tokens == nil {
		return
	}
	var work tokenWork
	for {
		item, err := c.tokens.Next(ctx)
		if err != nil {
			return
		}
		next := queue.Item[struct{}]{Due: time.Now().Add(c.tokensEvery()), Priority: queue.Sweep, Reason: "its turn"}
		if g := c.control.Current(); g != nil && c.tokensDue(ctx, g, item, work) {
			next.Due = c.workOnTokens(ctx, g, &work)
		}
		c.tokens.Done(item.Key, &next)
	}
}

// tokensEvery is how long to wait before it is asked again whether anything is due.
func (c *Controller) tokensEvery() time.Duration {
	if turn := c.sweep.turn(time.Now()); turn > 0 {
		return min(turn, tokensDueEvery)
	}
	return tokensDueEvery
}

// tokensDue reports whether anything is to be done about tokens: somebody asks, the last
// try has failed, the sweep has come around, or the time of a token has.
func (c *Controller) tokensDue(ctx context.Context, g *control.Generation, item queue.Item[struct{}], work tokenWork) bool {
	turn := c.sweep.turn(time.Now())
	if item.Priority == queue.Push || work.failures > 0 || turn > 0 && time.Since(work.last) >= turn {
		return true
	}
	due, err := c.Tokens.Due(ctx, g.State.Tokens)
	return err == nil && len(due) > 0 // what keeps the ledger from being read, the next turn tells
}

// workOnTokens does it, and returns when to look again at the latest.
func (c *Controller) workOnTokens(ctx context.Context, g *control.Generation, work *tokenWork) time.Time {
	began := time.Now()
	scope := token.Scope{Commit: g.State.Commit, Tokens: g.State.Tokens}
	o := c.Tokens.Work(ctx, scope, func(_ context.Context, plan diff.Plan) (diff.Plan, error) {
		return c.control.GuardTokens(g, plan, c.Tokens.Unkept()), nil
	})
	lingering, cancel := reconcile.Lingering(ctx, grace)
	defer cancel()
	c.state(ctx, "note tokens", c.control.NoteTokens(lingering, control.Outcome{Plan: o.Plan, Results: o.Results}))
	told := c.tokenOutages(o)
	if ctx.Err() != nil && len(o.Results) == 0 {
		return time.Time{}
	}
	if c.Deprecations != nil {
		o.Plan.Deprecations = append(o.Plan.Deprecations, c.Deprecations(g.State, time.Now())...)
	}
	c.outcomes.worked(o, time.Now())
	c.reports.work(ctx, o, began, told)
	now := time.Now()
	work.last = now
	if o.Err == nil && len(o.Unfinished()) == 0 {
		work.failures = 0
		return now.Add(c.tokensEvery())
	}
	work.failures++
	return now.Add(min(firstRetry<<min(work.failures-1, 20), lastRetry))
}
