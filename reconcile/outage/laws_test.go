package outage

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// outcomes are how a try may end.
var outcomes = []error{
	nil, nil, errReset, errDenied, errFailed, edge.ErrThrottled, edge.ErrUnauthenticated, errors.New("something else"),
	fmt.Errorf("%w: locked", reconcile.ErrState),
}

// TestLaws: whatever happens, an outage begins before it ends, ends at most once, never
// begins twice without an end, is what it was told to be, and is listed for as long as it lasts; the lines of an hour
// are bounded, and so is what is kept.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const fleet = 12
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		open := map[string]reconcile.Outage{} // as it was told last
		lines := 0
		tracker := New(Config{Now: func() time.Time { return now }, Tell: func(e Event) {
			lines++
			key := e.key
			switch e.Kind {
			case Began:
				if _, lasts := open[key]; lasts {
					t.Fatalf("%s has begun twice", key)
				}
				if e.Outage.Tries == 0 {
					t.Fatalf("%s has begun, and nothing has failed", key)
				}
				open[key] = e.Outage
			case Changed:
				if _, lasts := open[key]; !lasts {
					t.Fatalf("%s has changed, and had not begun", key)
				}
				open[key] = e.Outage
			case Ended:
				if e.Outage.Until.Before(e.Outage.Since) {
					t.Fatalf("%s has ended before it began: %+v", key, e.Outage)
				}
				was, lasts := open[key]
				if !lasts {
					t.Fatalf("%s has ended, and had not begun", key)
				}
				if !was.Since.Equal(e.Outage.Since) || was.Cause != e.Outage.Cause {
					t.Fatalf("%s was told as %+v, and ends as %+v", key, was, e.Outage)
				}
				delete(open, key)
			}
		}})
		tracker.Declare(fleet, func(edge.Scope) bool { return true })
		begin := now
		steps := rapid.IntRange(1, 400).Draw(t, "steps")
		for range steps {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 3, 11, 40, 200}).Draw(t, "seconds")) * time.Second)
			err := rapid.SampledFrom(outcomes).Draw(t, "outcome")
			z := zoneNumber(rapid.IntRange(0, fleet-1).Draw(t, "zone"))
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				tracker.Tick()
			case 1:
				tracker.Down(err)
			case 2:
				subject := rapid.SampledFrom([]reconcile.OutageSubject{reconcile.OutageGit, reconcile.OutageForge}).Draw(t, "subject")
				if tracker.Failed(subject, "", "x", err); err == nil {
					tracker.Worked(subject, "", "x")
				}
			case 3:
				gone := z.Scope
				tracker.Declare(fleet-1, func(id edge.Scope) bool { return id != gone })
			case 4:
				z.OfAccount = true
				tracker.Zone(z, err)
			case 5:
				z.Answered, z.Asked = true, now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "asked before"))*time.Second)
				tracker.Zone(z, err)
			default:
				tracker.Zone(z, err)
			}
			if err := tracker.holds(); err != nil {
				t.Fatal(err)
			}
			if n := len(tracker.Outages()); n > mostOpen+10 {
				t.Fatalf("%d outages", n)
			}
			if len(tracker.open) > mostOpen+10 || len(tracker.of) > fleet || len(tracker.Ended()) > mostEnded || len(tracker.ends) > mostMemory+1 {
				t.Fatalf("kept: %d, %d, %d, %d", len(tracker.open), len(tracker.of), len(tracker.Ended()), len(tracker.ends))
			}
		}
		// Each subject or cause begins, changes and ends at most once within its time to settle.
		if most := 40 + int(now.Sub(begin)/time.Hour+1)*14*4*4; lines > most {
			t.Fatalf("%d lines in %v, want at most %d", lines, now.Sub(begin), most)
		}
		// All that works again ends.
		for range 3 {
			for i := range fleet {
				tracker.Zone(zoneNumber(i), nil)
			}
			for _, subject := range []reconcile.OutageSubject{reconcile.OutageGit, reconcile.OutageForge} {
				tracker.Worked(subject, "", "x")
			}
			now = now.Add(time.Hour)
			tracker.Tick()
		}
		if list := tracker.Outages(); len(list) > 0 || len(tracker.open)+len(tracker.of)+len(tracker.streak) > 0 {
			t.Fatalf("lasts: %+v; kept %v %v", list, tracker.open, tracker.of)
		}
	})
}
