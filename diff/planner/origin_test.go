package planner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
)

// A plan names the commit with each place, also where the places of the state do not: those in
// the zones of a daemon are of any commit with the same files. The state stays as it is.
func TestPlanNamesTheCommit(t *testing.T) {
	for name, change := range map[string]func(*desired.Deployment){
		"changes":  func(*desired.Deployment) {},
		"problems": difftest.DisabledRule(9),
	} {
		scene := difftest.Large(3, 60)
		in := Input{State: scene.State, Live: scene.Live}
		in.State.Commit = difftest.At(1).Commit
		change(&in.State.Accounts[0].Zones[1].Deployments[0])
		at := func(commit string) func(desired.Origin) desired.Origin {
			return func(o desired.Origin) desired.Origin {
				if o.Commit = commit; o.IsZero() {
					return desired.Origin{}
				}
				return o
			}
		}
		stamped, bare := in, in
		stamped.State = desired.MapOrigins(in.State, at(in.State.Commit))
		bare.State = desired.MapOrigins(in.State, at(""))
		before := desired.MapOrigins(bare.State, at(""))
		want, got := Make(stamped), Make(bare)
		if len(want.Changes) == 0 || name == "problems" && len(want.Problems) == 0 {
			t.Fatalf("%s: %+v", name, want)
		}
		for i := range want.Changes {
			compareOrigins(t, want.Changes[i], got.Changes[i])
		}
		if diff := cmp.Diff(places(want.Problems), places(got.Problems)); diff != "" {
			t.Errorf("%s: problems (-of a state that names the commit +of one that does not):\n%s", name, diff)
		}
		if want.Digest != got.Digest {
			t.Errorf("%s: another digest", name)
		}
		if diff := cmp.Diff(before, bare.State); diff != "" {
			t.Errorf("%s: the state was changed:\n%s", name, diff)
		}
	}
}

func compareOrigins(t *testing.T, want, got diff.Change) {
	t.Helper()
	if want.Origin.Commit == "" || want.Origin != got.Origin || want.ZoneOrigin != got.ZoneOrigin {
		t.Errorf("origins %+v and %+v, want %+v and %+v", got.Origin, got.ZoneOrigin, want.Origin, want.ZoneOrigin)
	}
	if diff := cmp.Diff(want.Fields, got.Fields); diff != "" {
		t.Errorf("fields (-of a state that names the commit +of one that does not):\n%s", diff)
	}
}

func places(problems []diff.Problem) (all []desired.Origin) {
	for _, p := range problems {
		all = append(all, p.Origin)
	}
	return all
}
