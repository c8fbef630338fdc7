package controller

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// ZonePage says what is known of a declared zone, without its history. The error is
// [inspect.ErrNoZone] where it is not declared.
func (c *Controller) ZonePage(id edge.Scope) (inspect.ZonePage, error) { return c.view().zonePage(id) }

func (v view) zonePage(id edge.Scope) (inspect.ZonePage, error) {
	r, declared := v.fleet.of(id)
	if v.g == nil || !declared {
		return inspect.ZonePage{}, &inspect.NoZoneError{Zone: id.String()}
	}
	t, declared := v.control.Task(v.g, id)
	if !declared {
		return inspect.ZonePage{}, &inspect.NoZoneError{Zone: id.String()}
	}
	return inspect.ZonePage{
		Zone: v.zone(t.Account(), t.Zone()), Labels: t.Zone().Labels, LabelsProved: r.proof.Labels, May: r.may(),
		Live: v.live(t), History: []reconcile.Entry{}, Waiting: v.waiting(t),
	}, nil
}

// waiting are the changes of a zone that a person may approve, by the digests that stand for
// them: as they would be found, and held back, if the zone was planned now.
func (v view) waiting(t zone.Task) []inspect.WaitingChange {
	all := []inspect.WaitingChange{}
	plan, seen := v.seen.plan(t)
	if !seen {
		return all
	}
	plan, counted := v.control.Check(v.g, t.Zone().Scope, plan)
	if !counted {
		return all
	}
	for _, l := range plan.Leaving {
		all = append(all, inspect.WaitingChange{
			Digest: l.Digest, Zone: t.Zone().Key, Scope: desired.KnownScope(t.Zone().Scope), Guard: diff.GuardApproval, Reason: bounded(l.Text()),
			What: []string{bounded(l.String())}, Fields: []inspect.Field{}, Way: diff.Weakens,
		})
	}
	for _, c := range plan.Changes {
		if c.Refused == nil || c.Refused.Digest == "" {
			continue
		}
		i := slices.IndexFunc(all, func(w inspect.WaitingChange) bool { return w.Digest == c.Refused.Digest })
		if i < 0 {
			i = len(all)
			all = append(all, inspect.WaitingChange{
				Digest: c.Refused.Digest, Zone: t.Zone().Key, Scope: desired.KnownScope(t.Zone().Scope), Guard: c.Refused.Guard,
				Reason: bounded(c.Refused.Reason), Fields: []inspect.Field{}, Way: c.Direction,
			})
		}
		w := &all[i]
		w.What = append(w.What, string(c.Action())+" "+c.Called())
		w.Fields = append(w.Fields, fieldsOf(c)...)
		w.Way = diff.Combine(w.Way, c.Direction)
	}
	return all
}
