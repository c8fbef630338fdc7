package reconcile

import (
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// Wave is one step in which a commit reaches the fleet. Zones that no wave takes
// are the last step.
type Wave struct {
	Labels guard.Labels // none: any zone that no wave before it has taken
	// At most one of Count and Percent is set: how many zones it takes, or which
	// share of those that the commit changed and that were proved before, of which it
	// takes one at least. Without either it takes all of its labels.
	Count   int
	Percent int
	Soak    time.Duration // how long to wait behind it
	Halt    Halt
}

// Halt says what stops a rollout.
type Halt struct {
	NonConvergent int // so many zones that did not keep a change; 0: however many
	FailedPercent int // more than this share of the zones of the wave failed or could not be read
}

// Rollout is the record of a commit on its way through the waves. The zero value
// is none.
type Rollout struct {
	Commit string
	Zones  map[edge.Scope]RolloutZone // those that the commit changed; none once it is through
	Wave   int                        // the wave that is open, from 1
	Since  time.Time                  // when the open wave was done; zero before
	Halted string                     // why nothing goes on; empty where it does
}

// RolloutZone is the wave of a zone, from 1, and what became of it.
type RolloutZone struct {
	Wave    int
	Outcome ZoneOutcome
}

// ZoneOutcome is what became of a zone in a rollout.
type ZoneOutcome string

// The outcomes of zones. A zone with one of them is done, in one way or another.
const (
	ZonePending       ZoneOutcome = ""              // not written yet
	ZoneDone          ZoneOutcome = "done"          // as declared
	ZoneSkipped       ZoneOutcome = "skipped"       // needs a person, and the others do not wait for that
	ZoneFailed        ZoneOutcome = "failed"        // could not be read or written
	ZoneNonConvergent ZoneOutcome = "nonconvergent" // did not keep what was written
	ZoneAccepted      ZoneOutcome = "accepted"      // one of the two before it, and a person has said to go on
)

// Resumed is a rollout that a person lets go on: what had gone wrong is accepted.
func (o Rollout) Resumed() Rollout {
	o.Halted = ""
	o.Zones = maps.Clone(o.Zones)
	for id, z := range o.Zones {
		if z.Outcome == ZoneFailed || z.Outcome == ZoneNonConvergent {
			z.Outcome = ZoneAccepted
			o.Zones[id] = z
		}
	}
	return o
}

// Without is a rollout that zones have left. It is over, halted or not, where none is left
// that waits.
func (o Rollout) Without(zones []edge.Scope) Rollout {
	o.Zones = maps.Clone(o.Zones)
	for _, id := range zones {
		delete(o.Zones, id)
	}
	for _, z := range o.Zones {
		if z.Outcome == ZonePending || z.Outcome == ZoneFailed {
			return o
		}
	}
	return Rollout{Commit: o.Commit}
}

// TakesPlaceOf is [ErrSuperseded] where a rollout would let go on what was halted since it was made: it
// knows of no halt, and has zones.
func (o Rollout) TakesPlaceOf(have Rollout) error {
	if have.Halted == "" || o.Halted != "" || len(o.Zones) == 0 {
		return nil
	}
	return fmt.Errorf("the waves of the commit before have been halted since (%s): %w", have.Halted, ErrSuperseded)
}

// Equal reports whether two records say the same.
func (o Rollout) Equal(other Rollout) bool {
	return o.Commit == other.Commit && o.Wave == other.Wave && o.Since.Equal(other.Since) && o.Halted == other.Halted &&
		len(o.Zones) == len(other.Zones) && (len(o.Zones) == 0 || reflect.DeepEqual(o.Zones, other.Zones))
}
