package controller

import (
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/outage"
)

// Part is how the zones of one credential are, and what fails of it.
type Part struct {
	Zones   inspect.Zones // without those that stand out
	Outages []reconcile.Outage
}

// PartOf is how the zones are that this process works on by a lease: of several processes only the
// one that has it knows. It is false where that is another one, and until what this process has known
// at an earlier time is forgotten.
func (c *Controller) PartOf(lease reconcile.Lease) (Part, bool) {
	of := c.lanes.under(lease)
	if of == nil {
		return Part{}, false
	}
	part := Part{Zones: inspect.Zones{Observed: of.lastProgress(c.outcomes.began)}}
	v := c.view()
	rows := v.fleet.rlock()
	part.Zones.Declared, part.Zones.Outcomes = byOutcome(v.count(rows, func(one *lane) bool { return one == of }))
	v.fleet.mu.RUnlock()
	for _, o := range of.outages.Outages() {
		if outage.OfZones(o) {
			part.Outages = append(part.Outages, o)
		}
	}
	return part, true
}

// NeedPersonOf is NeedPerson for the zones of [Controller.PartOf].
func (c *Controller) NeedPersonOf(lease reconcile.Lease, labels map[string]string) []inspect.Group {
	of := c.lanes.under(lease)
	if of == nil {
		return nil
	}
	return c.view().needPerson(labels, func(r *row) bool { return c.lanes.account(r.account.Key) == of })
}

// Works reports whether this process works on the zones of a lease.
func (c *Controller) Works(lease reconcile.Lease) bool { return c.lanes.under(lease) != nil }

// Proved says of each lease on zones in how many of them the commit in force is proved, by the last proof
// of each: of the zones of other processes that is all that is known here. It takes the leases of one
// status.
func (c *Controller) Proved(leases []inspect.Lease, proofs map[edge.Scope]string) {
	g := c.control.Current()
	if g == nil {
		return
	}
	proved := map[string]int{}
	for id := range g.Zones() {
		if of := c.lanes.at(g, id); of != nil && g.Proves(id, proofs[id]) {
			proved[string(of.lease)]++
		}
	}
	for i := range leases {
		if leases[i].Zones > 0 {
			leases[i].Proved = new(proved[leases[i].Name])
		}
	}
}

// HasTokens reports whether this process works on tokens by a lease, and knows nothing of them that
// is of an earlier time.
func (c *Controller) HasTokens(lease reconcile.Lease) bool {
	return c.leaseLoop.epoch.Load() == lease.Epoch
}

// under is the lane on which this process works by a lease; nil where there is none.
func (l *lanes) under(lease reconcile.Lease) *lane {
	i := slices.IndexFunc(l.all, func(one *lane) bool {
		held := one.held.Load()
		return one.lease == lease.Name && held != nil && held.Epoch == lease.Epoch
	})
	if i < 0 {
		return nil
	}
	return l.all[i]
}

// count counts the zones of some lanes by their outcomes.
func (v view) count(rows *rows, in func(*lane) bool) (counts outcomeCounts) {
	if !slices.ContainsFunc(v.lanes.all, func(one *lane) bool { return !in(one) }) {
		return rows.counts
	}
	for i := range rows.all {
		if of := v.lanes.account(rows.all[i].account.Key); of != nil && in(of) {
			counts[rows.all[i].outcome]++
		}
	}
	return counts
}
