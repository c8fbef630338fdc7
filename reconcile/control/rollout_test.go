package control

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
)

// The sequence of waves covers the zones of a commit exactly once, whatever the
// waves are; each wave has the labels and at most the size it should, and none
// leaves to a later one what it could have taken.
func TestWavesCoverEveryZoneOnce(t *testing.T) {
	tiers := []string{"canary", "free", "gold"}
	rapid.Check(t, func(t *rapid.T) {
		var fleet []desired.Zone
		for i := range rapid.IntRange(0, 30).Draw(t, "zones") {
			fleet = append(fleet, desired.Zone{Scope: mem.FleetZone(i), Labels: map[string]string{"tier": rapid.SampledFrom(tiers).Draw(t, "tier")}})
		}
		account := desired.Zone{Scope: edge.AccountScope(mem.Account)}
		var waves []reconcile.Wave
		for range rapid.IntRange(1, 4).Draw(t, "waves") {
			w := reconcile.Wave{Labels: rapid.SampledFrom([]guard.Labels{nil, {"tier": "canary"}, {"tier": "gold"}, {"tier": "none"}}).Draw(t, "labels")}
			switch rapid.IntRange(0, 2).Draw(t, "size") {
			case 1:
				w.Count = rapid.IntRange(1, 9).Draw(t, "count")
			case 2:
				w.Percent = rapid.IntRange(1, 100).Draw(t, "percent")
			}
			waves = append(waves, w)
		}
		got := assign(waves, fleet, none)
		if len(got) != len(fleet) {
			t.Fatalf("%d of %d zones", len(got), len(fleet))
		}
		if last := assign(waves, []desired.Zone{account}, none)[account.Scope].Wave; last != len(waves)+1 {
			t.Fatalf("what the account deploys itself is in wave %d", last)
		}
		members := map[int]int{}
		for _, z := range fleet {
			n := got[z.Scope].Wave
			members[n]++
			if n < 1 || n > len(waves)+1 || got[z.Scope].Outcome != reconcile.ZonePending {
				t.Fatalf("zone %s is %+v", z.Scope, got[z.Scope])
			}
			if n <= len(waves) && !waves[n-1].Labels.Selects(z.Labels) {
				t.Fatalf("zone %s with %v is in wave %d of %v", z.Scope, z.Labels, n, waves[n-1].Labels)
			}
		}
		for i, w := range waves {
			most := len(fleet)
			if w.Count > 0 {
				most = w.Count
			}
			if w.Percent > 0 {
				for most = 1; most*100 < w.Percent*len(fleet); most++ {
				}
			}
			if members[i+1] > most {
				t.Fatalf("wave %d has %d zones, at most %d", i+1, members[i+1], most)
			}
			for _, z := range fleet {
				if members[i+1] < most && got[z.Scope].Wave > i+1 && w.Labels.Selects(z.Labels) {
					t.Fatalf("wave %d has %d of %d zones and left out %s", i+1, members[i+1], most, z.Scope)
				}
			}
		}
	})
}

var careful = reconcile.Halt{NonConvergent: 1, FailedPercent: 5}

// Whatever becomes of its zones, a rollout that nobody halts ends, and each zone is
// written in its own wave or later.
func TestARolloutEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fleet []desired.Zone
		for i := range rapid.IntRange(1, 12).Draw(t, "zones") {
			fleet = append(fleet, desired.Zone{Scope: mem.FleetZone(i)})
		}
		waves := []reconcile.Wave{
			{Count: rapid.IntRange(1, 5).Draw(t, "count"), Soak: time.Hour, Halt: careful},
			{Labels: guard.Labels{"none": ""}},
			{Percent: 30, Soak: time.Minute, Halt: reconcile.Halt{FailedPercent: 60}},
		}
		o := newRollout(waves, reconcile.Rollout{}, "c", fleet, none)
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for step := 0; len(o.Zones) > 0; step++ {
			if step > 500 {
				t.Fatalf("it does not end: %+v", o)
			}
			f := RolloutFacts(o, waves, now)
			seen := map[edge.Scope]reconcile.ZoneOutcome{}
			for _, z := range fleet {
				if !f.Delays(z.Scope) && f.Wave[z.Scope] > 0 {
					seen[z.Scope] = rapid.SampledFrom(severity).Draw(t, "outcome")
				}
				if f.Delays(z.Scope) && f.Halted == "" && o.Zones[z.Scope].Wave <= o.Wave {
					t.Fatalf("zone %s of wave %d waits in wave %d", z.Scope, o.Zones[z.Scope].Wave, o.Wave)
				}
			}
			before := o
			o = Noted(o, waves, f.Open, seen, now)
			if o.Halted != "" {
				o = o.Resumed()
			}
			if o.Wave > before.Wave && (before.Since.IsZero() || now.Before(before.Since.Add(soakOf(waves, before.Wave)))) {
				t.Fatalf("wave %d began at %s, before wave %d had soaked since %s", o.Wave, now, before.Wave, before.Since)
			}
			now = now.Add(rapid.SampledFrom([]time.Duration{time.Second, 30 * time.Minute, time.Hour}).Draw(t, "later"))
		}
	})
}

// Outcomes say nothing of waves that were not open, and a halted rollout stays so
// whatever its zones do.
func TestNoted(t *testing.T) {
	const (
		pending, done, failed = reconcile.ZonePending, reconcile.ZoneDone, reconcile.ZoneFailed
		accepted, unkept      = reconcile.ZoneAccepted, reconcile.ZoneNonConvergent
		notKept               = "1 of the 1 zones of wave 1 did not keep the change"
	)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	earlier := now.Add(-time.Minute)
	type seen = map[edge.Scope]reconcile.ZoneOutcome
	// rollout has zone a in the first wave and zone b in the second.
	rollout := func(wave int, since time.Time, halted string, a, b reconcile.ZoneOutcome) reconcile.Rollout {
		return reconcile.Rollout{
			Commit: "c", Wave: wave, Since: since, Halted: halted,
			Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("a"): {Wave: 1, Outcome: a}, edge.ZoneScope("b"): {Wave: 2, Outcome: b}},
		}
	}
	for name, c := range map[string]struct {
		before, want reconcile.Rollout
		open         int
		seen         seen
	}{
		"a later wave": {
			rollout(1, time.Time{}, "", pending, pending), rollout(1, now, "", done, pending),
			1,
			seen{edge.ZoneScope("a"): done, edge.ZoneScope("b"): failed, edge.ZoneScope("elsewhere"): failed},
		},
		"the next wave opens": {
			rollout(1, earlier, "", done, pending), rollout(2, time.Time{}, "", done, pending),
			2,
			seen{},
		},
		"no wave is left to open": {
			rollout(2, time.Time{}, "", done, pending), rollout(2, time.Time{}, "", done, pending),
			0,
			seen{},
		},
		"through": {
			rollout(2, time.Time{}, "", done, pending),
			reconcile.Rollout{Commit: "c"},
			2,
			seen{edge.ZoneScope("b"): done},
		},
		"halted, and well by now": {
			rollout(2, time.Time{}, "why", done, failed), rollout(2, time.Time{}, "why", done, done),
			2,
			seen{edge.ZoneScope("b"): done},
		},
		"halted, and its soak is over": {
			rollout(1, earlier, "why", done, pending), rollout(1, earlier, "why", done, pending),
			2,
			seen{edge.ZoneScope("b"): done},
		},
		"soaking on": {
			rollout(1, earlier, "", done, pending), rollout(1, earlier, "", done, pending),
			1,
			seen{edge.ZoneScope("a"): done},
		},
		"halted while it soaks": {
			rollout(1, earlier, "", done, pending), rollout(1, earlier, notKept, unkept, pending),
			1,
			seen{edge.ZoneScope("a"): unkept},
		},
		"accepted, and failing on": {
			rollout(1, time.Time{}, "", accepted, pending), rollout(1, now, "", accepted, pending),
			1,
			seen{edge.ZoneScope("a"): failed},
		},
		"accepted, and well by now": {
			rollout(1, time.Time{}, "", accepted, pending), rollout(1, now, "", done, pending),
			1,
			seen{edge.ZoneScope("a"): done},
		},
		"not kept, and refused since": {
			rollout(1, time.Time{}, "", unkept, pending), rollout(1, time.Time{}, notKept, unkept, pending),
			1,
			seen{edge.ZoneScope("a"): reconcile.ZoneSkipped},
		},
		"not written": {
			rollout(1, earlier, "", done, pending), rollout(1, earlier, "", done, pending),
			1,
			seen{edge.ZoneScope("a"): pending},
		},
	} {
		waves := []reconcile.Wave{{Count: 1, Soak: time.Hour, Halt: careful}}
		if got := Noted(c.before, waves, c.open, c.seen, now); !got.Equal(c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// What halts a wave: a share of its zones that failed, or a number that did not keep
// the change. What no wave takes is halted as the last one is.
func TestHalts(t *testing.T) {
	halt := reconcile.Halt{NonConvergent: 2, FailedPercent: 50}
	for name, c := range map[string]struct {
		wave     int
		halt     reconcile.Halt
		outcomes []reconcile.ZoneOutcome
		why      string
	}{
		"half of them":           {1, halt, []reconcile.ZoneOutcome{reconcile.ZoneFailed, reconcile.ZoneDone}, ""},
		"more than half of them": {1, halt, []reconcile.ZoneOutcome{reconcile.ZoneFailed, reconcile.ZoneFailed, reconcile.ZoneDone}, "2 of the 3 zones of wave 1 failed"},
		"one not kept":           {1, halt, []reconcile.ZoneOutcome{reconcile.ZoneNonConvergent, reconcile.ZonePending}, ""},
		"two not kept":           {1, halt, []reconcile.ZoneOutcome{reconcile.ZoneNonConvergent, reconcile.ZoneNonConvergent}, "2 of the 2 zones of wave 1 did not keep the change"},
		"however many":           {1, reconcile.Halt{}, []reconcile.ZoneOutcome{reconcile.ZoneNonConvergent, reconcile.ZoneNonConvergent}, ""},
		"none may fail":          {1, reconcile.Halt{}, []reconcile.ZoneOutcome{reconcile.ZoneFailed, reconcile.ZonePending}, "1 of the 2 zones of wave 1 failed"},
		"behind the last":        {2, halt, []reconcile.ZoneOutcome{reconcile.ZoneFailed, reconcile.ZonePending}, ""},
		"and too many":           {2, halt, []reconcile.ZoneOutcome{reconcile.ZoneFailed}, "1 of the 1 zones of wave 2 failed"},
	} {
		o := reconcile.Rollout{Commit: "c", Wave: c.wave, Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("later"): {Wave: 3}}}
		for i, outcome := range c.outcomes {
			o.Zones[mem.FleetZone(i)] = reconcile.RolloutZone{Wave: c.wave, Outcome: outcome}
		}
		got := Noted(o, []reconcile.Wave{{Count: 1, Halt: c.halt}}, c.wave, nil, time.Time{})
		if got.Halted != c.why {
			t.Errorf("%s: halted %q, want %q", name, got.Halted, c.why)
		}
	}
}

// none: no zone was proved before.
func none(edge.Scope) (guard.Labels, bool) { return nil, false }

// Who writes a commit chooses keys, labels and how many zones are added, and by none of them
// which zones are written first.
func TestWavesGoByWhatNoCommitChooses(t *testing.T) {
	canary := guard.Labels{"tier": "canary"}
	fleet := func(n int, labels guard.Labels) (zones []desired.Zone) {
		for i := range n {
			zones = append(zones, desired.Zone{Key: string(rune('z' - i)), Scope: mem.FleetZone(i), Labels: labels})
		}
		return zones
	}
	with := func(labels guard.Labels, n int) proved {
		known := map[edge.Scope]bool{}
		for _, z := range fleet(n, nil) {
			known[z.Scope] = true
		}
		return func(id edge.Scope) (guard.Labels, bool) { return labels, known[id] }
	}
	for name, c := range map[string]struct {
		wave   reconcile.Wave
		zones  []desired.Zone
		before proved
		want   int // in wave 1
	}{
		"labels that the commit gives":          {reconcile.Wave{Labels: canary}, fleet(10, canary), with(nil, 10), 0},
		"labels that were proved":               {reconcile.Wave{Labels: canary}, fleet(10, canary), with(canary, 10), 10},
		"labels that the commit takes":          {reconcile.Wave{Labels: canary}, fleet(10, nil), with(canary, 10), 0},
		"new zones with labels":                 {reconcile.Wave{Labels: canary}, fleet(10, canary), with(nil, 4), 6},
		"a share of what was proved":            {reconcile.Wave{Percent: 50}, fleet(10, nil), with(nil, 10), 5},
		"a share that new zones do not inflate": {reconcile.Wave{Percent: 50}, fleet(26, nil), with(nil, 4), 2},
		"a share of a new fleet":                {reconcile.Wave{Percent: 50}, fleet(10, nil), none, 5},
		"one at least":                          {reconcile.Wave{Percent: 10}, fleet(10, nil), with(nil, 2), 1},
	} {
		got := 0
		for _, z := range assign([]reconcile.Wave{c.wave}, c.zones, c.before) {
			if z.Wave == 1 {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d zones are in wave 1, want %d", name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // whatever the keys and the order of declarations are
		shuffled := rapid.Permutation(fleet(9, nil)).Draw(t, "order")
		for i := range shuffled {
			shuffled[i].Key = rapid.SampledFrom([]string{"a", "m", "z"}).Draw(t, "key")
		}
		for id, z := range assign([]reconcile.Wave{{Count: 3}}, shuffled, none) {
			if first := id.Compare(mem.FleetZone(3)) < 0; first != (z.Wave == 1) {
				t.Fatalf("zone %s is in wave %d", id, z.Wave)
			}
		}
	})
}
