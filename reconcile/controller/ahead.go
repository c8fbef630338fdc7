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

// lookedAt says when the earlier phases of a zone and of its account were looked at last, but for
// those that could not be looked at since.
func lookedAt(sight zone.Sight) (list []inspect.LookedAt) {
	for at, seen := range sight.Ahead {
		if seen.Err == nil && seen.Since == nil {
			list = append(list, inspect.LookedAt{Level: at.Scope.Level, Phase: at.Phase, At: seen.At})
		}
	}
	slices.SortFunc(list, func(a, b inspect.LookedAt) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Phase, b.Phase))
	})
	return list
}
