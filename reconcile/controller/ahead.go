package controller

import (
	"github.com/seawall-dev/seawall/diff"
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
