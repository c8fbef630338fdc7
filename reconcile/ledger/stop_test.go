package ledger

import (
	"errors"
	"reflect"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// stopped is a ledger whose commit c1 gave zones a declaration, and a hold that stops it in
// the first of them.
func stopped(t *testing.T, rollout reconcile.Rollout) (*Ledger, diff.Hold) {
	t.Helper()
	l := mustOpen(t, newPath(t))
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{
		Commit: "c1", Declared: func(edge.Scope) string { return "d1" }, Given: []edge.Scope{edge.ZoneScope("z1"), edge.ZoneScope("z2")}, Rollout: &rollout,
	}))
	return l, diff.Hold{Zone: "shop", Scope: edge.ZoneScope("z1"), Declaration: "d1", Commit: "c1", Reason: "revert of commit c1 (kim)"}
}

// A declaration that was stopped is not recorded as about to be written, by no process and
// whatever it read before; another declaration of the zone, another zone, and what a revert
// puts back are.
func TestStoppedDeclarationIsNotWritten(t *testing.T) {
	l, hold := stopped(t, reconcile.Rollout{})
	order := reconcile.Entry{Kind: reconcile.EntryDecision, Action: reconcile.ActionRevert}
	if err := l.Stop(t.Context(), "c0", []diff.Hold{hold}, noApproval, order); !errors.Is(err, reconcile.ErrSuperseded) {
		t.Errorf("stopped while another commit is accepted: %v", err)
	}
	write := wrote("z1")
	write.Declaration, write.Trigger, write.Asked.Commit = "d1", reconcile.TriggerSync, "c1"
	_, err := l.RecordWrite(t.Context(), write, nil)
	must(t, err)
	must(t, l.Stop(t.Context(), "c1", []diff.Hold{hold}, noApproval, order))
	for name, c := range map[string]struct {
		change func(*reconcile.Entry)
		held   bool
	}{
		"a commit":              {func(*reconcile.Entry) {}, true},
		"an apply":              {func(e *reconcile.Entry) { e.Trigger = reconcile.TriggerManual }, true},
		"drift":                 {func(e *reconcile.Entry) { e.Trigger = reconcile.TriggerSweep }, true},
		"a revert":              {func(e *reconcile.Entry) { e.Trigger = reconcile.TriggerRevert }, false},
		"another declaration":   {func(e *reconcile.Entry) { e.Declaration = "d2" }, false},
		"another zone":          {func(e *reconcile.Entry) { e.Subject.Scope = edge.ZoneScope("z2") }, false},
		"no declaration at all": {func(e *reconcile.Entry) { e.Declaration = "" }, false},
	} {
		e := write
		c.change(&e)
		_, err := l.RecordWrite(t.Context(), e, settled(deployment(1), "m"))
		var held *reconcile.HeldError
		if errors.As(err, &held) != c.held || !c.held && err != nil {
			t.Errorf("%s: %v, to be held: %v", name, err, c.held)
		}
	}
	if _, err := l.Release(t.Context(), "shop", noon); err != nil {
		t.Fatal(err)
	}
	if _, err := l.RecordWrite(t.Context(), write, nil); err != nil {
		t.Errorf("after its hold was released: %v", err)
	}
}

// A rollout is over with the last of its zones that waits, and goes on with the others.
func TestStoppedZonesLeaveTheWaves(t *testing.T) {
	for name, c := range map[string]struct {
		zones map[edge.Scope]reconcile.RolloutZone
		want  reconcile.Rollout
	}{
		"the last that waits": {
			map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("z1"): {Wave: 2}, edge.ZoneScope("z2"): {Wave: 1, Outcome: reconcile.ZoneDone}}, reconcile.Rollout{Commit: "c1"},
		},
		"others wait": {
			map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("z1"): {Wave: 1}, edge.ZoneScope("z2"): {Wave: 2}},
			reconcile.Rollout{Commit: "c1", Wave: 1, Halted: "why", Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("z2"): {Wave: 2}}},
		},
	} {
		l, hold := stopped(t, reconcile.Rollout{Commit: "c1", Wave: 1, Halted: "why", Zones: c.zones})
		must(t, l.Stop(t.Context(), "c1", []diff.Hold{hold}, noApproval, reconcile.Entry{}))
		record, err := l.Restore(t.Context())
		must(t, err)
		if !record.Rollout.Equal(c.want) {
			t.Errorf("%s: %+v, want %+v", name, record.Rollout, c.want)
		}
	}
}

// The commit that first gave a zone its declaration stays the one that gave it; a zone whose
// id is found later takes that with it, and its hold.
func TestWhoGaveADeclaration(t *testing.T) {
	l, hold := stopped(t, reconcile.Rollout{})
	must(t, l.Stop(t.Context(), "c1", []diff.Hold{hold}, noApproval, reconcile.Entry{}))
	declares := func(all map[edge.Scope]string) func(edge.Scope) string {
		return func(id edge.Scope) string { return all[id] }
	}
	want := func(want map[edge.Scope]reconcile.Given) {
		t.Helper()
		got, err := l.Given(t.Context())
		must(t, err)
		if len(got) != len(want) {
			t.Errorf("%v, want %v", got, want)
		}
		for id, g := range want {
			if got[id] != g {
				t.Errorf("zone %s: %v, want %v", id, got[id], g)
			}
		}
	}
	want(map[edge.Scope]reconcile.Given{edge.ZoneScope("z1"): {Commit: "c1", Declaration: "d1"}, edge.ZoneScope("z2"): {Commit: "c1", Declaration: "d1"}})
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{
		Commit: "c2", Declared: declares(map[edge.Scope]string{edge.ZoneScope("z1"): "d1", edge.ZoneScope("z2"): "d2"}), Given: []edge.Scope{edge.ZoneScope("z1"), edge.ZoneScope("z2")},
	}))
	want(map[edge.Scope]reconcile.Given{edge.ZoneScope("z1"): {Commit: "c1", Declaration: "d1"}, edge.ZoneScope("z2"): {Commit: "c2", Declaration: "d2"}})
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{
		Commit: "c2", Declared: declares(map[edge.Scope]string{edge.ZoneScope("z9"): "d1", edge.ZoneScope("z2"): "d2"}), Given: []edge.Scope{edge.ZoneScope("z9")},
		Renamed: map[edge.Scope]edge.Scope{edge.ZoneScope("z1"): edge.ZoneScope("z9")}, Gone: []edge.Scope{edge.ZoneScope("z1")},
	}))
	want(map[edge.Scope]reconcile.Given{edge.ZoneScope("z9"): {Commit: "c1", Declaration: "d1"}, edge.ZoneScope("z2"): {Commit: "c2", Declaration: "d2"}})
	hold.Scope = edge.ZoneScope("z9")
	if standing, err := l.Standing(t.Context()); err != nil || len(standing.Holds) != 1 || !reflect.DeepEqual(standing.Holds[0], hold) {
		t.Errorf("holds %+v, %v", standing.Holds, err)
	}
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c3", Declared: declares(nil), Gone: []edge.Scope{edge.ZoneScope("z9")}}))
	want(map[edge.Scope]reconcile.Given{edge.ZoneScope("z2"): {Commit: "c2", Declaration: "d2"}})
}

// A hold that a revert sets is about the accepted commit. The history says that it ended with
// a commit that declares its zone otherwise; people and reverts end it, too.
func TestHoldOfARevert(t *testing.T) {
	l := mustOpen(t, newPath(t))
	hold := diff.Hold{Zone: "shop", Scope: edge.ZoneScope("z1"), Declaration: "d1", Commit: "c1", Reason: "bad"}
	write := wrote("shop")
	write.Trigger, write.Asked.Commit = reconcile.TriggerRevert, "c1"
	set := func() {
		t.Helper()
		_, err := l.RecordRevert(t.Context(), hold, write, settled(deployment(1), "m"))
		must(t, err)
	}
	wantNone := func() {
		t.Helper()
		standing, err := l.Standing(t.Context())
		must(t, err)
		if len(standing.Holds) > 0 {
			t.Errorf("holds %+v, want none", standing.Holds)
		}
	}
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c1"}))
	stale := hold
	stale.Commit = "c0"
	if _, err := l.RecordRevert(t.Context(), stale, write, nil); !errors.Is(err, reconcile.ErrSuperseded) {
		t.Errorf("a hold that depends on another commit: %v", err)
	}
	set()
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c3", Declared: func(edge.Scope) string { return "d2" }}))
	wantNone()
	all := entries(t, l, reconcile.HistoryFilter{Zone: "shop"})
	if last := all[len(all)-1]; last.Action != reconcile.ActionRelease || last.Asked.Commit != "c3" {
		t.Errorf("the last entry is %+v", last)
	}
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c1"}))
	set()
	if held, err := l.Release(t.Context(), "shop", noon); err != nil || !held {
		t.Errorf("released by hand: %v, %v", held, err)
	}
	wantNone()
	set()
	must(t, l.DropRevert(t.Context(), []edge.Scope{edge.ZoneScope("z1"), edge.ZoneScope("unknown")}))
	wantNone()
}

// What a revert of an earlier version holds is told as what one of this version does.
func TestMigrationOfReverts(t *testing.T) {
	path := ofVersion(t, store.FirstVersion+4)
	tampered(t, path, `INSERT INTO reverted VALUES ('z1', 'shop', 'd1', '0123456789abcdef', 'kim@vm reverts commit 1a2b3c4', 'kim@vm', NULL)`,
		`INSERT INTO proved (zone_id, fingerprint, labels, "commit") VALUES ('z1', 'd1', '{}', 'c1')`)
	l := mustOpen(t, path)
	record, err := l.Restore(t.Context())
	must(t, err)
	const want = "put back by revert of commit 1a2b3c4 (kim@vm), until a new commit changes the zone"
	if len(record.Holds) != 1 || record.Holds[0].String() != want || record.Proofs[edge.ZoneScope("z1")].Earlier != "" {
		t.Errorf("holds %v, proofs %+v", record.Holds, record.Proofs)
	}
}

func noApproval(reconcile.Approval) bool { return false }
