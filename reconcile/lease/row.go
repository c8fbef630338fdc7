package lease

import (
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

const (
	// Lasts is for how long a lease is got or renewed, and for how long a process counts as a replica that
	// runs after it has said so.
	Lasts = 12 * time.Second
	lasts = Lasts
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
	Live      bool   // the replica runs
}

// free is since when a lease is for anyone to take, and whether it is.
func (r Row) free(now time.Time) (since time.Time, ok bool) {
	if r.GivenUp {
		return r.ExpiresAt, true
	}
	since = r.ExpiresAt.Add(rest)
	return since, !now.Before(since)
}
