package controller

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// nameLoop looks up the ids of zones, in a goroutine of its own. Nothing waits for it: a
// zone whose id is not known has an item like any other, and comes to nothing until it is.
type nameLoop struct {
	*directory.Names
	commits  *commits
	lanes    *lanes
	outcomes *outcomes
}

// run looks names up when it is time, until ctx ends.
func (n *nameLoop) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := n.commits.leases.Changed()
		var due <-chan time.Time
		if next, mine := n.turn(ctx); !mine {
			due = maybeChanged(changed)
		} else if !next.IsZero() {
			due = time.After(max(time.Until(next), lookPause))
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-due:
		case <-n.Poked():
		}
	}
}

// turn looks up what is due, where that is this process's to do.
func (n *nameLoop) turn(ctx context.Context) (next time.Time, mine bool) {
	ctx, end, held := reconcile.Begin(ctx, n.commits.leases, reconcile.LeaseCommits)
	defer end()
	if !held {
		return time.Time{}, false
	}
	return n.look(ctx), true
}

// lookPause is the shortest pause between two looks that no one asks for.
const lookPause = time.Second

// look looks up what is due, and has zones worked on about which something else is known
// now.
func (n *nameLoop) look(ctx context.Context) (next time.Time) {
	g := n.commits.control.Current()
	if g == nil {
		return time.Time{}
	}
	before := n.verdicts(g.State)
	next = n.Look(ctx, g.State)
	if ctx.Err() != nil {
		return next
	}
	g = n.commits.rename(ctx, g)
	var due []edge.Scope
	for id, verdict := range n.verdicts(g.State) {
		if last, known := before[id]; desired.Sought(id.ID) && !n.outcomes.zones.knows(id) || known && last != verdict {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, edge.Scope.Compare)
	n.lanes.set(g, itemsOf(due, urgency(len(due)), "its name was looked up")...)
	return next
}

// verdicts are what is against each zone of a state that has a name.
func (n *nameLoop) verdicts(state desired.State) map[edge.Scope]string {
	verdicts := map[edge.Scope]string{}
	for a, z := range state.EachZone() {
		if z.Name == "" && a.Name == "" {
			continue
		}
		verdicts[z.Scope] = ""
		if err := n.Check(a, z); err != nil {
			verdicts[z.Scope] = err.Error()
		}
	}
	return verdicts
}
