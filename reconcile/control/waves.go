package control

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// factsOf tells guards how far a rollout is at a time, without its zones; nil where there is
// none.
func factsOf(o reconcile.Rollout, waves []reconcile.Wave, now time.Time) *guard.Rollout {
	return factsAt(o, waves, now, func() int { return after(o, o.Wave) })
}

func factsAt(o reconcile.Rollout, waves []reconcile.Wave, now time.Time, following func() int) *guard.Rollout {
	if len(waves) == 0 || len(o.Zones) == 0 {
		return nil
	}
	f := &guard.Rollout{Wave: map[edge.Scope]int{}, Waves: len(waves) + 1, Halted: o.Halted}
	f.Open, f.Next = openAt(o, waves, now, following)
	return f
}

// open is up to which wave zones may be written at a time, and when the next wave may
// start; zero where that depends on what becomes of an open wave.
func open(o reconcile.Rollout, waves []reconcile.Wave, now time.Time) (wave int, next time.Time) {
	return openAt(o, waves, now, func() int { return after(o, o.Wave) })
}

// openAt is open, with the wave that follows the open one.
func openAt(o reconcile.Rollout, waves []reconcile.Wave, now time.Time, next func() int) (wave int, at time.Time) {
	if o.Since.IsZero() || o.Halted != "" {
		return o.Wave, time.Time{}
	}
	following := next()
	if starts := o.Since.Add(soakOf(waves, o.Wave)); now.Before(starts) {
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

func soakOf(waves []reconcile.Wave, wave int) time.Duration {
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
