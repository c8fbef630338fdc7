package reconcile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// ring holds the zones of a state in the order in which the sweep comes to them.
type ring []stop

// stop is the place of a zone on the wheel. It hangs on the id alone: zones that
// come and go move no other, and a fleet is spread evenly however it is named.
type stop struct {
	phase         uint64 // in parts of a turn, of which there are 2^64
	account, zone int    // where the zone is in the state
}

func newRing(accounts []desired.Account) ring {
	var r ring
	for i, account := range accounts {
		for j, zone := range account.Zones {
			r = append(r, stop{phaseOf(zone.ID), i, j})
		}
	}
	slices.SortFunc(r, func(a, b stop) int { return cmp.Compare(a.phase, b.phase) })
	return r
}

func phaseOf(id edge.ZoneID) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:])
}

// wheel is how far a sweep has come around, and how far it should have. It turns
// once in each interval; a round begins wherever the process began, and comes to
// each stop once.
type wheel struct {
	start  uint64    // the phase at which its rounds begin
	passed uint64    // how far this round has come: each stop before was looked at
	behind float64   // how far it should be beyond that, in turns; at most 1
	at     time.Time // by when
}

// turnTo lets time pass. A clock that was put back lets none pass.
func (w *wheel) turnTo(now time.Time, turn time.Duration) {
	if passed := now.Sub(w.at); turn > 0 && passed > 0 {
		w.behind = min(1, w.behind+float64(passed)/float64(turn))
	}
	w.at = now
}

// next returns the phase that was not looked at yet.
func (w *wheel) next() uint64 { return w.start + w.passed }

// since returns the time at which the wheel should have been where it is.
func (w *wheel) since(turn time.Duration) time.Time {
	return w.at.Add(-time.Duration(w.behind * float64(turn)))
}

// left is the rest of the round, in turns.
func (w *wheel) left() float64 {
	if w.passed == 0 {
		return 1
	}
	return turns(-w.passed)
}

// ahead ranges over the stops that are left in this round, in order, with how far
// off each is.
func (w *wheel) ahead(r ring, yield func(s stop, off uint64) bool) {
	next := w.next()
	first := sort.Search(len(r), func(i int) bool { return r[i].phase >= next })
	for i := range r {
		s := r[(first+i)%len(r)]
		if s.phase-w.start < w.passed || !yield(s, s.phase-next) {
			return
		}
	}
}

// rounding is what adding up parts of a turn may be wrong by: of two hours, less
// than a microsecond.
const rounding = 1e-10

// reach is how far from here it should be by now, in parts of a turn, and whether
// that is to the end of the round at least.
func (w *wheel) reach() (parts uint64, toEnd bool) {
	if w.behind >= w.left()-rounding {
		return 0, true
	}
	parts = uint64(math.Ldexp(w.behind, 64)) // behind is less than 1 here
	return parts, w.passed+parts < w.passed
}

// due returns the stops to be looked at by now, at most about n, and whether these
// are all.
func (w *wheel) due(r ring, n int) (stops []stop, all bool) {
	all = true
	reach, toEnd := w.reach()
	w.ahead(r, func(s stop, off uint64) bool {
		switch {
		case !toEnd && off >= reach:
			return false
		case len(stops) >= n && s.phase != stops[len(stops)-1].phase: // those in one place go together
			all = false
			return false
		}
		stops = append(stops, s)
		return true
	})
	return stops, all
}

// pass notes that what was due has been looked at, and reports whether the round
// is complete.
func (w *wheel) pass(stops []stop, all bool) (round bool) {
	reach, toEnd := w.reach()
	switch {
	case !all:
		reach = stops[len(stops)-1].phase - w.next() + 1 // another stop lies behind it: this is not the end
		w.passed += reach
		w.behind = max(0, w.behind-turns(reach))
	case toEnd:
		w.behind = max(0, w.behind-w.left())
		w.passed = 0
	default:
		w.passed, w.behind = w.passed+reach, 0
	}
	return all && toEnd
}

// wait returns how long until the next stop, or the end of the round, is due.
func (w *wheel) wait(r ring, turn time.Duration) time.Duration {
	off := w.left()
	w.ahead(r, func(_ stop, n uint64) bool {
		off = min(off, turns(n)+turns(1))
		return false
	})
	return max(0, time.Duration(math.Ceil((off-w.behind)*float64(turn))))
}

// turns is a number of parts of a turn.
func turns(parts uint64) float64 { return math.Ldexp(float64(parts), -64) }
