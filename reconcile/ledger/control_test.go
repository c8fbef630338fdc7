package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// rolling is a rollout with a zone of every outcome.
var rolling = reconcile.Rollout{
	Commit: "c1", Wave: 2, Since: noon, Halted: "1 of 2 failed",
	Zones: map[edge.Scope]reconcile.RolloutZone{
		edge.ZoneScope("z1"): {Wave: 1, Outcome: reconcile.ZoneDone}, edge.ZoneScope("z2"): {Wave: 1, Outcome: reconcile.ZoneSkipped},
		edge.ZoneScope("z3"): {Wave: 1, Outcome: reconcile.ZoneAccepted}, edge.ZoneScope("z4"): {Wave: 2, Outcome: reconcile.ZoneFailed},
		edge.ZoneScope("z5"): {Wave: 2, Outcome: reconcile.ZoneNonConvergent}, edge.ZoneScope("z6"): {Wave: 3, Outcome: reconcile.ZonePending},
	},
}

func TestHolds(t *testing.T) {
	path, ctx := newPath(t), t.Context()
	l := mustOpen(t, path)
	l.Now = func() time.Time { return noon }
	one, two := diff.Hold{Zone: "one", Until: noon.Add(time.Hour), Reason: "INC-1"}, diff.Hold{Zone: "two", Until: noon.Add(2 * time.Hour), Reason: "INC-2"}
	daemon := mustOpen(t, path) // a daemon has the file open, and the lock of the tokens
	mustLock(t, daemon)
	must(t, errors.Join(l.Hold(ctx, two, "kim"), l.Hold(ctx, one, "kim")))
	wantRecord(t, daemon, reconcile.Record{Holds: []diff.Hold{one, two}})
	one.Reason, one.Until = "INC-3", noon.Add(3*time.Hour)
	must(t, l.Hold(ctx, one, "lee"))
	wantRecord(t, daemon, reconcile.Record{Holds: []diff.Hold{one, two}})
	if d := cmp.Diff([]string{"lee 2026-03-02T12:00:00Z", "kim 2026-03-02T12:00:00Z"}, texts(t, l, `SELECT who || ' ' || at FROM hold ORDER BY zone`)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	for _, step := range []struct {
		zone string
		at   time.Time
		held bool
		left []diff.Hold
	}{
		{"three", noon, false, []diff.Hold{one, two}},
		{"one", noon, true, []diff.Hold{two}},
		{"one", noon, false, []diff.Hold{two}},
		{"two", two.Until, false, nil}, // over, and gone with it
	} {
		held, err := l.Release(ctx, step.zone, step.at)
		if err != nil || held != step.held {
			t.Errorf("%s at %s: held %v, %v", step.zone, step.at, held, err)
		}
		wantRecord(t, daemon, reconcile.Record{Holds: step.left})
	}
}

// TestApprovalsAreKept: who let what pass is on record after it was used.
func TestApprovalsAreKept(t *testing.T) {
	l, ctx := mustOpen(t, newPath(t)), t.Context()
	l.Now = func() time.Time { return noon.Add(time.Hour) }
	must(t, l.Approve(ctx, []reconcile.Approval{
		{Digest: "a", Kind: reconcile.Approved, Who: "kim", At: noon},
		{Digest: "freezes.f", Kind: reconcile.Overridden, Who: "lee", Reason: "INC-1", At: noon},
	}))
	must(t, l.Spend(ctx, []string{"a"}))
	want := []string{"a approval kim  2026-03-02T12:00:00Z 0 2026-03-02T13:00:00Z", "freezes.f override lee INC-1 2026-03-02T12:00:00Z 0 -"}
	got := texts(t, l, `SELECT digest || ' ' || kind || ' ' || who || ' ' || reason || ' ' || at || ' ' || counts || ' ' || coalesce(spent, '-') FROM approval ORDER BY seq`)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// TestRollingTogether: two processes that note what they saw lose nothing of each
// other's.
func TestRollingTogether(t *testing.T) {
	path := newPath(t)
	first, second := mustOpen(t, path), mustOpen(t, path)
	must(t, first.Roll(t.Context(), func(reconcile.Rollout) reconcile.Rollout { return reconcile.Rollout{Commit: "c"} }))
	var wg sync.WaitGroup
	for n, l := range []*Ledger{first, second} {
		wg.Go(func() {
			for i := range 20 {
				err := l.Roll(context.Background(), func(o reconcile.Rollout) reconcile.Rollout {
					zones := map[edge.Scope]reconcile.RolloutZone{}
					for id, z := range o.Zones {
						zones[id] = z
					}
					zones[edge.ZoneScope(edge.ZoneID(fmt.Sprint(n, "-", i)))] = reconcile.RolloutZone{Wave: 1}
					o.Zones = zones
					return o
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := first.Restore(t.Context())
	if err != nil || len(got.Rollout.Zones) != 40 {
		t.Errorf("%d zones, want 40: %v", len(got.Rollout.Zones), err)
	}
}
