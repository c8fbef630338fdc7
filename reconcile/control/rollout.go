package control

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// rollout is how far the commit in force has come through the waves: what is on
// record, and what has become of zones since.
type rollout struct {
	have     reconcile.Rollout
	outcomes map[edge.Scope]reconcile.ZoneOutcome // not on record yet
	stale    bool                                 // have is not what was on record when it was read last
}

func newRollouts(have reconcile.Rollout) rollout {
	return rollout{have: have, outcomes: map[edge.Scope]reconcile.ZoneOutcome{}}
}

// factsOf tells guards how far a rollout is at a time, without its zones; nil where there is
// none.
func factsOf(o reconcile.Rollout, waves []reconcile.Wave, now time.Time) *guard.Rollout {
	if len(waves) == 0 || len(o.Zones) == 0 {
		return nil
	}
	f := &guard.Rollout{Wave: map[edge.Scope]int{}, Waves: len(waves) + 1, Halted: o.Halted}
	f.Open, f.Next = open(o, waves, now)
	return f
}

// of tells guards how far it is for one zone at a time; nil where the zone does not
// wait for it.
func (o *rollout) of(id edge.Scope, waves []reconcile.Wave, now time.Time) *guard.Rollout {
	if !waits(o.have, id) {
		return nil
	}
	f := factsOf(o.have, waves, now)
	if f == nil || !o.delays(id, waves, f.Open) {
		return nil
	}
	f.Wave[id] = o.have.Zones[id].Wave
	return f
}

// delays reports whether a zone has to wait while zones up to a wave may be written. One
// that was done, and of which that is not on record yet, does not: what differs in it
// is drift.
func (o *rollout) delays(id edge.Scope, waves []reconcile.Wave, open int) bool {
	if len(waves) == 0 || !waits(o.have, id) {
		return false
	}
	wave := o.have.Zones[id].Wave
	if wave <= o.have.Wave && o.outcomes[id] != reconcile.ZonePending && o.outcomes[id] != reconcile.ZoneFailed {
		return false
	}
	return o.have.Halted != "" || wave > open
}

// open is up to which wave zones may be written at a time, and when the next wave may
// start; zero where that depends on what becomes of an open wave.
func open(o reconcile.Rollout, waves []reconcile.Wave, now time.Time) (wave int, next time.Time) {
	if o.Since.IsZero() || o.Halted != "" {
		return o.Wave, time.Time{}
	}
	following := after(o, o.Wave)
	if starts := o.Since.Add(soak(waves, o.Wave)); now.Before(starts) {
		return following - 1, starts
	}
	return following, time.Time{}
}

// waits reports whether a zone is part of a rollout and not done.
func waits(o reconcile.Rollout, id edge.Scope) bool {
	z, ok := o.Zones[id]
	return ok && (z.Outcome == reconcile.ZonePending || z.Outcome == reconcile.ZoneFailed)
}

// after is the first wave behind one that has zones; 0 where there is none.
func after(o reconcile.Rollout, wave int) int {
	next := 0
	for _, z := range o.Zones {
		if z.Wave > wave && (next == 0 || z.Wave < next) {
			next = z.Wave
		}
	}
	return next
}

func soak(waves []reconcile.Wave, wave int) time.Duration {
	if wave < 1 || wave > len(waves) {
		return 0
	}
	return waves[wave-1].Soak
}

// newRollout deals the zones that a commit is still to change to waves. A zone that
// returns to what was proved there before is not among them: a revert does not wait.
// What is halted stays halted: a commit on top of it does not make it go on.
func newRollout(waves []reconcile.Wave, have reconcile.Rollout, commit string, zones []desired.Zone, before proved) reconcile.Rollout {
	next := reconcile.Rollout{Commit: commit, Zones: assign(waves, zones, before)}
	if len(zones) > 0 {
		next.Halted = have.Halted
	}
	next.Wave = after(next, 0)
	return next
}

// assign deals zones to waves: each to exactly one. The last is for what no wave takes, and
// for what an account deploys itself, which may run in the zones of every wave.
//
// Who writes a commit chooses keys, labels and how many zones it adds, and must not choose by
// them what is written first. So the order is that of ids, which the platform gives, a zone that was
// proved before must have had the labels of a wave then, too, and a share is one of such
// zones, where there are any.
func assign(waves []reconcile.Wave, zones []desired.Zone, before proved) map[edge.Scope]reconcile.RolloutZone {
	assigned := make(map[edge.Scope]reconcile.RolloutZone, len(zones))
	zones, known := byID(zones), 0
	for _, zone := range zones {
		if _, ok := before(zone.Scope); ok {
			known++
		}
	}
	if known == 0 {
		known = len(zones)
	}
	for i, wave := range append(waves[:len(waves):len(waves)], reconcile.Wave{}) {
		left := size(wave, len(zones), known)
		for _, zone := range zones {
			if _, taken := assigned[zone.Scope]; taken || left == 0 || zone.Scope.Level == edge.LevelAccount && i < len(waves) || !takes(wave, zone, before) {
				continue
			}
			assigned[zone.Scope] = reconcile.RolloutZone{Wave: i + 1}
			left--
		}
	}
	return assigned
}

// takes reports whether a zone has the labels of a wave, and had them when it was proved.
func takes(wave reconcile.Wave, zone desired.Zone, before proved) bool {
	labels, ok := before(zone.Scope)
	return wave.Labels.Selects(zone.Labels) && (!ok || wave.Labels.Selects(labels))
}

// byID are zones in the order of their ids; those whose id is not known come last.
func byID(zones []desired.Zone) []desired.Zone {
	return slices.SortedFunc(slices.Values(zones), func(a, b desired.Zone) int { return a.Scope.Compare(b.Scope) })
}

func size(w reconcile.Wave, all, known int) int {
	switch {
	case w.Count > 0:
		return w.Count
	case w.Percent > 0:
		return max(1, (known*w.Percent+99)/100)
	}
	return all
}

// recordOutcomes records what became of zones since, in one step, and returns the zones
// of waves that have opened by it. A person may have let the waves go on meanwhile.
func (c *Control) recordOutcomes(ctx context.Context) (opened []edge.Scope, err error) {
	waves, now := c.Guards.Waves, c.Now()
	c.mu.Lock()
	before, outcomes := c.state.rollout.have, maps.Clone(c.state.rollout.outcomes) // workers note more meanwhile
	c.mu.Unlock()
	if len(waves) == 0 || len(before.Zones) == 0 || len(outcomes) == 0 && !moves(before, waves, now) {
		return nil, nil
	}
	var next reconcile.Rollout
	err = c.Records.Roll(ctx, func(have reconcile.Rollout) reconcile.Rollout {
		next = have
		if have.Commit == before.Commit {
			upTo, _ := open(have, waves, now)
			next = Noted(have, waves, upTo, outcomes, now)
		}
		return next
	})
	if err != nil {
		return nil, fmt.Errorf("recording how far the waves have come: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.rollout.recorded(before, next, outcomes), nil
}

// readRollout takes the rollout on record in the place of the one that was known: a person
// has let it go on, or another process has come further.
func (c *Control) readRollout(ctx context.Context) error {
	return c.Records.Roll(ctx, func(have reconcile.Rollout) reconcile.Rollout {
		c.mu.Lock()
		defer c.mu.Unlock()
		have.Zones = maps.Clone(have.Zones)
		c.state.rollout.have = have
		return have
	})
}

// Rollout says how far the waves have come, nil where there are none on their way.
func (c *Control) Rollout() *guard.Rollout {
	c.mu.Lock()
	defer c.mu.Unlock()
	return factsOf(c.state.rollout.have, c.Guards.Waves, c.Now())
}

// recorded takes in a rollout that was put on record with outcomes, and returns the zones
// of waves that have opened by it.
func (o *rollout) recorded(before, next reconcile.Rollout, outcomes map[edge.Scope]reconcile.ZoneOutcome) (opened []edge.Scope) {
	if o.have.Commit != before.Commit {
		return nil // a newer commit has its own
	}
	o.have = next
	for id, outcome := range outcomes {
		if o.outcomes[id] == outcome {
			delete(o.outcomes, id)
		}
	}
	for id, z := range next.Zones {
		if z.Wave > before.Wave && z.Wave <= next.Wave && waits(next, id) {
			opened = append(opened, id)
		}
	}
	return opened
}

// note keeps what has become of a zone until it is recorded.
func (o *rollout) note(id edge.Scope, outcome reconcile.ZoneOutcome) {
	if waits(o.have, id) && outcome != reconcile.ZonePending {
		o.outcomes[id] = outcome
	}
}

// compare notes whether the rollout on record is another one than is known.
func (o *rollout) compare(standing reconcile.Standing) {
	o.stale = o.have.Commit != standing.RolloutCommit || o.have.Halted != standing.RolloutHalted || o.have.Wave != standing.RolloutWave
}

// moves reports whether a rollout goes on without anything having become of its zones: the
// time of a wave has come, or it is settled.
func moves(o reconcile.Rollout, waves []reconcile.Wave, now time.Time) bool {
	upTo, _ := open(o, waves, now)
	return o.Halted == "" && (upTo != o.Wave || settled(o))
}

// settled reports whether all zones of the open waves are done, and that is not on record
// yet: a person has accepted what had gone wrong.
func settled(o reconcile.Rollout) bool {
	if !o.Since.IsZero() {
		return false
	}
	pending, _ := judgeWave(o, reconcile.Halt{FailedPercent: 100})
	return pending == 0
}

// Noted is the rollout after outcomes, while the waves up to open may be written.
func Noted(o reconcile.Rollout, waves []reconcile.Wave, open int, seen map[edge.Scope]reconcile.ZoneOutcome, now time.Time) reconcile.Rollout {
	if o.Halted == "" && after(o, o.Wave) == open && open != 0 {
		o.Wave, o.Since = open, time.Time{}
	}
	o.Zones = maps.Clone(o.Zones)
	for id, outcome := range seen {
		if z, ok := o.Zones[id]; ok && z.Wave <= o.Wave {
			o.Zones[id] = notedZone(z, outcome)
		}
	}
	if o.Halted != "" {
		return o
	}
	pending, why := judgeWave(o, haltOf(waves, o.Wave))
	switch last := after(o, o.Wave) == 0; {
	case pending == 0 && last:
		return reconcile.Rollout{Commit: o.Commit}
	case why != "":
		o.Halted = why
	case pending == 0 && o.Since.IsZero():
		o.Since = now
	}
	return o
}

// notedZone is a zone after what was seen of it. What a person has accepted is only
// ever made good again.
func notedZone(z reconcile.RolloutZone, outcome reconcile.ZoneOutcome) reconcile.RolloutZone {
	if outcome == reconcile.ZonePending || z.Outcome == reconcile.ZoneAccepted && outcome != reconcile.ZoneDone ||
		z.Outcome == reconcile.ZoneNonConvergent && outcome == reconcile.ZoneSkipped {
		return z
	}
	z.Outcome = outcome
	return z
}

// haltOf is that of a wave; what no wave takes is halted as the last one is.
func haltOf(waves []reconcile.Wave, wave int) reconcile.Halt {
	return waves[min(max(wave, 1), len(waves))-1].Halt
}

// judgeWave counts the zones up to the open wave that are pending, and says why the
// rollout must halt, if it must.
func judgeWave(o reconcile.Rollout, h reconcile.Halt) (pending int, why string) {
	zones, failed, unkept := 0, 0, 0
	for _, z := range o.Zones {
		if z.Wave <= o.Wave && z.Outcome == reconcile.ZonePending {
			pending++
		}
		if z.Wave != o.Wave {
			continue
		}
		zones++
		switch z.Outcome {
		case reconcile.ZoneFailed:
			failed++
		case reconcile.ZoneNonConvergent:
			unkept++
		default: // nothing that halts
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
