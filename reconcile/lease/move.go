package lease

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

const (
	// leave is for how long a free lease is left to those who have less than their share.
	leave = 2 * time.Second
	// moveWithin is how long a move may take before another may begin: more than what is in flight
	// may take until it is cut.
	moveWithin = time.Minute
)

// view is what a look has shown of the leases that a replica knows.
type view struct {
	now    time.Time // of the database
	live   int       // replicas that run, and this one
	rows   []Row     // that this replica may have
	moving bool      // any lease is
}

// view is what a look shows of some leases.
func (l Look) view(names []reconcile.LeaseName) view {
	v := view{now: l.At}
	for _, r := range l.Leases {
		v.moving = v.moving || r.MovesTo != ""
		if slices.Contains(names, r.Name) {
			v.rows = append(v.rows, r)
		}
	}
	for _, r := range l.Replicas {
		if r.Live {
			v.live++
		}
	}
	return v
}

// count is how many leases each replica has. Whatever they are for, they count as one each.
func (v view) count() map[string]int {
	count := map[string]int{}
	for _, r := range v.rows {
		if r.Live && !r.Free {
			count[r.Replica]++
		}
	}
	return count
}

// takes reports whether a replica takes a lease now; mine is how many it has.
func (v view) takes(r Row, replica string, mine int) bool {
	since, free := r.free(v.now)
	share := (len(v.rows) + v.live - 1) / max(1, v.live)
	left := v.now.Sub(since) < leave && r.MovesTo != replica && (r.MovesTo != "" || mine >= share)
	return free && !left
}

// toAsk is the lease that a replica asks another for: one of those of the replica that has the most,
// and the one it has had for the shortest time.
func (v view) toAsk(replica string) (ask Row, ok bool) {
	count, most := v.count(), 0
	for _, r := range v.rows {
		if v.moving || r.Free {
			return Row{}, false
		}
		has := count[r.Replica]
		if !r.Live || has < count[replica]+2 || has < most || has == most && !r.Since.After(ask.Since) {
			continue
		}
		ask, most, ok = r, has, true
	}
	return ask, ok
}
