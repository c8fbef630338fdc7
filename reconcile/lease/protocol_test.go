package lease

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// take gives a free lease to a replica.
func (r Row) take(now time.Time, replica string) (Row, bool) {
	if _, free := r.free(now); !free {
		return r, false
	}
	r.Replica, r.Epoch, r.Since, r.ExpiresAt, r.GivenUp = replica, r.Epoch+1, now, now.Add(lasts), false
	return r, true
}

func (r Row) isOf(replica string, epoch int64) bool {
	return r.Replica == replica && r.Epoch == epoch && !r.GivenUp
}

// renew has a lease last on. One that is over and that nobody has taken is renewed, too.
func (r Row) renew(now time.Time, replica string, epoch int64) (Row, bool) {
	if !r.isOf(replica, epoch) {
		return r, false
	}
	r.ExpiresAt = now.Add(lasts)
	return r, true
}

// giveUp sets a lease free at once. The epoch stays.
func (r Row) giveUp(now time.Time, replica string, epoch int64) (Row, bool) {
	if !r.isOf(replica, epoch) {
		return r, false
	}
	r.ExpiresAt, r.GivenUp = now, true
	return r, true
}

// move is the one move of a lease to a replica.
type move struct {
	lease   reconcile.LeaseName
	epoch   int64
	replica string
	until   time.Time
}

// begin takes the place of a move that is over.
func (m move) begin(now time.Time, lease Row, replica string, rows []Row) (move, bool) {
	goesOn := slices.ContainsFunc(rows, func(r Row) bool { return r.Name == m.lease && r.Epoch == m.epoch })
	if goesOn && now.Before(m.until) {
		return m, false
	}
	return move{lease.Name, lease.Epoch, replica, now.Add(moveWithin)}, true
}
