package token

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// A sink that is down keeps the secret sealed; later work delivers it, and
// creates nothing.
func TestSecretWaitsForItsSink(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.fail["deliver"] = errSinkDown
	f.work()
	if len(f.memory.sealed) != 1 {
		t.Fatal("the secret is not sealed")
	}
	o := f.work()
	f.wantTaken("open the seal", "deliver")
	if p := o.Plan.Problems; converged(o) || len(p) != 1 || p[0].State != diff.Undelivered || !o.Unfinished()["ci-dns"] {
		t.Errorf("problems %+v", p)
	}
	delete(f.fail, "deliver")
	f.converge()
	f.wantTaken("open the seal", "deliver", "delivered")
	f.wantHolder("ci-dns", 1)
	if len(f.memory.sealed) != 0 {
		t.Error("a sealed copy is left")
	}
}

// A seal that does not open is no reason to create another token.
func TestSealThatDoesNotOpen(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.fail["deliver"] = errSinkDown
	f.work()
	clear(f.memory.sealed)
	if o := f.work(); converged(o) || !slices.Equal(f.taken, []string{"open the seal"}) {
		t.Errorf("took %v, results %v", f.taken, results(o))
	}
}

// Several wait: the oldest is delivered first, and what one sink says is said of
// its token alone.
func TestSecretsWaitForTheirSinks(t *testing.T) {
	f := newFixture(t)
	f.push(declare("a", zoneA), declare("b", zoneB))
	f.sinks.down = 2
	f.work()
	f.sinks.down = 1
	o := f.work()
	if got := results(o); len(got) != 2 || !strings.HasPrefix(got[0], "a failed") || got[1] != "b converged" {
		t.Errorf("results %v", got)
	}
	if p := o.Plan.Problems; len(p) != 1 || p[0].Token != "a" {
		t.Errorf("problems %+v", p)
	}
	f.converge()
	f.wantHolder("a", 1)
	f.wantHolder("b", 2)
}

// A ledger in doubt delivers nothing: a newer token, which it has forgotten, may
// have the place.
func TestSecretOfALedgerInDoubt(t *testing.T) {
	f := newFixture(t)
	f.push(declare("a", zoneA))
	f.sinks.down = 1
	f.work()
	f.memory.live.Unknown = "the ledger was restored from a backup"
	f.work()
	f.wantTaken()
	if due, err := f.Due(t.Context(), f.scope.Tokens); err != nil || due["a"] {
		t.Errorf("due %v, error %v", due, err)
	}
}

// Work that was told to stop before it sends anything sends nothing, and says so.
func TestStoppedBeforeSending(t *testing.T) {
	f := newExtended(t)
	f.push(inPlace("a", zoneA, "x"))
	f.sinks.down = 1
	f.work()
	f.push(inPlace("b", zoneA, "y"))
	f.taken = nil
	ctx, stop := context.WithCancel(t.Context())
	o := f.Work(ctx, f.scope, func(_ context.Context, plan diff.Plan) (diff.Plan, error) {
		stop()
		return f.guard(ctx, plan)
	})
	f.wantTaken("list")
	if count(o, reconcile.NotStarted) != 2 || len(o.Results) != 2 || !errors.Is(o.Err, context.Canceled) {
		t.Errorf("results %v, error %v", results(o), o.Err)
	}
}

// The secret of a token that was replaced never takes the place of its
// successor's, in whatever order their sink takes them.
func TestOlderSecretNeverReplacesANewerOne(t *testing.T) {
	for name, wakes := range map[string]int{"before the replacement": 1, "with it": 2, "after it": 3} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			for run, zone := range []string{zoneA, zoneB, zoneB, zoneB} {
				clear(f.fail)
				if run < wakes {
					f.fail["deliver"] = errSinkDown
				}
				f.push(declare("ci-dns", zone))
				f.work()
			}
			f.wantHolder("ci-dns", 2)
			if len(f.platform.created) != 2 {
				t.Errorf("%d exist", len(f.platform.created))
			}
			for _, r := range f.records() {
				if r.State != diff.TokenConfirmed || r.ID == f.platform.created[1] && !r.Delivered {
					t.Errorf("on record: %+v", r)
				}
			}
		})
	}
}

// Nor does it when the sink took the successor's at once, and its own never.
func TestOlderSecretIsPassedOver(t *testing.T) {
	f := newFixture(t)
	for _, zone := range []string{zoneA, zoneB, zoneB} {
		f.push(declare("ci-dns", zone))
		f.sinks.down = 1
		f.work()
	}
	f.work()
	f.wantHolder("ci-dns", 2)
}

// A declaration that returns to an earlier form, while the sink is down, does not
// wait for that form's secret: a later one is to take its place.
func TestSecretThatIsNeverDelivered(t *testing.T) {
	f := newFixture(t)
	f.fail["deliver"] = errSinkDown
	for _, zone := range []string{zoneA, zoneB, zoneA} {
		f.push(declare("ci-dns", zone))
		f.work()
	}
	delete(f.fail, "deliver")
	f.work()
	f.converge()
	holder, _ := f.holder("ci-dns")
	spec, err := holder.Spec()
	must.Do(t, err)
	if _, ok := spec.Policies[0].Resources[edge.ResourceZone+zoneA]; !ok {
		t.Error("the secret in use is of a token that is not as declared")
	}
}

// A sink holds one secret, whichever declaration it is of. What is in use is
// neither deleted nor named for a person to revoke.

// A declaration that is renamed and renamed back finds its first token without a
// place: the secret there is of the token in between.
func TestPlaceTakenByAnotherDeclaration(t *testing.T) {
	f := newExtended(t)
	for _, key := range []string{"a", "b", "a", "b"} {
		f.push(inPlace(key, zoneA, "x"))
		f.converge()
		f.converge()
		f.wantWorking("x")
	}
	f.wantMade("b")
}

// Two declarations that swap their places, and swap back, name for revocation only
// tokens whose secrets are nowhere.
func TestPlacesAreSwapped(t *testing.T) {
	f := newFixture(t)
	for _, places := range [][2]string{{"x", "y"}, {"y", "x"}, {"x", "y"}} {
		a, b := declare("a", zoneA), declare("b", zoneB)
		a.Sink, b.Sink = &desired.Sink{Name: "ci", Key: places[0]}, &desired.Sink{Name: "ci", Key: places[1]}
		f.push(a, b)
		f.converge()
	}
	orphans := 0
	for _, c := range f.converge().Plan.Changes {
		for _, place := range []string{"x", "y"} {
			if holder, _ := f.holder(place); c.Action() == diff.ActionOrphan && c.Fields[0].Old == holder.ID {
				t.Errorf("token %s is to be revoked and its secret is in use", holder.ID)
			}
		}
		orphans++
	}
	if orphans == 0 {
		t.Error("nothing is to be revoked")
	}
}

// An heir that does not come to be leaves the token alone that it was to replace.
func TestPruneWaitsForTheHeir(t *testing.T) {
	f := newExtended(t)
	f.push(inPlace("a", zoneA, "x"))
	f.converge()
	f.converge()
	f.push(inPlace("c", zoneA, "x"))
	for _, step := range []string{"intend", "deliver"} {
		f.fail[step] = errDiskFull
		for range 2 {
			if o := f.work(); converged(o) {
				t.Errorf("%s failed, and the work converged", step)
			}
			f.wantWorking("x")
		}
		delete(f.fail, step)
	}
	f.converge()
	f.converge()
	f.wantWorking("x")
	f.wantMade("c")
}

// While the secret of a new token is on its way, the one before it is in use:
// nobody is told to revoke it.
func TestNothingIsSaidOfTheTokenInUse(t *testing.T) {
	for _, extended := range []bool{true, false} {
		f := newExtended(t)
		if !extended {
			f.document()
		}
		f.push(inPlace("a", zoneA, "x"))
		f.converge()
		f.push(inPlace("a", zoneA, "y"))
		f.fail["deliver"] = errSinkDown
		f.work()
		if c := f.work().Plan.Changes; len(c) != 0 {
			t.Errorf("extended %v: changes %+v", extended, c)
		}
		f.wantWorking("x")
		delete(f.fail, "deliver")
		f.converge()
		f.wantWorking("y")
	}
}
