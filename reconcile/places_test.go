package reconcile

import (
	"errors"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// A sink holds one secret, whichever declaration it is of. What is in use is
// neither deleted nor named for a person to revoke.

func inPlace(key, zone, place string) desired.Token {
	t := token(key, zone)
	t.Prune, t.Sink = true, &desired.Sink{Name: "ci", Key: place}
	return t
}

// wantWorking: what a place holds signs in.
func wantWorking(t *testing.T, s *steps, o *office, place string) {
	t.Helper()
	if _, _, ok := o.TokenByValue(edge.NewSecret(s.sunk[place])); !ok {
		t.Errorf("the secret in %s does not work", place)
	}
}

// A declaration that is renamed and renamed back finds its first token without a
// place: the secret there is of the token in between.
func TestPlaceTakenByAnotherDeclaration(t *testing.T) {
	w, s, o := extendedWorld(t)
	for i, key := range []string{"a", "b", "a", "b"} {
		pushTokens(w, []string{"c1", "c2", "c3", "c4"}[i], inPlace(key, zoneA, "x"))
		w.converge(sweep)
		w.converge(sweep)
		wantWorking(t, s, o, "x")
	}
	if got := o.made(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("made %v", got)
	}
}

// Two declarations that swap their places, and swap back, name for revocation only
// tokens whose secrets are nowhere.
func TestPlacesAreSwapped(t *testing.T) {
	w, s := tokenWorld(t)
	for i, places := range [][2]string{{"x", "y"}, {"y", "x"}, {"x", "y"}} {
		a, b := token("a", zoneA), token("b", zoneB)
		a.Sink, b.Sink = &desired.Sink{Name: "ci", Key: places[0]}, &desired.Sink{Name: "ci", Key: places[1]}
		pushTokens(w, []string{"c1", "c2", "c3"}[i], a, b)
		w.converge(sweep)
	}
	report, _ := w.converge(sweep)
	for _, c := range tokenChanges(report.Plan) {
		for _, created := range s.existing {
			if c.Action == diff.ActionOrphan && c.Fields[0].Old == string(created.ID) && (s.sunk["x"] == created.Value.Reveal() || s.sunk["y"] == created.Value.Reveal()) {
				t.Errorf("token %s is to be revoked and its secret is in use", created.ID)
			}
		}
	}
}

// An heir that does not come to be leaves the token alone that it was to replace.
func TestPruneWaitsForTheHeir(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", inPlace("a", zoneA, "x"))
	w.converge(sweep)
	w.converge(sweep)
	pushTokens(w, "c2", inPlace("c", zoneA, "x"))
	for _, fail := range []string{"intend", "deliver"} {
		s.fail[fail] = errors.New("disk full")
		for range 2 {
			report, _ := w.run(sweep)
			if report.Converged() {
				t.Errorf("%s failed, and the run converged", fail)
			}
			wantWorking(t, s, o, "x")
		}
		delete(s.fail, fail)
	}
	w.converge(sweep)
	w.converge(sweep)
	wantWorking(t, s, o, "x")
	if got := o.made(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("made %v", got)
	}
}

// While the secret of a new token is on its way, the one before it is in use:
// nobody is told to revoke it.
func TestNothingIsSaidOfTheTokenInUse(t *testing.T) {
	for _, extended := range []bool{true, false} {
		w, s, o := extendedWorld(t)
		if !extended {
			w.TokenReader, w.TokenWriter = nil, nil
		}
		pushTokens(w, "c1", inPlace("a", zoneA, "x"))
		w.converge(sweep)
		pushTokens(w, "c2", inPlace("a", zoneA, "y"))
		s.fail["deliver"] = errors.New("the sink is down")
		w.run(sweep)
		report, _ := w.run(sweep)
		if c := tokenChanges(report.Plan); len(c) != 0 {
			t.Errorf("extended %v: changes %+v", extended, c)
		}
		wantWorking(t, s, o, "x")
		delete(s.fail, "deliver")
		w.converge(sweep)
		wantWorking(t, s, o, "y")
	}
}

// A sink that is down does not keep a token from being narrowed.
func TestUpdateDoesNotWaitForASink(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", token("a", zoneA))
	s.fail["deliver"] = errors.New("the sink is down")
	w.run(sweep)
	narrow := token("a", zoneA)
	narrow.Condition = &desired.Condition{In: []string{"192.0.2.0/24"}}
	pushTokens(w, "c2", narrow)
	o.taken = nil
	w.run(sweep)
	o.wantTaken(t, "list", "put", "get")
	delete(s.fail, "deliver")
	report, _ := w.converge(sweep)
	if c := tokenChanges(report.Plan); len(c) != 0 {
		t.Errorf("changes %+v", c)
	}
}

// A sync finds a lost creation, and deletes what the commit it is about took away:
// nobody waits for the next sweep.
func TestSyncLooksAfterTokens(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", inPlace("a", zoneA, "a"), inPlace("b", zoneB, "b"))
	o.answer = func(call string) error {
		if call == "create" && len(s.live.Records) == 2 {
			return errLost
		}
		return nil
	}
	w.run(syncing)
	o.answer = nil
	if report, _ := w.converge(syncing); report.Plan.Summary.Zones != 0 || len(o.made()) != 2 {
		t.Errorf("zones %d, made %v", report.Plan.Summary.Zones, o.made())
	}
	wantWorking(t, s, o, "b")
	pushTokens(w, "c2", inPlace("a", zoneA, "a"))
	w.converge(syncing)
	if got := o.made(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("made %v", got)
	}
	o.taken = nil
	w.converge(syncing)
	o.wantTaken(t)
}

// A run about one token leaves the record of others as it is.
func TestNarrowRunForgetsNothingElse(t *testing.T) {
	w, s, o := extendedWorld(t)
	pushTokens(w, "c1", token("a", zoneA), token("b", zoneB))
	w.converge(sweep)
	w.clock.advance(youngFor)
	if err := o.Platform.DeleteToken(t.Context(), s.live.Records[1].ID); err != nil {
		t.Fatal(err)
	}
	only := sweep
	only.Tokens = []string{"a"}
	w.converge(only)
	report, _ := w.converge(sweep)
	if c := tokenChanges(report.Plan); len(c) != 1 || c[0].Action != diff.ActionReplace {
		t.Errorf("changes %+v", c)
	}
}
