package main

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// scenario is one row of the table: a fault, and what is to be read while it
// is on. Zero fields take what is said beside them.
type scenario struct {
	name  string // for -only
	fault string // for the table

	shape shape
	begin func(context.Context, *fixture) error // the fault begins; nil: nothing happens
	end   func(context.Context, *fixture) error // the fault ends; nil: it ends by itself, or never

	drift    drifts
	pushes   pushes
	tooMany  func(*fixture) int // writes without a reason; nil: unreasonedWrites
	allowed  int                // so many of them are no miss
	hold     time.Duration      // the fault lasts this long at least
	patience time.Duration      // for what should happen while it is on; 45 s
	recovery time.Duration      // how long it may take to recover once it is over; 90 s

	alone bool   // it takes so much of the machine that nothing else is measured beside it
	slow  string // why it recovers so late that only -long waits for it
}

// drifts says where drift is planted, which has nothing to do with the fault.
type drifts struct {
	none   bool          // nothing can heal while the fault is on
	first  zone          // in the zones from here; those behind the ones for pushes
	last   zone          // to here; the last of all
	count  int           // so many while the fault is on; 40
	every  time.Duration // one in so much time; 500 ms
	settle time.Duration // how long the fault is on before the first; 2 s
}

// pushes says whether commits are pushed while the fault is on.
type pushes int

const (
	pushesCount pushes = iota // and held to the aim
	pushesShow                // without an aim: the fault is git's own
	pushesNone                // they cannot arrive
)

// undisturbed is how often things are measured before the fault.
const (
	undisturbedDrifts = 16
	undisturbedEvery  = 250 * time.Millisecond
	pushCount         = 3
)

func (s scenario) complete(quick bool) scenario {
	s.shape = s.shape.complete()
	s.drift.first = cmp.Or(s.drift.first, pushed+pushZones)
	s.drift.last = cmp.Or(s.drift.last, zone(s.shape.zones))
	s.drift.count = cmp.Or(s.drift.count, 40)
	s.drift.every = cmp.Or(s.drift.every, 500*time.Millisecond)
	s.drift.settle = cmp.Or(s.drift.settle, 2*time.Second)
	s.patience = cmp.Or(s.patience, 45*time.Second)
	s.recovery = cmp.Or(s.recovery, 90*time.Second)
	if s.tooMany == nil {
		s.tooMany = unreasonedWrites
	}
	if quick {
		s.drift.count = (s.drift.count + 1) / 2
	}
	return s
}

// scenarios are the rows of the table, in its order.
func scenarios() []scenario {
	return slices.Concat(gitScenarios(), storeScenarios(), commitScenarios(), zoneScenarios(), platformScenarios(), quirkScenarios(), processScenarios())
}

// unreasonedWrites counts the writes to each zone beyond one for each drift and
// each commit that changed it, and one more for each that was not answered well.
func unreasonedWrites(f *fixture) int {
	left := f.fleet.reasonsToWrite()
	tooMany := 0
	for _, w := range f.platform.writes() {
		switch {
		case !w.ok:
		case left[w.zone] > 0:
			left[w.zone]--
		default:
			tooMany++
		}
	}
	return tooMany
}
