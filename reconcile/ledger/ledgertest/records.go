package ledgertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// proveSteps are about [reconcile.Records.Prove].
func proveSteps() []step {
	one := func(fingerprint, commit string, labels guard.Labels) []reconcile.Proof {
		return []reconcile.Proof{proof(edge.ZoneScope("z1"), fingerprint, commit, labels)}
	}
	return []step{
		{"nothing", prove("c1", nil, nil), reconcile.Record{}},
		{
			"before any commit was accepted", prove("c1", one("f", "c1", gold), owns(first, nasty...)),
			reconcile.Record{Proofs: proofs(proof(edge.ZoneScope("z1"), "f", "c1", gold)), Applied: diff.Applied{first: nasty}},
		},
		{
			"the same again keeps its commit", all(prove("c1", one("f", "c1", nil), nil), prove("c2", one("f", "c2", plain), nil)),
			reconcile.Record{Proofs: proofs(proof(edge.ZoneScope("z1"), "f", "c1", nil))},
		},
		{
			"another declaration takes its place", all(prove("c1", one("f", "c1", gold), nil), prove("c2", one("g", "c2", gold), nil)),
			reconcile.Record{Proofs: proofs(after("f ", proof(edge.ZoneScope("z1"), "g", "c2", gold)))},
		},
		{
			"so do other labels", all(prove("c1", one("f", "c1", gold), nil), prove("c2", one("f", "c2", nil), nil)),
			reconcile.Record{Proofs: proofs(proof(edge.ZoneScope("z1"), "f", "c2", nil))},
		},
		{
			"it narrows what was widened, and forgives", all(
				prove("c1", nil, owns(first, "a", "b")), widen(owns(first, "c")), nonConvergent(first, "n"),
				prove("c1", one("f", "c1", nil), owns(first, "c")),
			),
			reconcile.Record{Applied: diff.Applied{first: {"c"}}, Proofs: proofs(proof(edge.ZoneScope("z1"), "f", "c1", nil))},
		},
		severalAtAccountLevel,
		{
			"it touches nothing else, not in the same zone either", all(
				prove("c1", nil, append(owns(sibling, "a"), owns(second, "b")...)), nonConvergent(sibling, "n"),
				prove("c1", []reconcile.Proof{proof(edge.ZoneScope("z2"), "f", "c1", nil)}, nil),
				prove("c1", one("f", "c1", nil), owns(first)),
			),
			reconcile.Record{
				Applied: diff.Applied{first: {}, sibling: {"a"}, second: {"b"}}, NonConvergent: map[diff.DeploymentID]string{sibling: "n"},
				Proofs: proofs(proof(edge.ZoneScope("z1"), "f", "c1", nil), proof(edge.ZoneScope("z2"), "f", "c1", nil)),
			},
		},
	}
}

// earlierSteps are about what was proved before the last proof.
func earlierSteps() []step {
	one := func(fingerprint, commit string) []reconcile.Proof {
		return []reconcile.Proof{proof(edge.ZoneScope("z1"), fingerprint, commit, nil)}
	}
	return []step{
		{
			"what was proved before is remembered, the newest first, each once", all(
				prove("c1", one("f", "c1"), nil), prove("c2", one("g", "c2"), nil),
				prove("c3", one("h", "c3"), nil), prove("c4", one("g", "c4"), nil),
			),
			reconcile.Record{Proofs: proofs(after("h f ", proof(edge.ZoneScope("z1"), "g", "c4", nil)))},
		},
		{
			"and no more than a few", func(ctx context.Context, s Store) (err error) {
				for _, fingerprint := range strings.Split("abcdefghijk", "") {
					err = errors.Join(err, s.Prove(ctx, "c1", one(fingerprint, "c1"), nil))
				}
				return err
			},
			reconcile.Record{Proofs: proofs(after("j i h g f e d c ", proof(edge.ZoneScope("z1"), "k", "c1", nil)))},
		},
	}
}

// lateSteps are about records of a commit that is not the accepted one.
func lateSteps() []step {
	next := accept(reconcile.Acceptance{Commit: "c2"})
	return []step{
		{
			"they add nothing", all(next, prove("c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f", "c1", nil)}, owns(first, "a"))),
			reconcile.Record{Accepted: accepted("c2")},
		},
		{
			"they change what is there", all(
				prove("c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f", "c1", nil)}, owns(first, "a", "b")),
				next, nonConvergent(first, "n"), nonConvergent(sibling, "n"),
				prove("c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "g", "c1", gold), proof(edge.ZoneScope("z2"), "f", "c1", nil)},
					append(owns(first, "b"), owns(sibling, "c")...)),
			),
			reconcile.Record{Accepted: accepted("c2"), Applied: diff.Applied{first: {"b"}}, Proofs: proofs(after("f ", proof(edge.ZoneScope("z1"), "g", "c1", gold)))},
		},
	}
}

// widenSteps are about [reconcile.Records.Widen].
func widenSteps() []step {
	return []step{
		{"nothing", widen(nil), reconcile.Record{}},
		{
			"what is not there yet", all(widen(owns(first, nasty...)), widen(owns(second))),
			reconcile.Record{Applied: diff.Applied{first: nasty, second: {}}},
		},
		{
			"the union, and nothing else", all(
				prove("c1", nil, append(owns(first, "a", "b"), owns(second, "a")...)), nonConvergent(first, "n"),
				widen(owns(first, "b", "c", "c")), widen(owns(first, "a")), widen(owns(first)),
			),
			reconcile.Record{Applied: diff.Applied{first: {"a", "b", "c"}, second: {"a"}}, NonConvergent: map[diff.DeploymentID]string{first: "n"}},
		},
	}
}

// driftSteps are about [reconcile.Records.Drifted].
func driftSteps() []step {
	at := func(zone edge.Scope, after time.Duration, weakens bool) reconcile.Drift {
		return reconcile.Drift{Scope: zone, At: noon.Add(after), Weakens: weakens}
	}
	there := time.FixedZone("", 5*3600)
	return []step{
		{"nothing", drifted(nil, noon), reconcile.Record{}},
		{
			"in the order of time", all(
				drifted([]reconcile.Drift{at(edge.ZoneScope("z1"), 1, true), at(edge.ZoneScope("z2"), 0, false)}, noon),
				drifted([]reconcile.Drift{at(edge.ZoneScope("z1"), -time.Second, false), at(edge.ZoneScope("z3"), 0, true)}, noon.Add(-time.Hour)),
			),
			reconcile.Record{Drifts: []reconcile.Drift{at(edge.ZoneScope("z1"), -time.Second, false), at(edge.ZoneScope("z2"), 0, false), at(edge.ZoneScope("z3"), 0, true), at(edge.ZoneScope("z1"), 1, true)}},
		},
		{
			"the same again is one, and weakens if either does", all(
				drifted([]reconcile.Drift{at(edge.ZoneScope("z1"), 0, false), at(edge.ZoneScope("z2"), 0, true)}, noon),
				drifted([]reconcile.Drift{at(edge.ZoneScope("z1"), 0, true), at(edge.ZoneScope("z2"), 0, false), at(edge.ZoneScope("z2"), 0, false)}, noon),
			),
			reconcile.Record{Drifts: []reconcile.Drift{at(edge.ZoneScope("z1"), 0, true), at(edge.ZoneScope("z2"), 0, true)}},
		},
		{
			"those before are dropped, new ones too", all(
				drifted([]reconcile.Drift{at(edge.ZoneScope("z1"), -1, false), at(edge.ZoneScope("z1"), 0, false), at(edge.ZoneScope("z1"), 900*time.Millisecond, false)}, noon.Add(-time.Hour)),
				drifted([]reconcile.Drift{at(edge.ZoneScope("z2"), -1, true), at(edge.ZoneScope("z2"), time.Second, true)}, noon),
			),
			reconcile.Record{Drifts: []reconcile.Drift{at(edge.ZoneScope("z1"), 0, false), at(edge.ZoneScope("z1"), 900*time.Millisecond, false), at(edge.ZoneScope("z2"), time.Second, true)}},
		},
		{
			"clocks of other zones",
			drifted([]reconcile.Drift{{Scope: edge.ZoneScope("z1"), At: noon.In(there)}, {Scope: edge.ZoneScope("z2"), At: noon.Add(-time.Minute).In(there)}}, noon.In(time.FixedZone("", -7200))),
			reconcile.Record{Drifts: []reconcile.Drift{at(edge.ZoneScope("z1"), 0, false)}},
		},
	}
}

// testEnded: a context that has ended leaves everything as it is.
func testEnded(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i, err := range []error{
		f.Store.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"}),
		f.Store.Prove(ctx, "c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f", "c1", nil)}, owns(first)),
		f.Store.Widen(ctx, owns(first, "a")),
		f.Store.Drifted(ctx, []reconcile.Drift{{Scope: edge.ZoneScope("z1"), At: noon}}, noon),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v, want the end of its context", i, err)
		}
	}
	check(t, f.Store, reconcile.Record{})
}

// testCopies: what was handed over and what was handed out are the caller's, to change as
// he likes.
func testCopies(t *testing.T, f Fixture) {
	ctx, s := t.Context(), f.Store
	state, labels, members := []byte("state"), guard.Labels{"tier": "gold"}, []diff.Member{"a", "b"}
	rollout := reconcile.Rollout{Commit: "c1", Wave: 1, Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("z1"): {Wave: 1}}}
	approvals := []reconcile.Approval{said("d", "kim")}
	must(t, s.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1", State: state, Rollout: &rollout, Approvals: approvals}))
	must(t, s.Prove(ctx, "c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f", "c1", labels)}, owns(first, members...)))
	must(t, s.Drifted(ctx, []reconcile.Drift{{Scope: edge.ZoneScope("z1"), At: noon}}, noon))
	must(t, f.Hold(ctx, diff.Hold{Zone: "shop", Until: noon}))
	want, err := s.Restore(ctx)
	must(t, err)

	state[0], labels["tier"], members[0], approvals[0].Who = 'x', "lead", "x", "max"
	rollout.Zones[edge.ZoneScope("z1")] = reconcile.RolloutZone{Wave: 9}
	check(t, s, want)

	got, err := s.Restore(ctx)
	must(t, err)
	delete(got.Applied, first)
	delete(got.Proofs, edge.ZoneScope("z1"))
	delete(got.Rollout.Zones, edge.ZoneScope("z1"))
	got.Accepted.State[0], got.Approvals[0].Who, got.Holds[0].Zone, got.Drifts[0].Scope = 'y', "max", "x", edge.ZoneScope("x")
	standing, err := s.Standing(ctx)
	must(t, err)
	standing.Approvals[0].Who, standing.Holds[0].Zone = "max", "x"
	check(t, s, want)
	if !slices.Equal(want.Applied[first], []diff.Member{"a", "b"}) || want.Proofs[edge.ZoneScope("z1")].Labels["tier"] != "gold" {
		t.Errorf("the store has kept %v", want)
	}
}
