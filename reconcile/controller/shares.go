package controller

import (
	"time"

	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

const (
	// keptForPushes is how many requests of the budget only small pushes and reverts may
	// take; of a small budget, a tenth.
	keptForPushes = 60
	// requestsPerZone is what a zone takes that differs: the look, the write, the proof.
	requestsPerZone = 3
	// askAgain is how long to wait before the budget is asked again.
	askAgain = 250 * time.Millisecond
)

// admit says whether a zone may be worked on now: the budget is asked before a worker
// is taken. Some of it is kept for pushes; and of the rest, from all but the sweep,
// what the sweep needs to hold its interval. What is not used flows to the others.
func (c *Controller) admit(p queue.Priority, atWork int) (bool, time.Duration) {
	if ok, wait := c.breaker.allow(time.Now()); !ok {
		return false, wait
	}
	if p == queue.Push {
		return true, 0 // what there is, it may take
	}
	keep := c.keptForPushes()
	if p != queue.Sweep {
		keep += c.keptForSweep()
	}
	if c.Room(keep+requestsPerZone*atWork) < requestsPerZone {
		return false, askAgain
	}
	return true, 0
}

func (c *Controller) keptForPushes() int {
	return min(keptForPushes, c.Budget.Requests/10)
}

// keptForSweep is what the sweep needs of each window: no more than half of what there
// is, however large the fleet.
func (c *Controller) keptForSweep() int {
	state, ok := c.control.InForce()
	turn := c.sweep.turn(time.Now())
	if !ok || turn <= 0 || c.Budget.Per <= 0 {
		return 0
	}
	need := float64(control.SweepRequests(state)) * float64(c.Budget.Per) / float64(turn)
	return min(int(need)+1, c.Budget.Requests/2)
}
