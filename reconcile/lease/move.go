package lease

import "time"

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

// count is how many leases each replica has. Whatever they are for, they count as one each.
func (v view) count() map[string]int {
	count := map[string]int{}
	for _, r := range v.rows {
		if r.live && !r.Free {
			count[r.Replica]++
		}
	}
	return count
}

// toTake are the free leases that a replica takes now.
func (v view) toTake(replica string) (take []Row) {
	mine, share := v.count()[replica], (len(v.rows)+v.live-1)/max(1, v.live)
	for _, r := range v.rows {
		since, free := r.free(v.now)
		mayWait := v.now.Sub(since) < leave && (mine >= share || r.MovesTo != "")
		if !free || mayWait && r.MovesTo != replica {
			continue
		}
		take, mine = append(take, r), mine+1
	}
	return take
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
		if !r.live || has < count[replica]+2 || has < most || has == most && !r.Since.After(ask.Since) {
			continue
		}
		ask, most, ok = r, has, true
	}
	return ask, ok
}
