package controller

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// NeedPerson returns the declared zones with these labels that need a person, by what they
// need one for. A zone has the labels that it is declared with, and those with which it was
// proved last: the author of a commit must not be able to take it from who is told of it. It
// costs a look at each zone that is not as declared.
func (c *Controller) NeedPerson(labels map[string]string) []inspect.Group {
	return c.view().needPerson(labels, func(*row) bool { return true })
}

// needPerson is that for the zones of some rows.
func (v view) needPerson(labels guard.Labels, of func(*row) bool) []inspect.Group {
	type reason struct {
		outcome inspect.Outcome
		by      string
	}
	groups := map[reason]*inspect.Group{}
	rows := v.fleet.rlock()
	defer v.fleet.mu.RUnlock()
	for r := range rows.notables() {
		outcome := r.as()
		d, decided := r.last.notable.worst(outcome)
		if !decided || !of(r) || !outcome.NeedsPerson() || !labels.Selects(r.labels) && !labels.Selects(r.proof.Labels) {
			continue
		}
		key := reason{outcome, cmp.Or(string(d.Guard), string(d.Stage))}
		g := groups[key]
		if g == nil {
			g = &inspect.Group{Outcome: outcome, By: key.by, Reason: d.Reason, Since: d.Since}
			groups[key] = g
		}
		if g.Count++; len(g.First) < inspect.MostNamed {
			g.First = append(g.First, r.zone.Key)
		}
		if d.Since.Before(g.Since) {
			g.Since = d.Since
		}
	}
	all := make([]inspect.Group, 0, len(groups))
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b inspect.Group) int {
		return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.By, b.By))
	})
	return all
}
