package controller

import (
	"context"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// What becomes of deployments that are created, and of those that leave the repository.

// newDeployFixture has n zones without entry points, and would take two execute rules of
// one managed ruleset.
func newDeployFixture(t testT, n int) *fixture {
	t.Helper()
	f := newFixture(t, n)
	seed := mem.Fleet(n)
	for i := range seed.Zones {
		seed.Zones[i].EntryPoint = nil
	}
	platform, err := mem.New(mem.Config{Seed: seed, Profile: mem.Extended})
	must.Do(t, err)
	f.Platform, f.calls.Platform = platform, platform
	return f
}

func deployedAs(deploy, prune bool) desired.Deployment {
	d := core("xss")
	d.Deploy, d.Prune = deploy, prune
	return d
}

// other is a zone that stays as it is: a commit that declares next to nothing is held.
var other = zoneOf(2, deployedAs(true, true))

// wantRules is how many rules zone 1 has, and of which writes the last ones were.
func (f *fixture) wantRules(want int, verbs ...string) {
	f.t.Helper()
	if n := len(f.Entry(1).Rules); n != want {
		f.t.Errorf("%d rules, want %d", n, want)
	}
	var got []string
	for _, c := range f.calls.take() {
		if c.verb != "read" && c.verb != "list" && c.verb != "managed" {
			got = append(got, c.verb)
		}
	}
	if len(got) != len(verbs) {
		f.t.Errorf("it makes %v, want %v", got, verbs)
		return
	}
	for i := range got {
		if got[i] != verbs[i] {
			f.t.Errorf("it makes %v, want %v", got, verbs)
		}
	}
}

func TestDeployedAndRemoved(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newDeployFixture(t, 2)
		f.repo.Push("c1", zoneOf(1, deployedAs(true, true)), other)
		f.start()
		f.wantRules(1, "create", "create")
		f.restart()
		f.wantRules(1)
		f.push("c2", zoneOf(1), other)
		f.wantRules(0, "delete")
		if record := f.record(); len(record.Prunable) != 1 || len(record.Applied) != 1 || record.Proofs[mem.FleetZone(1)].Commit != "c2" {
			t.Errorf("on record: %v, %v, %v", record.Prunable, record.Applied, record.Proofs)
		}
		f.push("c3", zoneOf(1, deployedAs(false, true)), other)
		f.wantRules(0) // not deployed
		f.push("c4", zoneOf(1, deployedAs(true, false)), other)
		f.wantRules(1, "add")
		f.push("c5", zoneOf(1), other)
		f.wantRules(1) // it was not to be removed
		if len(f.record().Applied) != 1 {
			t.Errorf("on record is %v", f.record().Applied)
		}
	})
}

// What was to be removed is not forgotten while it cannot be: by a guard, by a failure, by
// newer commits and restarts.
func TestRemovalOutlives(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newDeployFixture(t, 2)
		f.repo.Push("c1", zoneOf(1, deployedAs(true, true)), other)
		f.start()
		f.calls.take()
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(3 * time.Hour), Reason: "INC-1"})
		f.push("c2", zoneOf(1), other)
		f.wantRules(1)
		f.restart()
		z := zoneOf(1)
		z.Labels = map[string]string{"tier": "gold"}
		f.push("c3", z, other)
		f.wantRules(1)
		if record := f.record(); len(record.Prunable) != 2 || record.Proofs[mem.FleetZone(1)].Commit != "c1" {
			t.Errorf("on record: %v, %v", record.Prunable, record.Proofs)
		}
		f.calls.answerBy(refuseWrites)
		f.pass(4 * time.Hour)
		f.calls.take()
		f.calls.answerBy(nil)
		f.pass(4 * time.Hour)
		f.wantRules(0, "delete")
		if record := f.record(); len(record.Prunable) != 1 || len(record.Applied) != 1 || record.Proofs[mem.FleetZone(1)].Commit != "c3" {
			t.Errorf("on record: %v, %v, %v", record.Prunable, record.Applied, record.Proofs)
		}
	})
}

// A commit that declares a deployment without prune keeps it, even if that is never proved.
func TestDeclaredWithoutPruneIsKept(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newDeployFixture(t, 2)
		f.repo.Push("c1", zoneOf(1, deployedAs(true, true)), other)
		f.start()
		f.calls.take()
		f.calls.set(func(context.Context, call) error { return errDown })
		f.push("c2", zoneOf(1, deployedAs(true, false)), other)
		f.restart()
		f.push("c3", zoneOf(1), other)
		f.calls.set(nil)
		f.pass(4 * time.Hour)
		f.wantRules(1)
		if record := f.record(); len(record.Prunable) != 1 || len(record.Applied) != 1 || record.Proofs[mem.FleetZone(1)].Commit != "c3" {
			t.Errorf("on record: %v, %v, %v", record.Prunable, record.Applied, record.Proofs)
		}
	})
}

// A process that ends between a call and its proof leaves nothing that another one would
// do twice.
func TestEndBetweenDeployAndProof(t *testing.T) {
	for _, effect := range []bool{true, false} {
		run(t, func(t *testing.T) {
			f := newDeployFixture(t, 2)
			ends := func() {
				f.calls.answerBy(func(_ call, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
					if effect {
						_, _ = send()
					}
					f.calls.set(func(context.Context, call) error { return errDown }) // nor anything after
					return nil, edge.ErrOutcomeUnknown
				})
			}
			begins := func() {
				f.stop()
				f.calls.set(nil)
				f.calls.answerBy(nil)
				f.start()
			}
			ends()
			f.repo.Push("c1", zoneOf(1, deployedAs(true, true)), other)
			f.start()
			begins()
			f.pass(4 * time.Hour)
			if n := len(f.Entry(1).Rules); n != 1 || len(f.record().Prunable) != 2 {
				t.Errorf("effect %v: %d rules, on record %v", effect, n, f.record().Prunable)
			}
			ends()
			f.push("c2", zoneOf(1), other)
			begins()
			f.pass(4 * time.Hour)
			if n := len(f.Entry(1).Rules); n != 0 || len(f.record().Prunable) != 1 {
				t.Errorf("effect %v: %d rules, on record %v", effect, n, f.record().Prunable)
			}
		})
	}
}
