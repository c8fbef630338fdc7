package token

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// lose does work whose creation has no answer.
func (f *fixture) lose() {
	f.t.Helper()
	f.lost["create"] = true
	if o := f.work(); count(o, reconcile.Quarantined) != 1 {
		f.t.Fatalf("results %v", results(o))
	}
	clear(f.lost)
}

// A creation whose answer was lost is found by the attempt in its name: whether
// it took effect or not, one token exists in the end, and its secret works.
func TestLostCreationIsFound(t *testing.T) {
	for _, tookEffect := range []bool{true, false} {
		t.Run(fmt.Sprint("took effect: ", tookEffect), func(t *testing.T) {
			f := newExtended(t)
			f.push(declare("ci-dns", zoneA))
			f.lose()
			if !tookEffect {
				f.revoke(1)
				f.advance(time.Minute)
				o := f.work() // too early to say that it never came
				if p := o.Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined || !strings.Contains(p[0].Hint, "the next run searches for it") {
					t.Errorf("problems %+v", p)
				}
				f.advance(lateAfter)
			}
			f.converge()
			if tookEffect {
				f.wantCalls("list", "roll")
			} else {
				f.wantCalls("list", "create")
			}
			f.wantMade("ci-dns")
			if len(f.records()) != 1 || !f.records()[0].Delivered {
				t.Fatalf("on record %+v", f.records())
			}
			if holder, works := f.holder("ci-dns"); !works || holder.ID != string(f.records()[0].ID) {
				t.Error("the delivered secret does not work")
			}
		})
	}
}

// The platform may refuse another secret: the creation stays quarantined, and is
// looked for again.
func TestLostCreationThatCannotBeRolled(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.lose()
	f.fail["roll"] = errDown
	if p := f.work().Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined {
		t.Errorf("problems %+v", p)
	}
	clear(f.fail)
	f.converge()
	f.wantWorking("ci-dns")
}

// Somebody renamed it in the meantime, and the attempt is still in its name.
func TestLostCreationIsFoundRenamed(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.lose()
	lost := f.platform.living()[0]
	spec := declare("ci-dns", zoneA).Spec()
	spec.Name = "do not touch " + strings.TrimPrefix(lost.Name, "ci-dns")
	if _, err := f.platform.truth.UpdateToken(t.Context(), edge.TokenID(lost.ID), edge.Token{TokenSpec: spec}); err != nil {
		t.Fatal(err)
	}
	f.advance(time.Hour)
	f.converge()
	f.wantCalls("list", "groups", "verify", "roll", "put", "get")
	f.converge()
	f.wantMade("ci-dns")
}

// A person made another with the attempt in its name: which of them is meant
// nobody but a person can say.
func TestLostCreationIsFoundTwice(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.lose()
	spec := declare("ci-dns", zoneA).Spec()
	spec.Name = "copy of " + f.platform.living()[0].Name
	if _, err := f.platform.truth.CreateToken(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	f.advance(time.Hour)
	if p := f.work().Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined {
		t.Errorf("problems %+v", p)
	}
	f.wantCalls("list", "groups", "verify")
}

// Without the attempt in the name nothing tells the token from another one.
func TestLostCreationWithoutNameStaysQuarantined(t *testing.T) {
	f := newExtended(t)
	f.NameSuffix = ""
	f.push(declare("ci-dns", zoneA))
	f.lose()
	f.advance(time.Hour)
	if p := f.work().Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined {
		t.Errorf("problems %+v", p)
	}
}

// A lost creation is due where the platform lists its tokens: nobody waits for the
// next sweep. So is a secret that waits for its sink.
func TestLostCreationIsDue(t *testing.T) {
	f := newExtended(t)
	f.push(inPlace("a", zoneA, "a"))
	f.converge()
	f.push(inPlace("a", zoneA, "a"), inPlace("b", zoneB, "b"))
	f.lose()
	f.converged(f.sync())
	f.wantMade("a", "b")
	f.wantWorking("b")
	f.push(inPlace("a", zoneA, "a"))
	f.converge() // a commit is due by itself
	f.wantMade("a")
	f.sync()
	f.wantTaken()
}
