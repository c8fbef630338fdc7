package reconcile

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Wave is one step in which a commit reaches the fleet. Zones that no wave takes
// are the last step.
type Wave struct {
	Labels diff.Labels // none: any zone that no wave before it has taken
	// At most one of Count and Percent is set: how many zones it takes, or which
	// share of those that the commit changed, of which it takes one at least. Without
	// either it takes all of its labels.
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
	Zones  map[edge.ZoneID]RolloutZone // those that the commit changed; none once it is through
	Wave   int                         // the wave that is open, from 1
	Since  time.Time                   // when the open wave was done; zero before
	Halted string                      // why nothing goes on; empty where it does
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

// assign deals zones, in their order, to waves: each to exactly one. The last is
// for what no wave takes.
func assign(waves []Wave, zones []desired.Zone) map[edge.ZoneID]RolloutZone {
	assigned := make(map[edge.ZoneID]RolloutZone, len(zones))
	for i, wave := range append(waves[:len(waves):len(waves)], Wave{}) {
		left := wave.size(len(zones))
		for _, zone := range zones {
			if _, taken := assigned[zone.ID]; taken || left == 0 || !wave.Labels.Selects(zone.Labels) {
				continue
			}
			assigned[zone.ID] = RolloutZone{Wave: i + 1}
			left--
		}
	}
	return assigned
}

func (w Wave) size(all int) int {
	switch {
	case w.Count > 0:
		return w.Count
	case w.Percent > 0:
		return max(1, (all*w.Percent+99)/100)
	}
	return all
}

// rollout returns the one that a state is in: the one on record, or a new one for
// a commit that is not on record yet. That is about the zones which the commit
// changed, and about those to which the one before it had not come.
func (r *Reconciler) rollout(ctx context.Context, memory Recollection, state desired.State) Rollout {
	have := memory.Rollout
	if len(r.Guards.Waves) == 0 || r.Control == nil || have.Commit == state.Commit {
		return have
	}
	var changed map[edge.ZoneID]bool // nil: all of them
	if base, err := r.lastGood(ctx); err == nil {
		changed = diff.ChangedZones(base, state)
	}
	var zones []desired.Zone
	for _, account := range state.Accounts {
		for _, zone := range account.Zones {
			if changed == nil || changed[zone.ID] || have.waits(zone.ID) {
				zones = append(zones, zone)
			}
		}
	}
	next := Rollout{Commit: state.Commit, Zones: assign(r.Guards.Waves, zones)}
	if len(zones) > 0 {
		next.Halted = have.Halted // a commit on top of it does not make it go on
	}
	next.Wave = next.after(0)
	return next
}

// begin puts a new rollout on record, before its commit is accepted: afterwards
// nothing would tell its zones from drift.
func (r *Reconciler) begin(ctx context.Context, next Rollout) error {
	if r.Control == nil || len(r.Guards.Waves) == 0 {
		return nil
	}
	err := r.Control.Roll(ctx, func(have Rollout) Rollout {
		if have.Commit == next.Commit {
			return have
		}
		if have.Halted == "" {
			next.Halted = "" // a person said so since
		}
		return next
	})
	if err != nil {
		return fmt.Errorf("recording the rollout: %w", err)
	}
	return nil
}

// waits reports whether a zone is part of it and not done.
func (o Rollout) waits(zone edge.ZoneID) bool {
	z, ok := o.Zones[zone]
	return ok && (z.Outcome == ZonePending || z.Outcome == ZoneFailed)
}

// after is the first wave behind one that has zones; 0 where there is none.
func (o Rollout) after(wave int) int {
	next := 0
	for _, z := range o.Zones {
		if z.Wave > wave && (next == 0 || z.Wave < next) {
			next = z.Wave
		}
	}
	return next
}

// facts tells guards how far it is at a time; nil where there is none.
func (o Rollout) facts(waves []Wave, now time.Time) *diff.Rollout {
	if len(waves) == 0 || len(o.Zones) == 0 {
		return nil
	}
	f := &diff.Rollout{Wave: map[edge.ZoneID]int{}, Waves: len(waves) + 1, Open: o.Wave, Halted: o.Halted}
	for id, z := range o.Zones {
		if o.waits(id) {
			f.Wave[id] = z.Wave
		}
	}
	if o.Since.IsZero() || o.Halted != "" {
		return f
	}
	next := o.after(o.Wave)
	if starts := o.Since.Add(soak(waves, o.Wave)); now.Before(starts) {
		f.Next, f.Open = starts, next-1
	} else {
		f.Open = next
	}
	return f
}

func soak(waves []Wave, wave int) time.Duration {
	if wave < 1 || wave > len(waves) {
		return 0
	}
	return waves[wave-1].Soak
}

// halt is that of a wave; what no wave takes is halted as the last one is.
func halt(waves []Wave, wave int) Halt { return waves[min(max(wave, 1), len(waves))-1].Halt }

// follow records what became of the zones of the waves that are open.
func (r *Reconciler) follow(ctx context.Context, commit string, scoped desired.State, report *Report) error {
	if r.Control == nil || report.Rollout == nil {
		return nil
	}
	seen := zoneOutcomes(scoped, report)
	err := r.Control.Roll(ctx, func(have Rollout) Rollout {
		if have.Commit != commit {
			return have
		}
		return have.noted(r.Guards.Waves, report.Rollout.Open, seen, r.Now())
	})
	if err != nil {
		return fmt.Errorf("recording how far the waves have come: %w", err)
	}
	return nil
}

// noted is the rollout after a run in which the waves up to open could be written.
func (o Rollout) noted(waves []Wave, open int, seen map[edge.ZoneID]ZoneOutcome, now time.Time) Rollout {
	if o.Halted == "" && o.after(o.Wave) == open {
		o.Wave, o.Since = open, time.Time{}
	}
	o.Zones = maps.Clone(o.Zones)
	for id, outcome := range seen {
		if z, ok := o.Zones[id]; ok && z.Wave <= o.Wave {
			o.Zones[id] = z.noted(outcome)
		}
	}
	if o.Halted != "" {
		return o
	}
	pending, why := o.judge(halt(waves, o.Wave))
	switch last := o.after(o.Wave) == 0; {
	case pending == 0 && last:
		return Rollout{Commit: o.Commit}
	case why != "":
		o.Halted = why
	case pending == 0 && o.Since.IsZero():
		o.Since = now
	}
	return o
}

// noted is a zone after what a run saw of it. What a person has accepted is only
// ever made good again.
func (z RolloutZone) noted(outcome ZoneOutcome) RolloutZone {
	if outcome == ZonePending || z.Outcome == ZoneAccepted && outcome != ZoneDone ||
		z.Outcome == ZoneNonConvergent && outcome == ZoneSkipped {
		return z
	}
	z.Outcome = outcome
	return z
}

// judge counts the zones up to the open wave that are pending, and says why the
// rollout must halt, if it must.
func (o Rollout) judge(h Halt) (pending int, why string) {
	zones, failed, unkept := 0, 0, 0
	for _, z := range o.Zones {
		if z.Wave <= o.Wave && z.Outcome == ZonePending {
			pending++
		}
		if z.Wave != o.Wave {
			continue
		}
		zones++
		switch z.Outcome {
		case ZoneFailed:
			failed++
		case ZoneNonConvergent:
			unkept++
		}
	}
	switch {
	case h.NonConvergent > 0 && unkept >= h.NonConvergent:
		return pending, fmt.Sprintf("%d of the %d zones of wave %d did not keep the change", unkept, zones, o.Wave)
	case failed*100 > h.FailedPercent*zones:
		return pending, fmt.Sprintf("%d of the %d zones of wave %d failed", failed, zones, o.Wave)
	}
	return pending, ""
}

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

// Equal reports whether two records say the same.
func (o Rollout) Equal(other Rollout) bool {
	return o.Commit == other.Commit && o.Wave == other.Wave && o.Since.Equal(other.Since) && o.Halted == other.Halted &&
		len(o.Zones) == len(other.Zones) && (len(o.Zones) == 0 || reflect.DeepEqual(o.Zones, other.Zones))
}
