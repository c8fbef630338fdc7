package controller

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// names looks up the ids of zones, in a goroutine of its own. Nothing waits for it: a
// zone whose id is not known has an item like any other, and comes to nothing until it is.
type names struct {
	*directory.Names
	c     *Controller
	poked chan struct{}
}

// poke asks for a look at the names of the generation in force.
func (n *names) poke() {
	select {
	case n.poked <- struct{}{}:
	default: // one is enough
	}
}

// run looks names up when it is time, until ctx ends.
func (n *names) run(ctx context.Context) {
	for ctx.Err() == nil {
		next := n.look(ctx)
		var due <-chan time.Time
		if !next.IsZero() {
			timer := time.NewTimer(max(time.Until(next), lookPause))
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-ctx.Done():
		case <-due:
		case <-n.poked:
		case <-n.Wakes():
		}
	}
}

// lookPause is the shortest pause between two looks that no one asks for.
const lookPause = time.Second

// look looks up what is due, and has zones worked on about which something else is known
// now.
func (n *names) look(ctx context.Context) (next time.Time) {
	g := n.c.control.Current()
	if g == nil {
		return time.Time{}
	}
	before := n.verdicts(g.State)
	next = n.Look(ctx, g.State)
	if ctx.Err() != nil {
		return next
	}
	g = n.rename(ctx, g)
	var due []edge.Scope
	for id, verdict := range n.verdicts(g.State) {
		if last, known := before[id]; desired.Sought(id.ID) && !n.c.outcomes.knows(id) || known && last != verdict {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, edge.Scope.Compare)
	n.c.lanes.set(g, itemsOf(due, urgency(len(due), false), "its name was looked up")...)
	return next
}

// verdicts are what is against each zone of a state that has a name.
func (n *names) verdicts(state desired.State) map[edge.Scope]string {
	verdicts := map[edge.Scope]string{}
	for _, a := range state.Accounts {
		for _, z := range a.Zones {
			if z.Name == "" && a.Name == "" {
				continue
			}
			verdicts[z.Scope] = ""
			if err := n.Check(a, z); err != nil {
				verdicts[z.Scope] = err.Error()
			}
		}
	}
	return verdicts
}

// rename brings ids into force that were found since, and returns what is in force then.
func (n *names) rename(ctx context.Context, g *control.Generation) *control.Generation {
	n.c.publishing.Lock()
	defer n.c.publishing.Unlock()
	if n.c.control.Current() != g {
		n.poke()
		return n.c.control.Current()
	}
	state := n.Resolve(g.State)
	if directory.SameIDs(g.State, state) {
		return g
	}
	d, err := n.c.control.Rename(ctx, g, state)
	if n.c.reports.state(ctx, "names", err); err != nil || d.Accepted == nil {
		return g
	}
	n.c.reports.renamed(d.Accepted, d.Renamed)
	n.c.accept(d)
	n.c.Log.InfoContext(ctx, "zones were found by their names", "zones", len(d.Renamed))
	return d.Accepted
}

// withID are those of some zones whose id is known. The others are put into the queue when
// their names were looked up.
func withID(ids []edge.Scope) []edge.Scope {
	return slices.DeleteFunc(slices.Clone(ids), func(id edge.Scope) bool { return desired.Sought(id.ID) })
}
