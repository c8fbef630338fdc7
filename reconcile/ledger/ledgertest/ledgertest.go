// Package ledgertest holds every memory of a daemon to the same behaviour: the ledger, its
// twin in memory, and whatever follows. It knows only the interfaces.
//
//	func TestConformance(t *testing.T) {
//		ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture {
//			return ledgertest.Fixture{Store: &reconcile.Forgetful{}, …}
//		})
//	}
package ledgertest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Store is what a daemon remembers with, but for tokens.
type Store interface {
	reconcile.Memory
	reconcile.Control
	reconcile.Records
}

// Fixture is one store under test, in which nothing is on record. What it lacks is not
// tested.
type Fixture struct {
	Store Store
	// Hold records a hold, in the place of any other on its zone. It is required.
	Hold func(ctx context.Context, hold diff.Hold) error
	// Tokens is nil where none are kept. It is ready for them to be intended.
	Tokens reconcile.TokenMemory
	// Reopen ends the store and begins another one over what it has left behind; nil where
	// nothing is left.
	Reopen func(t *testing.T) Fixture
	// Beside begins a second store over the same, as another process does; nil where there
	// is none.
	Beside func(t *testing.T) Store
}

// Run tests stores, from easy to nasty. Each call of open begins a new one.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	t.Run("memory", func(t *testing.T) { runSteps(t, open, memorySteps()) })
	t.Run("forget", func(t *testing.T) { runSteps(t, open, forgetSteps()) })
	t.Run("swept", func(t *testing.T) { testSwept(t, open(t)) })
	t.Run("holds", func(t *testing.T) { testHolds(t, open(t)) })
	t.Run("control", func(t *testing.T) { runSteps(t, open, controlSteps()) })
	t.Run("accept", func(t *testing.T) { runSteps(t, open, acceptSteps()) })
	t.Run("gone", func(t *testing.T) { runSteps(t, open, goneSteps()) })
	t.Run("prove", func(t *testing.T) { runSteps(t, open, proveSteps()) })
	t.Run("late", func(t *testing.T) { runSteps(t, open, lateSteps()) })
	t.Run("widen", func(t *testing.T) { runSteps(t, open, widenSteps()) })
	t.Run("drifted", func(t *testing.T) { runSteps(t, open, driftSteps()) })
	t.Run("states", func(t *testing.T) { testStates(t, open) })
	t.Run("ended", func(t *testing.T) { testEnded(t, open(t)) })
	t.Run("copies", func(t *testing.T) { testCopies(t, open(t)) })
	t.Run("tokens", func(t *testing.T) { testTokens(t, open) })
	t.Run("beside", func(t *testing.T) { testBeside(t, open(t)) })
	t.Run("whole", func(t *testing.T) { testWhole(t, open(t)) })
	t.Run("at once", func(t *testing.T) { testAtOnce(t, open(t)) })
	t.Run("laws", func(t *testing.T) { testLaws(t, open) })
}

// step is what is done to a store of its own, and what is on record then.
type step struct {
	name string
	do   func(ctx context.Context, s Store) error
	want reconcile.Record
}

func runSteps(t *testing.T, open func(t *testing.T) Fixture, steps []step) {
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			f := open(t)
			must(t, step.do(t.Context(), f.Store))
			check(t, f.Store, step.want)
			if f.Reopen != nil {
				check(t, f.Reopen(t).Store, step.want)
			}
		})
	}
}

// check reads a store in every way there is: none may say anything else.
func check(t testing.TB, s Store, want reconcile.Record) {
	t.Helper()
	ctx := t.Context()
	got, err := s.Restore(ctx)
	must(t, err)
	same(t, "restored", want, got)
	standing, err := s.Standing(ctx)
	must(t, err)
	same(t, "standing", standingOf(want), standing)
	recalled, err := s.Recall(ctx)
	must(t, err)
	same(t, "recalled", recollectionOf(want), recalled)
	holds, err := s.Holds(ctx)
	must(t, err)
	same(t, "holds", want.Holds, holds)
}

func standingOf(r reconcile.Record) reconcile.Standing {
	return reconcile.Standing{
		Commit: r.Accepted.Commit, Holds: r.Holds, Approvals: r.Approvals,
		RolloutCommit: r.Rollout.Commit, RolloutHalted: r.Rollout.Halted, RolloutWave: r.Rollout.Wave,
	}
}

func recollectionOf(r reconcile.Record) reconcile.Recollection {
	return reconcile.Recollection{
		Applied: r.Applied, NonConvergent: r.NonConvergent, Size: r.Accepted.Size,
		Holds: r.Holds, Approvals: r.Approvals, Rollout: r.Rollout,
	}
}

// same compares what is on record: none and empty are the same, and neither members nor
// holds have an order.
func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	d := cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmpopts.SortSlices(func(a, b diff.Member) bool { return a < b }),
		cmpopts.SortSlices(func(a, b diff.Hold) bool { return a.Zone < b.Zone }))
	if d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What the steps are about.
var (
	noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

	first, second = diff.DeploymentID{Zone: "z1", Ruleset: "r"}, diff.DeploymentID{Zone: "z2", Ruleset: "r"}
	sibling       = diff.DeploymentID{Zone: "z1", Ruleset: "another"} // in the zone of first

	gold, plain = diff.Labels{"tier": "gold", "": "ü \"<&\u2028"}, diff.Labels{}

	nasty = []diff.Member{`overrides.categories["paranoia-level-3"].enabled`, `<&>'"\`, "ü\u2028\n", ""}

	// rolling is a rollout with a zone of every outcome.
	rolling = reconcile.Rollout{
		Commit: "c1", Wave: 2, Since: noon, Halted: "1 of 2 failed",
		Zones: map[edge.ZoneID]reconcile.RolloutZone{
			"z1": {Wave: 1, Outcome: reconcile.ZoneDone}, "z2": {Wave: 1, Outcome: reconcile.ZoneSkipped},
			"z3": {Wave: 1, Outcome: reconcile.ZoneAccepted}, "z4": {Wave: 2, Outcome: reconcile.ZoneFailed},
			"z5": {Wave: 2, Outcome: reconcile.ZoneNonConvergent}, "z6": {Wave: 3, Outcome: reconcile.ZonePending},
		},
	}
)

func owns(id diff.DeploymentID, members ...diff.Member) []diff.Settled {
	return []diff.Settled{{ID: id, Owned: members}}
}

func said(digest, who string) reconcile.Approval {
	return reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: who, Reason: "because", At: noon}
}

func proof(zone edge.ZoneID, fingerprint, commit string, labels diff.Labels) reconcile.Proof {
	return reconcile.Proof{Zone: zone, Fingerprint: fingerprint, Commit: commit, Labels: labels}
}

func proofs(all ...reconcile.Proof) map[edge.ZoneID]reconcile.Proof {
	by := map[edge.ZoneID]reconcile.Proof{}
	for _, p := range all {
		by[p.Zone] = p
	}
	return by
}

func accepted(commit string) reconcile.Accepted { return reconcile.Accepted{Commit: commit} }
