package lease

import (
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

const (
	// lasts is for how long a lease is got or renewed.
	lasts = 12 * time.Second
	// rest is how much longer it is nobody's where it was not given up: a request that was cut with
	// it may still be at work in a server.
	rest = 2 * time.Second
)

// Row is a lease as it is on record, by the clock of the database.
type Row struct {
	Name      reconcile.LeaseName
	Replica   string    // has it, or has had it last; empty: nobody yet
	Epoch     int64     // one more with each that gets it
	Since     time.Time // got
	ExpiresAt time.Time // or given up
	GivenUp   bool
	Free      bool   // for anyone to take, when the row was read
	MovesTo   string // who is to get it next; empty: nobody

	live bool // the replica runs
}

// free is since when a lease is for anyone to take, and whether it is.
func (r Row) free(now time.Time) (since time.Time, ok bool) {
	if r.GivenUp {
		return r.ExpiresAt, true
	}
	since = r.ExpiresAt.Add(rest)
	return since, !now.Before(since)
}

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
