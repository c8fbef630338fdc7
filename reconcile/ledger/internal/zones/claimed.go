package zones

import (
	"sync"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// claims are the zones that this process writes to, so that no other does at the same time.
// One ends with the result of its write, with the process, or after claimedFor.
type claims struct {
	mu   sync.Mutex
	sign sign                 // nil: nothing was claimed yet
	mine map[edge.Scope]int64 // by the place that the claim names
}

// signed returns the sign of this process, and makes it before the first claim.
func (z *Zones) signed() (_ sign, err error) {
	c := &z.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sign != nil {
		return c.sign, nil
	}
	if db := z.file.Database(); db != nil {
		c.sign = newRowSign(db, c.any)
	} else {
		c.sign, err = newFileSign(store.ClaimsPath(z.file.Path), z.file.Time)
	}
	return c.sign, err
}

// CloseClaims has the claims of this process count no more.
func (z *Zones) CloseClaims() error {
	z.claims.mu.Lock()
	sign := z.claims.sign
	z.claims.sign, z.claims.mine = nil, nil
	z.claims.mu.Unlock()
	if sign == nil {
		return nil
	}
	return sign.close()
}

// ended notes that the results of writes are on record.
func (c *claims) ended(entries []reconcile.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if e.Result != nil {
			delete(c.mine, e.Subject.Scope)
		}
	}
}

// has returns the place by which this process has claimed a zone; false where it has not.
func (c *claims) has(id edge.Scope) (place int64, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, mine = c.mine[id]
	return place, mine
}

// any reports whether any zone is claimed.
func (c *claims) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.mine) > 0
}

// note notes by which place a zone is claimed; 0: not any more.
func (c *claims) note(id edge.Scope, place int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place == 0 {
		delete(c.mine, id)
		return
	}
	if c.mine == nil {
		c.mine = map[edge.Scope]int64{}
	}
	c.mine[id] = place
}
