package controller

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// NeedPerson returns the declared zones with these labels that need a person, by what they
// need one for. It costs a look at each zone in memory.
func (c *Controller) NeedPerson(labels map[string]string) []inspect.Group {
	return c.view().needPerson(labels)
}

func (v view) needPerson(labels guard.Labels) []inspect.Group {
	type reason struct {
		outcome inspect.Outcome
		by      string
	}
	groups := map[reason]*inspect.Group{}
	if v.g == nil {
		return nil
	}
	notable := v.outcomes.notable()
	if len(notable) == 0 {
		return nil
	}
	for _, z := range v.g.State.EachZone() {
		last, ok := notable[z.Scope]
		if !ok || !labels.Selects(z.Labels) {
			continue
		}
		outcome := v.outcome(z.Scope, last, true)
		if !outcome.NeedsPerson() {
			continue
		}
		i := slices.IndexFunc(last.notable.decisions, func(d inspect.Decision) bool { return d.Outcome == outcome })
		if i < 0 {
			continue
		}
		d := last.notable.decisions[i]
		key := reason{outcome, cmp.Or(string(d.Guard), string(d.Stage))}
		g := groups[key]
		if g == nil {
			g = &inspect.Group{Outcome: outcome, By: key.by, Reason: d.Reason, Since: d.Since}
			groups[key] = g
		}
		if g.Count++; len(g.First) < inspect.MostNamed {
			g.First = append(g.First, z.Key)
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
