package reconcile

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

const day = 24 * time.Hour

func rotating(key string) desired.Token {
	t := token(key, zoneA)
	t.Rotate = &desired.Rotate{Every: 30 * day, Overlap: 2 * day}
	return t
}

// works reports whether the secret that a sink holds is of a token that lives.
func (s *steps) works(key string, now time.Time) bool {
	for _, token := range s.existing {
		end, err := time.Parse(time.RFC3339, token.ExpiresOn)
		if token.Value.Reveal() == s.sunk[key] && err == nil && now.Before(end) {
			return true
		}
	}
	return false
}

// A year of syncs: each successor is delivered before its predecessor ends, by a
// sync that has nothing else to do, and nothing is left for a person.
func TestAYearOfRotation(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", rotating("ci-dns"))
	w.converge(sweep)
	for range 365 * 4 {
		w.clock.advance(6 * time.Hour)
		if !s.works("ci-dns", w.clock.Now()) {
			t.Fatalf("at %s the delivered secret does not work", w.clock.Now())
		}
		report, calls := w.converge(syncing)
		if len(calls) != 0 {
			t.Fatalf("a sync without news made calls: %v", calls)
		}
		for _, c := range tokenChanges(report.Plan) {
			if c.Action != diff.ActionRotate {
				t.Fatalf("changes %+v", c)
			}
		}
	}
	w.converge(sweep)
	if len(s.existing) != 13 {
		t.Errorf("%d tokens were made in a year of 30 days each", len(s.existing))
	}
	// What has ended is forgotten: the record does not grow with time.
	if len(s.live.Records) > 3 {
		t.Errorf("%d are on record", len(s.live.Records))
	}
}

// A process that dies at any step of a rotation leaves the predecessor at work,
// and never a third token.
func TestCrashInRotation(t *testing.T) {
	for _, step := range []string{"intend", "create", "confirm", "deliver", "delivered"} {
		t.Run(step, func(t *testing.T) {
			w, s := tokenWorld(t)
			pushTokens(w, "c1", rotating("ci-dns"))
			w.converge(sweep)
			w.clock.advance(30 * day)
			s.crashAt = step
			func() {
				defer func() {
					if r := recover(); r != errCrash {
						t.Fatalf("no crash: %v", r)
					}
				}()
				w.Run(t.Context(), syncing)
			}()
			s.crashAt = ""
			w.restart()
			w.Tokens, w.Creator, w.Sinks = s, s, s
			report, _ := w.run(sweep)
			report2, _ := w.run(sweep)
			if !s.works("ci-dns", w.clock.Now()) || len(s.existing) > 2 {
				t.Errorf("works: %v; %d exist", s.works("ci-dns", w.clock.Now()), len(s.existing))
			}
			quarantined := len(report.Plan.Problems) == 1 && report.Plan.Problems[0].State == diff.Quarantined
			if doubt := step == "intend" || step == "create"; quarantined != doubt || report2.Converged() == doubt {
				t.Errorf("quarantined %v, converged %v", quarantined, report2.Converged())
			}
		})
	}
}

// A successor whose secret cannot be delivered does not keep the predecessor
// from working, and is tried again by syncs with growing gaps.
func TestRotationWhileTheSinkIsDown(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", rotating("ci-dns"))
	w.converge(sweep)
	w.clock.advance(30 * day)
	s.fail["deliver"] = errors.New("no space left on device")
	s.taken = nil
	for range 20 {
		w.clock.advance(time.Minute)
		if report, _ := w.run(syncing); report.Err != nil {
			t.Fatal(report.Err)
		}
	}
	tries := 0
	for _, step := range s.taken {
		if step == "deliver" {
			tries++
		}
	}
	if tries < 3 || tries > 6 || len(s.existing) != 2 || !s.works("ci-dns", w.clock.Now()) {
		t.Errorf("%d tries in 20 syncs, %d exist, steps %v", tries, len(s.existing), s.taken)
	}
	delete(s.fail, "deliver")
	w.converge(sweep)
	if s.sunk["ci-dns"] != "made-up-2" {
		t.Errorf("sunk %v", s.sunk)
	}
}

// Where the platform can delete, what a rotation left behind is deleted once it
// has ended, if its declaration allows that: the user's tokens are counted.
func TestRotationWithPrune(t *testing.T) {
	w, s, o := extendedWorld(t)
	pruned := rotating("ci-dns")
	pruned.Prune = true
	pushTokens(w, "c1", pruned)
	w.converge(sweep)
	for range 10 {
		w.clock.advance(10 * day)
		w.converge(sweep)
		if n := len(o.made()); n > 2 {
			t.Fatalf("%d tokens on the platform", n)
		}
	}
	w.clock.advance(3 * day)
	w.converge(sweep)
	if got := o.made(); !slices.Equal(got, []string{"ci-dns"}) || len(s.live.Records) != 1 {
		t.Errorf("made %v, on record %d", got, len(s.live.Records))
	}
	if live, err := o.Platform.UserToken(t.Context(), s.live.Records[0].ID); err != nil || live.ExpiresOn != s.live.Records[0].Spec.ExpiresOn {
		t.Errorf("live %+v, error %v", live, err)
	}
}

func TestEndedTokensAreDeletedLate(t *testing.T) {
	w, s, o := extendedWorld(t)
	pruned := rotating("ci-dns")
	pruned.Prune = true
	pushTokens(w, "c1", pruned)
	w.converge(sweep)
	w.clock.advance(30 * day)
	w.converge(sweep)
	w.converge(sweep)
	w.clock.advance(200 * day) // nobody ran
	w.converge(sweep)
	w.converge(sweep)
	if got := o.made(); !slices.Equal(got, []string{"ci-dns"}) || len(s.live.Records) != 1 {
		t.Errorf("made %v, on record %d", got, len(s.live.Records))
	}
}

// A token that is declared and has ended stays on record: forgotten, it would
// look like one that was never made.
func TestEndedTokenIsRemembered(t *testing.T) {
	w, s := tokenWorld(t)
	until := token("ci-dns", zoneA)
	until.ExpiresOn = "2026-02-01T00:00:00Z"
	pushTokens(w, "c1", until)
	w.converge(sweep)
	w.clock.advance(365 * day)
	w.converge(sweep)
	if len(s.live.Records) != 1 {
		t.Errorf("on record %d", len(s.live.Records))
	}
}

// The end of a token is counted from its creation, and its begin is left out.
func TestRotationSendsItsWindow(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", rotating("ci-dns"))
	w.converge(sweep)
	got := s.existing[0].TokenSpec
	if want := "2026-02-02T00:00:00Z"; got.ExpiresOn != want || got.NotBefore != "" || s.live.Records[0].Spec.ExpiresOn != want {
		t.Errorf("sent %+v", got)
	}
	spec := rotating("ci-dns").Spec()
	if spec.ExpiresOn != "" {
		t.Error("a window is part of the declaration")
	}
}
