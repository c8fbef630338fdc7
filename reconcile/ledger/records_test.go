package ledger

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestRecords goes once through everything, in both implementations.
func TestRecords(t *testing.T) {
	for name, r := range map[string]reconcile.Records{"Forgetful": &reconcile.Forgetful{}, "Ledger": mustOpen(t, newPath(t))} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			one, two := deployment(1), deployment(2)
			must(t, r.AcceptCommit(ctx, reconcile.Acceptance{
				Commit: "c1", Size: diff.Size{Zones: 2}, State: []byte("state"), Rollout: &rolling,
				Approvals: []reconcile.Approval{{Digest: "d", Kind: reconcile.Approved, At: noon}},
			}))
			must(t, r.Widen(ctx, settled(one, "a")))
			must(t, r.Widen(ctx, settled(one, "a", "b")))
			must(t, r.NonConvergent(ctx, one, "f"))
			must(t, r.NonConvergent(ctx, two, "f"))
			proof := reconcile.Proof{Zone: one.Zone, Fingerprint: "p", Labels: diff.Labels{"tier": "gold"}, Commit: "c1"}
			must(t, r.Prove(ctx, "c1", []reconcile.Proof{proof}, settled(one, "b")))
			must(t, r.Prove(ctx, "late", []reconcile.Proof{{Zone: two.Zone}}, settled(two, "b")))
			must(t, r.Drifted(ctx, []reconcile.Drift{{Zone: one.Zone, At: noon}, {Zone: two.Zone, At: noon.Add(-time.Nanosecond)}}, noon))
			got, err := r.Restore(ctx)
			must(t, err)
			want := reconcile.Record{
				Accepted:  reconcile.Accepted{Commit: "c1", Size: diff.Size{Zones: 2}, State: []byte("state")},
				Applied:   diff.Applied{one: {"b"}},
				Proofs:    map[edge.ZoneID]reconcile.Proof{one.Zone: proof},
				Approvals: []reconcile.Approval{{Digest: "d", Kind: reconcile.Approved, At: noon}},
				Rollout:   rolling, Drifts: []reconcile.Drift{{Zone: one.Zone, At: noon}},
			}
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("restored (-want +got):\n%s", d)
			}
			standing, err := r.Standing(ctx)
			must(t, err)
			if d := cmp.Diff(reconcile.Standing{
				Commit: "c1", Approvals: want.Approvals, RolloutCommit: "c1", RolloutHalted: rolling.Halted, RolloutWave: 2,
			}, standing, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("standing (-want +got):\n%s", d)
			}
			must(t, r.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c2", Gone: []edge.ZoneID{one.Zone}}))
			got, err = r.Restore(ctx)
			must(t, err)
			want.Accepted, want.Applied, want.Proofs = reconcile.Accepted{Commit: "c2"}, nil, nil
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("restored (-want +got):\n%s", d)
			}
		})
	}
}
