package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// acceptSteps are about [reconcile.Records.AcceptCommit] but for zones that are gone.
func acceptSteps() []step {
	size := guard.Size{Zones: 3, Deployments: 4, Tokens: 5}
	return []step{
		{
			"commit, size and state", accept(reconcile.Acceptance{Commit: "c1", Size: size, State: []byte("s")}),
			reconcile.Record{Accepted: reconcile.Accepted{Commit: "c1", Size: size, State: []byte("s")}},
		},
		{"a commit without a name", accept(reconcile.Acceptance{Size: size}), reconcile.Record{Accepted: reconcile.Accepted{Size: size}}},
		{
			"the last one counts", accept(reconcile.Acceptance{Commit: "c1", State: []byte("s1")}, reconcile.Acceptance{Commit: "c2", Size: size, State: []byte("s2")}),
			reconcile.Record{Accepted: reconcile.Accepted{Commit: "c2", Size: size, State: []byte("s2")}},
		},
		{
			"what zones were before it", accept(
				reconcile.Acceptance{Commit: "c1", Earlier: guard.Earlier{edge.ZoneScope("z9"): nil}},
				reconcile.Acceptance{Commit: "c2", Earlier: guard.Earlier{edge.ZoneScope("z1"): nil, edge.ZoneScope("z2"): {"tier": "gold"}, edge.ZoneScope("z3"): {}}}),
			reconcile.Record{Accepted: reconcile.Accepted{Commit: "c2", Earlier: guard.Earlier{edge.ZoneScope("z1"): nil, edge.ZoneScope("z2"): {"tier": "gold"}, edge.ZoneScope("z3"): {}}}},
		},
		{
			"of a commit that is accepted again", accept(
				reconcile.Acceptance{Commit: "c1", Earlier: guard.Earlier{edge.ZoneScope("z9"): nil}}, reconcile.Acceptance{Commit: "c1", Earlier: guard.Earlier{edge.ZoneScope("z1"): nil}},
				reconcile.Acceptance{Commit: "c1"}),
			reconcile.Record{Accepted: accepted("c1")},
		},
		{
			"everything at once", accept(reconcile.Acceptance{Commit: "c1", Size: size, State: []byte("s"), Rollout: &rolling, Approvals: []reconcile.Approval{said("a", "kim")}}),
			reconcile.Record{
				Accepted: reconcile.Accepted{Commit: "c1", Size: size, State: []byte("s")},
				Rollout:  rolling, Approvals: []reconcile.Approval{said("a", "kim")},
			},
		},
		{
			"no rollout keeps the one on record", accept(reconcile.Acceptance{Commit: "c1", Rollout: &rolling}, reconcile.Acceptance{Commit: "c2"}),
			reconcile.Record{Accepted: accepted("c2"), Rollout: rolling},
		},
		{
			"a rollout takes its place", accept(reconcile.Acceptance{Commit: "c1", Rollout: &rolling}, reconcile.Acceptance{Commit: "c2", Rollout: &reconcile.Rollout{Commit: "c2"}}),
			reconcile.Record{Accepted: accepted("c2"), Rollout: reconcile.Rollout{Commit: "c2"}},
		},
		{
			"a rollout that does not know of a halt takes no place, nor does anything with it", all(
				accept(reconcile.Acceptance{Commit: "c1", Rollout: &rolling}),
				func(ctx context.Context, s Store) error {
					next := reconcile.Rollout{Commit: "c2", Wave: 1, Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("z1"): {Wave: 1}}}
					err := s.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c2", Rollout: &next, Approvals: []reconcile.Approval{said("a", "kim")}})
					if !errors.Is(err, reconcile.ErrSuperseded) {
						return fmt.Errorf("accepted over a halt: %w", err)
					}
					return nil
				}),
			reconcile.Record{Accepted: accepted("c1"), Rollout: rolling},
		},
		{
			"approvals are added to those on record, and the first word counts", accept(
				reconcile.Acceptance{Commit: "c1", Approvals: []reconcile.Approval{said("a", "kim")}},
				reconcile.Acceptance{Commit: "c2", Approvals: []reconcile.Approval{
					said("a", "lee"), said("b", "lee"), {Digest: "freezes.f", Kind: reconcile.Overridden},
				}}),
			reconcile.Record{Accepted: accepted("c2"), Approvals: []reconcile.Approval{said("a", "kim"), said("b", "lee")}},
		},
	}
}

// goneSteps are about zones that a commit no longer declares.
func goneSteps() []step {
	fill := all(
		accept(reconcile.Acceptance{Commit: "c1"}),
		prove("c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f1", "c1", gold), proof(edge.ZoneScope("z2"), "f2", "c1", nil)},
			append(owns(first, "a"), append(owns(sibling, "b"), owns(second, "c")...)...)),
		nonConvergent(first, "n"), nonConvergent(second, "n"), nonConvergent(diff.ID{Scope: edge.ZoneScope("z11"), Ruleset: "r"}, "n"),
		drifted([]reconcile.Drift{{Scope: edge.ZoneScope("z1"), At: noon}}, noon),
	)
	left := reconcile.Record{
		Accepted: accepted("c2"), Applied: diff.Applied{second: {"c"}}, Proofs: proofs(proof(edge.ZoneScope("z2"), "f2", "c1", nil)),
		NonConvergent: map[diff.ID]string{second: "n", {Scope: edge.ZoneScope("z11"), Ruleset: "r"}: "n"},
		Drifts:        []reconcile.Drift{{Scope: edge.ZoneScope("z1"), At: noon}},
	}
	again := left
	again.Proofs = proofs(proof(edge.ZoneScope("z1"), "f3", "c2", nil), proof(edge.ZoneScope("z2"), "f2", "c1", nil))
	again.Applied = diff.Applied{second: {"c"}, first: {"x"}}
	return []step{
		{
			"all but drifts of a zone is forgotten", all(fill, accept(reconcile.Acceptance{Commit: "c2", Gone: []edge.Scope{edge.ZoneScope("z1"), edge.ZoneScope("unknown"), edge.ZoneScope("z")}})),
			left,
		},
		{
			"and begins anew", all(
				fill, accept(reconcile.Acceptance{Commit: "c2", Gone: []edge.Scope{edge.ZoneScope("z1")}}),
				widen(owns(first, "x")), prove("c2", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f3", "c2", nil)}, owns(first, "x")),
			),
			again,
		},
		{
			"a record of the commit before does not bring it back", all(
				fill, accept(reconcile.Acceptance{Commit: "c2", Gone: []edge.Scope{edge.ZoneScope("z1")}}),
				prove("c1", []reconcile.Proof{proof(edge.ZoneScope("z1"), "f1", "c1", gold)}, append(owns(first, "a"), owns(sibling, "b")...)),
			),
			left,
		},
	}
}

// testStates: a state is kept to the letter, and as long as it is that of the commit.
func testStates(t *testing.T, open func(t *testing.T) Fixture) {
	large := bytes.Repeat([]byte("zone: shop\x00\xff"), 300_000)
	for _, test := range []struct {
		name       string
		now        []byte
		then       string // another acceptance without a state, of this commit; empty: none
		want       []byte
		wantsState bool
	}{
		{"none", nil, "", nil, false},
		{"empty", []byte{}, "", []byte{}, true},
		{"any bytes", []byte("\x00\xff\x1f\x8b"), "", []byte("\x00\xff\x1f\x8b"), true},
		{"large", large, "", large, true},
		{"kept under its commit", []byte("s"), "c1", []byte("s"), true},
		{"dropped under another", []byte("s"), "c2", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := open(t)
			must(t, f.Store.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c1", State: test.now}))
			if test.then != "" {
				must(t, f.Store.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: test.then, Size: guard.Size{Zones: 1}}))
			}
			if f.Reopen != nil {
				f = f.Reopen(t)
			}
			got, err := f.Store.Restore(t.Context())
			must(t, err)
			if state := got.Accepted.State; !bytes.Equal(state, test.want) || (state != nil) != test.wantsState {
				t.Errorf("a state of %d bytes (none: %v), want %d", len(state), state == nil, len(test.want))
			}
		})
	}
}
