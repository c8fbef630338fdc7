package reconcile

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

const turn = 108 * time.Minute

// turning is a wheel with what it should have done: each stop is looked at once
// in each round, in order, when its time has come, whatever steps time takes and
// however few may be looked at together.
type turning struct {
	wheel
	ring   ring
	begin  time.Time // of the wheel, as far as it is not delayed
	order  []int     // the stops of this round, as looked at
	rounds int
}

// law: a round comes to each stop once and in order, and to none before its time.
func TestWheelComesToEachStopOncePerRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "zones")
		w := turning{begin: time.Unix(1e9, 0)}
		w.ring = ringOf(n, rapid.SampledFrom([]uint64{1, 1 << 40, 1<<64 - 1}).Draw(t, "spread"))
		w.start = rapid.SampledFrom([]uint64{0, 1, 1 << 63, 1<<64 - 1}).Draw(t, "start")
		if n > 0 && rapid.Bool().Draw(t, "begins at a stop") {
			w.start = w.ring[rapid.IntRange(0, n-1).Draw(t, "stop")].phase
		}
		w.at = w.begin
		lag := 0.0 // turns that are lost to being behind by more than one
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step := time.Duration(rapid.Int64Range(0, int64(3*turn/2)).Draw(t, "time"))
			if rapid.Bool().Draw(t, "small") {
				step /= 1000
			}
			lag += max(0, w.behind+float64(step)/float64(turn)-1)
			w.turnTo(w.at.Add(step), turn)
			stops, all := w.due(w.ring, rapid.IntRange(1, 12).Draw(t, "at most"))
			gone := float64(w.at.Sub(w.begin))/float64(turn) - lag
			for _, s := range stops {
				if place := float64(w.rounds) + turns(s.phase-w.start); place > gone+1e-9 {
					t.Fatalf("stop at %v turns is looked at after %v", place, gone)
				}
				w.order = append(w.order, s.zone)
			}
			round := w.pass(stops, all)
			if round {
				w.rounds++
				w.wantRound(t)
			}
			if all && !round && w.wait(w.ring, turn) == 0 {
				t.Fatalf("nothing is due, and yet at once")
			}
			if at := float64(w.rounds) + 1 - w.left() + w.behind; at > gone+1e-6 || at < gone-1e-6 {
				t.Fatalf("it is at %v and should be at %v", at, gone)
			}
		}
	})
}

func (w *turning) wantRound(t *rapid.T) {
	want := slices.Clone(w.ring)
	slices.SortStableFunc(want, func(a, b stop) int {
		if a.phase-w.start < b.phase-w.start {
			return -1
		}
		return 1
	})
	for i, s := range want {
		if i >= len(w.order) || w.order[i] != s.zone {
			t.Fatalf("round %d: looked at %v, want %v", w.rounds, w.order, want)
		}
	}
	if len(w.order) != len(want) {
		t.Fatalf("round %d: looked at %v, want %v", w.rounds, w.order, want)
	}
	w.order = nil
}

// ringOf spreads stops over a part of the turn.
func ringOf(n int, within uint64) ring {
	r := make(ring, n)
	for i := range r {
		r[i] = stop{phase: uint64(i) * (within / uint64(max(n, 1)) &^ 1), zone: i} // the same place, too
		if within > uint64(n) {
			r[i].phase += uint64(i)
		}
	}
	return r
}

// Waiting as long as told is enough for the next stop to be due, and not much
// more.
func TestWheelTellsWhenTheNextStopIsDue(t *testing.T) {
	r := newRing([]desired.Account{{Zones: zones(100, core())}})
	w := wheel{start: 1 << 60, at: time.Unix(1e9, 0)}
	began := w.at
	for round, looked := 0, 0; round < 3; {
		wait := w.wait(r, turn)
		w.turnTo(w.at.Add(max(wait, 1)), turn)
		stops, all := w.due(r, 100)
		looked += len(stops)
		if w.pass(stops, all) {
			round++
			if took := w.at.Sub(began); looked != 100*round || took < time.Duration(round)*turn || took > time.Duration(round)*turn+time.Millisecond {
				t.Fatalf("after round %d, at %v: %d looks", round, took, looked)
			}
		} else if len(stops) == 0 && wait > time.Microsecond {
			t.Fatalf("nothing is due after %v", wait)
		}
	}
}

// Zones that come and go move no other.
func TestRingKeepsPlaces(t *testing.T) {
	phases := func(zones []desired.Zone) map[edge.ZoneID]uint64 {
		m := map[edge.ZoneID]uint64{}
		for _, s := range newRing([]desired.Account{{Zones: zones}}) {
			m[zones[s.zone].ID] = s.phase
		}
		return m
	}
	all := zones(1000, core())
	some, whole := phases(all[:500]), phases(all)
	for id, phase := range some {
		if whole[id] != phase {
			t.Fatalf("%s has moved", id)
		}
	}
	var quarters [4]int
	for _, phase := range whole {
		quarters[phase>>62]++
	}
	for i, n := range quarters {
		if n < 200 || n > 300 {
			t.Errorf("%d of 1000 zones are in quarter %d", n, i)
		}
	}
}
