package controller

import (
	"context"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// leads reports whether commits are this process's to decide about.
func leads(leases reconcile.Leases) bool {
	_, held := leases.Held(reconcile.LeaseCommits)
	return held
}

func (c *commits) leads() bool { return leads(c.leases) }

// follow has the source look, and decides about what it proposes, whenever that is this process's
// to do, until ctx ends.
func (c *commits) follow(ctx context.Context) {
	for ctx.Err() == nil {
		changed := c.leases.Changed()
		c.lead(ctx)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-maybeChanged(changed):
		}
	}
}

// lead has the source look for as long as that is this process's to do.
func (c *commits) lead(ctx context.Context) {
	within, end, held := reconcile.Begin(ctx, c.leases, reconcile.LeaseCommits)
	defer end()
	if !held {
		return
	}
	within, cancel := context.WithCancel(within)
	var resigning sync.WaitGroup
	resigning.Go(func() { c.resign(within, cancel) })
	defer resigning.Wait()
	defer cancel()
	c.led.Store(time.Now().UnixNano())
	if _, shared := reconcile.LeaseIn(within); shared {
		c.outcomes.leaveCommits()
		c.outages.Forget(func(o reconcile.Outage) bool { return o.Subject == reconcile.OutageGit })
		if !c.learn(within) {
			return
		}
	}
	if accepted := c.control.Accepted(); accepted != "" && c.control.Current() == nil {
		// An earlier process accepted it and could not put its declarations on record.
		c.unlooked = 0 // this is no look at git
		if p := c.source.Evaluate(within, accepted); p.Err == nil {
			c.propose(within, p)
		}
	}
	urgent := func(evaluates bool) {
		reason := waitFetch
		if evaluates {
			reason = waitEvaluation
		}
		c.lanes.first.begin(reason, time.Now())
	}
	c.source.Run(within, c.known, urgent, c.propose, c.rehearsed)
}

// learn takes in all that others have put on record, without which nothing is decided; false where ctx
// ended before it could be read.
func (c *commits) learn(ctx context.Context) bool {
	for c.control.Anew(); !c.reload(ctx); c.control.Anew() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(retry.Begin.First):
		}
	}
	return true
}

// resign cancels once commits are not this process's to decide about any more.
func (c *commits) resign(ctx context.Context, cancel func()) {
	lease, _ := reconcile.LeaseIn(ctx)
	for {
		changed := c.leases.Changed()
		if now, held := c.leases.Held(reconcile.LeaseCommits); !held || now.Epoch != lease.Epoch {
			cancel()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// news reports whether a proposal is of another commit than the one in force, while other processes
// work on some of the zones: what they have proved is not known here.
func (c *commits) news(p reconcile.Proposal) bool {
	return p.Err == nil && !p.Same && len(desired.Errors(p.Problems)) == 0 && c.lanes.shared()
}

// refresh takes in what other processes have put on record of their zones, and forgets what was seen
// of these here: a commit is decided about by that.
func (c *commits) refresh(ctx context.Context) bool {
	before := c.control.Current()
	c.forgetTheirs()
	d, err := c.control.Reload(ctx)
	if c.reports.quiet(ctx, "reload", err) != nil {
		return false
	}
	c.takeOver(before, d)
	return true
}

// forgetTheirs forgets what was seen of zones of other processes: these have written to them since.
func (c *commits) forgetTheirs() {
	if g := c.control.Current(); g != nil && c.lanes.shared() {
		c.seen.forgetAway(func(id edge.Scope) bool { return c.lanes.elsewhere(g, id) })
	}
}

// begun tells that a commit which another process has accepted is applied here, too.
func (c *commits) begun(before, g *control.Generation) {
	if shared := c.leases != reconcile.Leases(reconcile.OnlyProcess{}); shared && (before == nil || before.State.Commit != g.State.Commit) {
		c.accepted(g.State.Commit)
	}
}
