package reconcile

import (
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff/guard"
)

// Freeze is a window that comes again and again, in which nothing may change.
type Freeze struct {
	Name   string
	Labels guard.Labels // none: every zone, and tokens too
	// Schedule says when windows begin, and For how long each of them is, by the
	// clock on the wall in Zone: from Friday 18:00 for 62 hours is until Monday 08:00
	// also where the clock is put forward or back in between.
	Schedule cron.Schedule
	For      time.Duration
	Zone     *time.Location
	// Strengthening lets changes pass that strengthen; Override lets a person pass.
	Strengthening bool
	Override      bool
}

// maxWindows bounds how many windows in a row are put together to say when it is
// over. A freeze that goes on longer ends later than is said, and never earlier.
const maxWindows = 1000

// slack is by how much wall clocks may differ from themselves around a change.
const slack = 3 * time.Hour

// At reports whether a time is in a window, and then when that ends: the end of
// the last of all windows that follow without a gap.
//
// Where a clock is put back, a window that begins in the hour that comes twice
// begins with the first, and one that ends in it ends with the second. Where it is
// put forward, one that begins or ends in the hour that is left out begins before
// it and ends after it. So no window is ever missing or too short.
func (f Freeze) At(now time.Time) (until time.Time, in bool) {
	if f.For <= 0 {
		return time.Time{}, false
	}
	wall := onTheWall(now, f.Zone)
	start := f.Schedule.Next(wall.Add(-f.For - slack))
	for range maxWindows {
		if start.IsZero() {
			return until, in
		}
		begins, _ := instants(start, f.Zone)
		_, ends := instants(start.Add(f.For), f.Zone)
		switch {
		case in && begins.After(until), !in && begins.After(now):
			return until, in
		case in || now.Before(ends):
			in, until = true, later(until, ends)
		}
		start = f.Schedule.Next(start)
	}
	return until, in
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// onTheWall is what a clock in a zone shows, as a time of a zone whose clock is
// never changed.
func onTheWall(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instants are the first and the last moment at which a clock in a zone shows a
// time; where it never does, moments before and after the hour that is left out.
func instants(wall time.Time, zone *time.Location) (first, last time.Time) {
	var fit, all []time.Time
	for _, near := range []time.Time{wall.Add(-24 * time.Hour), wall.Add(24 * time.Hour)} {
		_, offset := near.In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		all = append(all, t)
		if onTheWall(t, zone).Equal(wall) {
			fit = append(fit, t)
		}
	}
	if len(fit) == 0 {
		fit = all
	}
	first, last = fit[0], fit[len(fit)-1]
	if last.Before(first) {
		first, last = last, first
	}
	return first, last
}

// FreezesAt returns the freezes that a time is in, and the names of those that are
// passed where a person overrides those that allow it.
func FreezesAt(freezes []Freeze, now time.Time, override bool) (inForce []guard.Freeze, overridden []string) {
	for _, f := range freezes {
		until, in := f.At(now)
		switch {
		case !in:
		case f.Override && override:
			overridden = append(overridden, f.Name)
		default:
			inForce = append(inForce, guard.Freeze{
				Name: f.Name, Labels: f.Labels, Until: until, Strengthening: f.Strengthening, Override: f.Override,
			})
		}
	}
	return inForce, overridden
}
