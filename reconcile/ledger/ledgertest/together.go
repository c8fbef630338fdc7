package ledgertest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// testBeside: what one process writes another one sees with its next look, and both go on
// from there.
func testBeside(t *testing.T, f Fixture) {
	if f.Beside == nil {
		t.Skip("nobody is beside this store")
	}
	ctx, here, there := t.Context(), f.Store, f.Beside(t)
	var want reconcile.Record
	both := func() {
		t.Helper()
		check(t, here, want)
		check(t, there, want)
	}
	both()
	for n := range 5 {
		here, there = there, here
		commit := strconv.Itoa(n)
		want.Accepted = accepted(commit)
		must(t, here.AcceptCommit(ctx, reconcile.Acceptance{Commit: commit}))
		both()
		want.Approvals = append(want.Approvals, said(commit, "kim"))
		must(t, there.Approve(ctx, []reconcile.Approval{said(commit, "kim")}))
		both()
		want.Rollout = reconcile.Rollout{Commit: commit, Wave: n + 1}
		must(t, here.Roll(ctx, func(reconcile.Rollout) reconcile.Rollout { return want.Rollout }))
		both()
		want.Drifts = append(want.Drifts, reconcile.Drift{Scope: edge.ZoneScope("z1"), At: noon.Add(time.Duration(n))})
		must(t, there.Drifted(ctx, want.Drifts[n:], noon))
		both()
	}
	must(t, there.Spend(ctx, []string{"0", "1", "2", "3", "4"}))
	want.Approvals = nil
	both()
}

// testWhole: an acceptance is seen with all that goes with it, or not at all.
func testWhole(t *testing.T, f Fixture) {
	ctx := t.Context()
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					wantWhole(t, f.Store)
				}
			}
		})
	}
	for n := 1; n <= 30; n++ {
		commit := strconv.Itoa(n)
		must(t, f.Store.AcceptCommit(ctx, reconcile.Acceptance{
			Commit: commit, Size: guard.Size{Zones: n}, State: []byte(commit), Rollout: &reconcile.Rollout{Commit: commit, Wave: n},
			Approvals: []reconcile.Approval{said(commit, "kim")}, Gone: []edge.Scope{zone(n - 1)},
		}))
		// The zone of the number is what only this commit has.
		must(t, f.Store.Prove(ctx, commit, []reconcile.Proof{proof(zone(n), commit, commit, nil)}, owns(diff.ID{Scope: zone(n), Ruleset: "r"})))
	}
	close(done)
	readers.Wait()
}

func zone(n int) edge.Scope { return edge.ZoneScope(edge.ZoneID("zone-" + strconv.Itoa(n))) }

func wantWhole(t *testing.T, s Store) {
	r, err := s.Restore(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	n := r.Accepted.Size.Zones
	if r.Accepted.Commit != "" && r.Accepted.Commit != strconv.Itoa(n) || string(r.Accepted.State) != r.Accepted.Commit ||
		r.Rollout.Commit != r.Accepted.Commit || r.Rollout.Wave != n || len(r.Approvals) != n || len(r.Proofs) != len(r.Applied) || len(r.Proofs) > 1 {
		t.Errorf("half of commit %q is on record: %+v", r.Accepted.Commit, r)
	}
	standing, err := s.Standing(t.Context())
	if err != nil || standing.RolloutCommit != standing.Commit || strconv.Itoa(len(standing.Approvals)) != standing.Commit && standing.Commit != "" {
		t.Errorf("half of commit %q stands: %+v, %v", standing.Commit, standing, err)
	}
}

// testAtOnce: workers on zones of their own, and on one that all share, lose nothing of
// each other's.
func testAtOnce(t *testing.T, f Fixture) {
	const workers, zones = 16, 10
	ctx := context.WithoutCancel(t.Context())
	want := reconcile.Record{Accepted: accepted("c1"), Applied: diff.Applied{}, NonConvergent: map[diff.ID]string{}, Proofs: proofs()}
	must(t, f.Store.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"}))
	var all sync.WaitGroup
	for w := range workers {
		member := diff.Member(fmt.Sprint("m-", w))
		want.Applied[first] = append(want.Applied[first], member)
		want.Drifts = append(want.Drifts, reconcile.Drift{Scope: edge.ZoneScope("z1"), At: noon.Add(time.Duration(w)), Weakens: w%2 == 0})
		for i := range zones {
			id := diff.ID{Scope: zone(w*zones + i), Ruleset: "r"}
			want.Applied[id], want.NonConvergent[id] = []diff.Member{"b"}, "n"
			want.Proofs[id.Scope] = proof(id.Scope, "f", "c1", gold)
		}
		all.Go(func() {
			for i := range zones {
				id := diff.ID{Scope: zone(w*zones + i), Ruleset: "r"}
				for _, err := range []error{
					f.Store.Widen(ctx, append(owns(id, "a", "b"), owns(first, member)...)),
					f.Store.Drifted(ctx, []reconcile.Drift{{Scope: edge.ZoneScope("z1"), At: noon.Add(time.Duration(w)), Weakens: w%2 == 0}}, noon),
					f.Store.Prove(ctx, "c1", []reconcile.Proof{proof(id.Scope, "f", "c1", gold)}, owns(id, "b")),
					f.Store.NonConvergent(ctx, id, "n"),
				} {
					if err != nil {
						t.Error(err)
					}
				}
				if _, err := f.Store.Standing(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	checkKept(t, f, want)
}
