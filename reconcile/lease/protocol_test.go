package lease

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// rules are the protocol as functions over a row and a time: what the statements do. The zero value
// has all of them; each field takes one out.
type rules struct {
	noRest     bool // a lease that was not given up is free at its end
	noEpoch    bool // a lease is renewed and given up by its holder, whatever the epoch
	noFence    bool // a write does not compare the epoch
	fromAnswer bool // a lease counts from the answer
	clockStops bool // the clock of a process stops with it
	noQuiet    bool // a lease is given up though what was cut may be at work
}

// take gives a free lease to a replica.
func (p rules) take(r Row, now time.Time, replica string) (Row, bool) {
	since, free := r.free(now)
	if p.noRest {
		free = free || !now.Before(since.Add(-rest))
	}
	if !free {
		return r, false
	}
	r.Replica, r.Epoch, r.Since, r.ExpiresAt, r.GivenUp = replica, r.Epoch+1, now, now.Add(lasts), false
	return r, true
}

func (p rules) isOf(r Row, replica string, epoch int64) bool {
	return r.Replica == replica && (r.Epoch == epoch || p.noEpoch) && !r.GivenUp
}

// renew has a lease last on. One that is over and that nobody has taken is renewed, too.
func (p rules) renew(r Row, now time.Time, replica string, epoch int64) (Row, bool) {
	if !p.isOf(r, replica, epoch) {
		return r, false
	}
	r.ExpiresAt = now.Add(lasts)
	return r, true
}

// giveUp sets a lease free at once. The epoch stays.
func (p rules) giveUp(r Row, now time.Time, replica string, epoch int64) (Row, bool) {
	if !p.isOf(r, replica, epoch) {
		return r, false
	}
	r.ExpiresAt, r.GivenUp = now, true
	return r, true
}

// write puts something on record under an epoch.
func (p rules) write(r Row, epoch int64) bool { return r.Epoch == epoch || p.noFence }

// move is the one move of a lease to a replica.
type move struct {
	lease   reconcile.LeaseName
	epoch   int64
	replica string
	until   time.Time
}

// begin takes the place of a move that is over.
func (m move) begin(now time.Time, lease reconcile.LeaseName, epoch int64, replica string, rows []Row) (move, bool) {
	goesOn := slices.ContainsFunc(rows, func(r Row) bool { return r.Name == m.lease && r.Epoch == m.epoch })
	if goesOn && now.Before(m.until) {
		return m, false
	}
	return move{lease, epoch, replica, now.Add(moveWithin)}, true
}
