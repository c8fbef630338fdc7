package controller

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// admission says whether the platform and the budget of a credential allow another look at a zone. It is
// safe for concurrent use.
type admission struct {
	budget       diff.Budget
	room         func(c edge.Class, keep int) int
	sweep        *turns
	looking      reconcile.Looking
	shares       *shares
	breaker      *breaker
	first        *PushFirst
	waited       waited
	turnsWaiting atomic.Int64 // how many zones waited for their turn at the last tick
}

// waited counts for how long zones that were due were not admitted, because of the
// budget. The queue asks again each askAgain.
type waited struct {
	mu    sync.Mutex
	total time.Duration
	last  time.Time // when one was last not admitted
}

// refused notes that the budget has admitted no zone just now.
func (w *waited) refused(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if gap := now.Sub(w.last); !w.last.IsZero() && gap < 2*askAgain {
		w.total += gap
	}
	w.last = now
}

// sum is for how long in all.
func (w *waited) sum() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total
}

// use counts requests of a priority. Those of a push count for no class.
func (a *admission) use(p queue.Priority, requests int, now time.Time) {
	if p != queue.Push {
		a.shares.use(classOf(p), requests, now)
	}
}

// admit says whether a zone may be worked on now: the budget is asked before a worker
// is taken. A push may take what there is.
func (a *admission) admit(p queue.Priority, atWork int) (bool, time.Duration) {
	now := time.Now()
	if ok, wait := a.breaker.allow(now); !ok {
		return false, wait
	}
	if p == queue.Push {
		return true, 0
	}
	if p == queue.Sweep {
		if wait := a.first.waits(now); wait > 0 {
			return false, wait
		}
	}
	if !a.shares.may(classOf(p), a.sweepNeeds(now), now) || a.room(requestClass(p), a.shares.kept()+requestsPerZone*atWork) < requestsPerZone {
		a.waited.refused(now)
		return false, askAgain
	}
	return true, 0
}

// sweepNeeds is what the sweep takes of each window to hold its interval: a request for
// each zone that waits for its turn, and not for anything else, those for the earlier phases
// of such zones, and a quarter more for what it heals.
func (a *admission) sweepNeeds(now time.Time) int {
	turn := a.sweep.turn(now)
	if turn <= 0 || a.budget.Per <= 0 {
		return 0
	}
	each := 1.25 * (1 + float64(len(a.looking.Phases))*a.looking.PerSweep(turn))
	return int(each*float64(a.turnsWaiting.Load())*float64(a.budget.Per)/float64(turn)) + requestsPerZone
}
