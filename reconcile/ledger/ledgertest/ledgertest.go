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
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Store is what a daemon remembers with, but for tokens.
type Store interface {
	reconcile.Control
	reconcile.Records
	reconcile.RulesetMemory
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

// part is some of what a store is held to.
type part struct {
	name string
	run  func(t *testing.T, open func(t *testing.T) Fixture)
}

// parts are from easy to nasty.
func parts() []part {
	return []part{
		{"memory", steps(append(memorySteps(), trySteps()...))},
		{"forget", steps(forgetSteps())},
		{"swept", once(testSwept)},
		{"holds", once(testHolds)},
		{"control", steps(controlSteps())},
		{"accept", steps(acceptSteps())},
		{"gone", steps(goneSteps())},
		{"prove", steps(append(proveSteps(), earlierSteps()...))},
		{"written", steps(writtenSteps())},
		{"late", steps(lateSteps())},
		{"prune", steps(pruneSteps())},
		{"widen", steps(widenSteps())},
		{"drifted", steps(append(driftSteps(), healedSteps()...))},
		{"states", testStates},
		{"ended", once(testEnded)},
		{"copies", once(testCopies)},
		{"write", once(testRecordWrite)},
		{"skip rules", once(testSkipRules)},
		{"reverted", once(testHoldsOfReverts)},
		{"rulesets", once(testRulesets)},
		{"tokens", testTokens},
		{"beside", once(testBeside)},
		{"whole", once(testWhole)},
		{"at once", once(testAtOnce)},
		{"laws", testLaws},
	}
}

// Run tests stores, several at a time. Each call of open begins a new one. Where parts are named, it
// tests these alone.
func Run(t *testing.T, open func(t *testing.T) Fixture, only ...string) {
	run := 0
	for _, test := range parts() {
		if len(only) > 0 && !slices.Contains(only, test.name) {
			continue
		}
		run++
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open)
		})
	}
	if len(only) > 0 && run != len(only) {
		t.Fatalf("%d of the parts %q were run", run, only)
	}
}

// once is a test of one store.
func once(test func(*testing.T, Fixture)) func(*testing.T, func(*testing.T) Fixture) {
	return func(t *testing.T, open func(*testing.T) Fixture) { test(t, open(t)) }
}

// step is what is done to a store of its own, and what is on record then.
type step struct {
	name string
	do   call
	want reconcile.Record
}

// steps is a test of one store for each step.
func steps(all []step) func(*testing.T, func(*testing.T) Fixture) {
	return func(t *testing.T, open func(*testing.T) Fixture) {
		for _, step := range all {
			t.Run(step.name, func(t *testing.T) {
				f := open(t)
				must(t, step.do(t.Context(), f.Store))
				checkKept(t, f, step.want)
			})
		}
	}
}

// checkKept reads a store, and where it can be reopened, what it has left behind.
func checkKept(t *testing.T, f Fixture, want reconcile.Record) {
	t.Helper()
	check(t, f.Store, want)
	if f.Reopen != nil {
		check(t, f.Reopen(t).Store, want)
	}
}

// check reads a store in both ways there are: neither may say anything else.
func check(t testing.TB, s Store, want reconcile.Record) {
	t.Helper()
	ctx := t.Context()
	got, err := s.Restore(ctx)
	must(t, err)
	same(t, "restored", want, got)
	standing, err := s.Standing(ctx)
	must(t, err)
	standing.Newest, standing.Said = 0, 0 // of the history and of the file, which are no part of a record
	same(t, "standing", standingOf(want), standing)
}

func standingOf(r reconcile.Record) reconcile.Standing {
	return reconcile.Standing{
		Commit: r.Accepted.Commit, Holds: r.Holds, Approvals: r.Approvals,
		RolloutCommit: r.Rollout.Commit, RolloutHalted: r.Rollout.Halted, RolloutWave: r.Rollout.Wave,
		Departures: r.Departures,
	}
}

// same compares what is on record: none and empty are the same, and neither members nor
// holds have an order.
func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(reconcile.Record{}, "Mark"), // which a database gives
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

	first, second = diff.ID{Scope: edge.ZoneScope("z1"), Ruleset: "r"}, diff.ID{Scope: edge.ZoneScope("z2"), Ruleset: "r"}
	sibling       = diff.ID{Scope: edge.ZoneScope("z1"), Ruleset: "another"} // in the zone of first

	gold, plain = guard.Labels{"tier": "gold", "": "ü \"<&\u2028"}, guard.Labels{}

	nasty = []diff.Member{`overrides.categories["paranoia-level-3"].enabled`, `<&>'"\`, "ü\u2028\n", ""}

	// rolling is a rollout with a zone of every outcome.
	rolling = reconcile.Rollout{
		Commit: "c1", Wave: 2, Since: noon, Halted: "1 of 2 failed",
		Zones: map[edge.Scope]reconcile.RolloutZone{
			edge.ZoneScope("z1"): {Wave: 1, Outcome: reconcile.ZoneDone}, edge.ZoneScope("z2"): {Wave: 1, Outcome: reconcile.ZoneSkipped},
			edge.ZoneScope("z3"): {Wave: 1, Outcome: reconcile.ZoneAccepted}, edge.ZoneScope("z4"): {Wave: 2, Outcome: reconcile.ZoneFailed},
			edge.ZoneScope("z5"): {Wave: 2, Outcome: reconcile.ZoneNonConvergent}, edge.ZoneScope("z6"): {Wave: 3, Outcome: reconcile.ZonePending},
		},
	}
)

func owns(id diff.ID, members ...diff.Member) []diff.Settled {
	return []diff.Settled{{ID: id, Owned: members}}
}

func said(digest, who string) reconcile.Approval {
	return reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: who, Reason: "because", At: noon}
}

func proof(zone edge.Scope, fingerprint, commit string, labels guard.Labels) reconcile.Proof {
	return reconcile.Proof{Scope: zone, Fingerprint: fingerprint, Commit: commit, Labels: labels}
}

// after is a proof that follows others.
func after(earlier reconcile.Earlier, p reconcile.Proof) reconcile.Proof {
	p.Earlier = earlier
	return p
}

func proofs(all ...reconcile.Proof) map[edge.Scope]reconcile.Proof {
	by := map[edge.Scope]reconcile.Proof{}
	for _, p := range all {
		by[p.Scope] = p
	}
	return by
}

func accepted(commit string) reconcile.Accepted { return reconcile.Accepted{Commit: commit} }
