package ledgertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// memorySteps are about what deployments own, and which changes were not kept.
func memorySteps() []step {
	return []step{
		{"nothing", func(context.Context, Store) error { return nil }, reconcile.Record{}},
		{
			"prove what is owned", prove("c1", nil, owns(first, "a", "b")),
			reconcile.Record{Applied: diff.Applied{first: {"a", "b"}}},
		},
		{
			"prove nothing", prove("c1", nil, nil), reconcile.Record{},
		},
		{
			"prove again keeps what is not named", all(prove("c1", nil, append(owns(first, "a"), owns(second, "b")...)), prove("c2", nil, owns(first, "c", "d"))),
			reconcile.Record{Applied: diff.Applied{first: {"c", "d"}, second: {"b"}}},
		},
		{
			"owning nothing is remembered", all(prove("c1", nil, owns(first, "a")), prove("c2", nil, owns(first))),
			reconcile.Record{Applied: diff.Applied{first: {}}},
		},
		{
			"members are kept to the letter", prove("", nil, owns(first, nasty...)),
			reconcile.Record{Applied: diff.Applied{first: nasty}},
		},
		{
			"the last fingerprint counts", all(nonConvergent(first, "f1"), nonConvergent(first, "f2"), nonConvergent(second, "f1")),
			reconcile.Record{NonConvergent: map[diff.DeploymentID]string{first: "f2", second: "f1"}},
		},
		{
			"a proof forgives only what is named, changed or not", all(
				prove("c1", nil, owns(first, "a")), nonConvergent(first, "f1"), nonConvergent(second, "f1"),
				prove("c1", nil, owns(first, "a")),
			),
			reconcile.Record{Applied: diff.Applied{first: {"a"}}, NonConvergent: map[diff.DeploymentID]string{second: "f1"}},
		},
		{
			"the last size counts", all(
				accept(reconcile.Acceptance{Commit: "c1", Size: guard.Size{Zones: 9, Deployments: 12, Tokens: 3}}), accept(reconcile.Acceptance{Commit: "c1", Size: guard.Size{Zones: 9, Deployments: 12, Tokens: 2}}),
			),
			reconcile.Record{Accepted: reconcile.Accepted{Commit: "c1", Size: guard.Size{Zones: 9, Deployments: 12, Tokens: 2}}},
		},
	}
}

// trySteps are about when changes that were not kept are tried again.
func trySteps() []step {
	return []step{
		{
			"the last try of what was not kept counts", all(
				nonConvergent(first, "f1"), try(first, diff.Try{Next: tried}), try(first, diff.Try{At: tried, Next: tried.Add(time.Hour)}),
				nonConvergent(second, "f1"), try(sibling, diff.Try{At: tried, Next: tried}),
			),
			reconcile.Record{
				NonConvergent: map[diff.DeploymentID]string{first: "f1", second: "f1"},
				Tries:         map[diff.DeploymentID]diff.Try{first: {At: tried, Next: tried.Add(time.Hour)}},
			},
		},
		{
			"a proof forgives the tries", all(
				nonConvergent(first, "f1"), try(first, diff.Try{At: tried, Next: tried}),
				prove("c1", nil, owns(first, "a")), nonConvergent(first, "f1"),
			),
			reconcile.Record{Applied: diff.Applied{first: {"a"}}, NonConvergent: map[diff.DeploymentID]string{first: "f1"}},
		},
	}
}

// tried is when a change was sent that was not kept.
var tried = time.Date(2026, 3, 1, 2, 22, 0, 0, time.UTC)

// forgetSteps are about deployments that left a zone which stays.
func forgetSteps() []step {
	return []step{
		{
			"forget nothing", forget(nil), reconcile.Record{},
		},
		{
			"forget drops what is named, known or not", all(
				prove("c1", nil, append(owns(first, "a"), append(owns(second, "b"), owns(sibling, "c")...)...)),
				nonConvergent(first, "f1"), nonConvergent(sibling, "f1"), accept(reconcile.Acceptance{Commit: "c1", Size: guard.Size{Zones: 3}}),
				prove("c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f", "c1", nil)}, nil),
				forget([]diff.DeploymentID{first, {Scope: edge.ZoneScope("z9"), Ruleset: "r"}, {Scope: edge.ZoneScope("z2"), Ruleset: "other"}}),
			),
			reconcile.Record{
				Accepted: reconcile.Accepted{Commit: "c1", Size: guard.Size{Zones: 3}},
				Applied:  diff.Applied{second: {"b"}, sibling: {"c"}}, NonConvergent: map[diff.DeploymentID]string{sibling: "f1"},
				Proofs: proofs(proof(edge.ZoneScope("z1"), "f", "c1", nil)),
			},
		},
	}
}

// testSwept: the last word counts.
func testSwept(t *testing.T, f Fixture) {
	must(t, errors.Join(f.Store.Swept(t.Context(), noon), f.Store.Swept(t.Context(), noon.Add(time.Nanosecond))))
	want := reconcile.Record{Swept: noon.Add(time.Nanosecond)}
	checkKept(t, f, want)
}

// testHolds: one a zone, the last; and those that are over are there too.
func testHolds(t *testing.T, f Fixture) {
	one, two := diff.Hold{Zone: "one", Until: noon, Reason: "INC-1"}, diff.Hold{Zone: "two", Until: noon.Add(time.Hour), Reason: "INC-2"}
	for _, h := range []diff.Hold{two, {Zone: "one", Until: noon.Add(time.Hour), Reason: "INC-0"}, one} {
		must(t, f.Hold(t.Context(), h))
	}
	want := reconcile.Record{Holds: []diff.Hold{one, two}}
	checkKept(t, f, want)
}
