package controller

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// notLookedAt says in which places nobody has looked for skip rules that may turn deployments
// off; see [diff.Unlooked].
func (v view) notLookedAt() []diff.NotLookedAt {
	if v.g == nil {
		return nil
	}
	return diff.Unlooked(v.g.State, v.seen.read, v.seen.ahead(v.g.State))
}

// NotLookedAt is that of all that is declared. It asks nothing, and costs a look at each zone in
// memory.
func (c *Controller) NotLookedAt() []diff.NotLookedAt { return c.view().notLookedAt() }

// skipRules adds the skip rules that act on the deployments of a zone, and where and when Seawall
// has looked for them.
func (v view) skipRules(z *inspect.Zone, t zone.Task, plan diff.Plan) {
	z.Bypasses = plan.Bypasses
	sight, known := v.seen.sight(t)
	if !known || len(t.Zone().Deployments) == 0 {
		return
	}
	z.NotLookedAt = sight.Live(t.Account().ID, t.Zone().Scope).NotLookedAt(t.State)
	for place, seen := range sight.Ahead {
		if seen.Failed() == nil && !seen.At.IsZero() {
			z.Looked = append(z.Looked, inspect.LookedAt{Level: place.Scope.Level, Phase: place.Phase, At: seen.At})
		}
	}
	slices.SortFunc(z.Looked, func(a, b inspect.LookedAt) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Phase, b.Phase))
	})
}
