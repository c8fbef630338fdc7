package tokens

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// everyMoment plays a run that dies, at each of its moments in turn, each time in a
// new world, and returns how many moments there are. Outside of a soak it dies after the
// first step of each kind that is named, and then not at all.
func everyMoment(t *testing.T, steps []string, play func(t *testing.T, dies moment) (survived bool)) (moments int) {
	t.Helper()
	if !soak.On {
		for _, step := range append(slices.Clone(steps), "") {
			t.Run("after "+step, func(t *testing.T) {
				if survived := play(t, moment{After: step}); survived != (step == "") {
					t.Errorf("the process survived: %v", survived)
				}
			})
		}
		return len(steps)
	}
	survived := false
	for ; !survived; moments++ {
		ok := t.Run(fmt.Sprint("at ", moments+1), func(t *testing.T) { survived = play(t, moment{At: moments + 1}) })
		if !ok {
			return moments
		}
	}
	return moments
}

// rotationDue is a world in which two tokens, one made here and one brought, are
// to be followed by others.
func rotationDue(t *testing.T) *sceneWorld {
	t.Helper()
	w := newSceneWorld(t, mem.Documented)
	w.plays("rotating", 0)
	w.adopt(scenes["rotating"]()[1])
	w.settled()
	w.exist(map[string]int{"made": 1, "brought": 1})
	w.plays("rotating", every+time.Hour)
	return w
}

// rotationEnds resolves what needs a person, and expects one successor each.
func (w *sceneWorld) rotationEnds() (quarantined int) {
	w.T.Helper()
	w.runOnce()
	w.lawful()
	quarantined = w.personResolves()
	w.settled()
	w.exist(map[string]int{"made": 2, "brought": 2})
	w.plays("rotating", overlap)
	clear(w.inUse) // the one that was made has ended by now
	w.settled()
	w.exist(map[string]int{"made": 2, "brought": 2})
	return quarantined
}

// personResolves gives a person's word on each creation whose outcome is unknown:
// a token that is there is adopted, with its secret.
func (w *sceneWorld) personResolves() (n int) {
	w.T.Helper()
	w.locked(func(l *ledger.Ledger) error {
		live, err := l.Tokens(w.T.Context())
		if err != nil {
			return err
		}
		for _, r := range live.Records {
			if r.State != diff.TokenQuarantined {
				continue
			}
			n++
			word := ledger.Resolution{How: ledger.ByRetrying}
			for _, token := range w.ours() {
				known := slices.ContainsFunc(live.Records, func(other diff.TokenRecord) bool { return string(other.ID) == token.ID })
				if declaration(token.Name) == r.Key && !known {
					word = ledger.Resolution{How: ledger.ByAdopting, ID: edge.TokenID(token.ID)}
					harness.Write(w.T, w.Sink, r.Sink.Key, token.Value)
				}
			}
			if err := l.Resolve(w.T.Context(), r.Key, word); err != nil {
				return err
			}
		}
		return nil
	})
	return n
}

// TestRotationKilledAtEveryStep: wherever the process dies that makes the second
// generation, there is one successor in the end, and what was in use works on.
func TestRotationKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	quarantined := 0
	moments := everyMoment(t, []string{"Intend", "CreateToken", "Confirm"}, func(t *testing.T, dies moment) bool {
		w := rotationDue(t)
		survived := w.childThat(dies)
		w.lawful()
		quarantined += w.rotationEnds()
		return survived
	})
	if least := 2*(1+5*2) + 1; moments < least && soak.On {
		t.Errorf("the run has %d moments, want %d or more", moments, least)
	}
	want := 3 * 2 // before its creation is sent nothing is on record
	if !soak.On {
		want = 2
	}
	if quarantined != want {
		t.Errorf("a person was needed %d times, want %d", quarantined, want)
	}
}

// TestRotationByHandKilledAtEveryStep: the same where a person asks for it before it is due,
// and asks again after the process has died: for the successor of the same token.
func TestRotationByHandKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	quarantined := 0
	everyMoment(t, []string{"Intend", "CreateToken", "Confirm"}, func(t *testing.T, dies moment) bool {
		w := newSceneWorld(t, mem.Documented)
		w.plays("rotating", 0)
		w.adopt(scenes["rotating"]()[1])
		w.settled()
		w.Rotate = edge.TokenID(w.ours()[1].ID)
		survived := w.childThat(dies)
		w.lawful()
		for range 2 {
			w.runOnce()
			w.lawful()
			quarantined += w.personResolves()
		}
		w.exist(map[string]int{rotatingKey: 2, "brought": 1})
		w.Rotate = ""
		w.settled()
		w.exist(map[string]int{rotatingKey: 2, "brought": 1})
		return survived
	})
	want := 3 // before its creation is sent nothing is on record
	if !soak.On {
		want = 2
	}
	if quarantined != want {
		t.Errorf("a person was needed %d times, want %d", quarantined, want)
	}
}

// changesDue is a world in which a token is to be changed, one to be deleted, one
// to be left alone and one to be made.
func changesDue(t *testing.T) *sceneWorld {
	t.Helper()
	w := newSceneWorld(t, mem.Extended)
	w.plays("before", 0)
	w.settled()
	w.mayGo = []string{"pruned"}
	w.plays("after", time.Minute)
	return w
}

// changesEnd expects that nobody is needed: what a dead process did is found.
func (w *sceneWorld) changesEnd() {
	w.T.Helper()
	w.plays(w.Scene, time.Hour)
	w.settled()
	w.exist(map[string]int{"changed": 1, "left": 1, "stays": 1, "added": 1})
	changed := scenes["after"]()[0].Spec()
	for _, token := range w.ours() {
		spec, err := token.Spec()
		must.Do(w.T, err)
		changed.Name = spec.Name
		if declaration(token.Name) == "changed" && access.Hash(spec) != access.Hash(changed) {
			w.T.Errorf("the token that was to be changed is %+v", spec)
		}
	}
}

// TestChangesKilledAtEveryStep: the same where the platform updates, deletes and
// finds tokens.
func TestChangesKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	moments := everyMoment(t, []string{"UpdateToken", "Amend", "DeleteToken", "Gone"}, func(t *testing.T, dies moment) bool {
		w := changesDue(t)
		survived := w.childThat(dies)
		w.lawful()
		w.changesEnd()
		return survived
	})
	// The memory is asked twice; five steps create, two change, two delete.
	if least := 2*(2+5+2+2) + 1; moments < least && soak.On {
		t.Errorf("the run has %d moments, want %d or more", moments, least)
	}
}

// TestRollKilledAtEveryStep: a process dies that gives another secret to a token
// whose creation was lost. The next one gives it yet another.
func TestRollKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	again := 0
	everyMoment(t, []string{"RollToken", "Confirm"}, func(t *testing.T, dies moment) bool {
		w := newSceneWorld(t, mem.Extended)
		w.plays("lost", 0)
		if w.childAfter("CreateToken") {
			t.Fatal("the first process lived")
		}
		lost := w.ours()[0].Value
		survived := w.childThat(dies)
		w.lawful()
		w.runOnce()
		if rolls := w.rolls(); rolls < 1 || rolls > 2 {
			t.Errorf("%d other secrets were asked for", rolls)
		} else {
			again += rolls - 1
		}
		w.settled()
		w.exist(map[string]int{"ci-dns": 1})
		if w.signIn(lost) != http.StatusUnauthorized {
			t.Error("the secret that was lost still works")
		}
		return survived
	})
	// After the roll, and before its secret is on record.
	want := 2
	if !soak.On {
		want = 1
	}
	if again != want {
		t.Errorf("a token got two other secrets %d times, want %d", again, want)
	}
}

// rolls counts the requests for another secret.
func (w *sceneWorld) rolls() (n int) {
	for _, token := range w.ours() {
		for _, call := range w.Calls() {
			if call == http.MethodPut+" "+edge.OwnedTokenPath("", edge.TokenID(token.ID))+"/value" {
				n++
			}
		}
	}
	return n
}

// badAnswers are quirks of the simulator, in a soak each in several rhythms.
func badAnswers(t *testing.T, try func(t *testing.T, quirk string)) {
	quirks := []string{"error-before=2", "error-after=1", "cut-after=2", "truncate=1", "html=3", "throttle=2"}
	if soak.On {
		quirks = append(quirks, "error-before=1", "error-after=2", "cut-after=1", "cut-after=3", "truncate=2", "truncate=3", "html=1", "html=2")
	}
	for _, quirk := range quirks {
		t.Run(quirk, func(t *testing.T) {
			t.Parallel()
			try(t, quirk)
		})
	}
}

// TestRotationWithBadAnswers: whatever becomes of answers, one successor each.
func TestRotationWithBadAnswers(t *testing.T) {
	t.Parallel()
	badAnswers(t, func(t *testing.T, quirk string) {
		w := rotationDue(t)
		for range 2 {
			w.runWith(quirk)
			w.lawful()
		}
		w.rotationEnds()
	})
}

// TestChangesWithBadAnswers: the same where the platform updates, deletes and
// finds tokens.
func TestChangesWithBadAnswers(t *testing.T) {
	t.Parallel()
	badAnswers(t, func(t *testing.T, quirk string) {
		w := changesDue(t)
		for range 3 {
			w.runWith(quirk)
			w.lawful()
		}
		w.changesEnd()
	})
}
