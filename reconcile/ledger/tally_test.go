package ledger

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What one process counts for limits another must know of before it counts something itself; a file
// has one process that counts.
func TestTallyOverProcesses(t *testing.T) {
	url, key := begun(t), newKey(t)
	a, b := connected(t, url, key), connected(t, url, key)
	now := time.Now()
	count := func(l *connection, by string, zone string, after int64) error {
		return l.Tally(t.Context(), reconcile.Count{Scope: edge.ZoneScope(edge.ZoneID(zone)), Commit: "c1", At: now, Weakens: true, By: by}, after, now.Add(-time.Hour))
	}
	known := func(l *connection, after int64) (last int64) {
		list, err := l.Tallied(t.Context(), after)
		must(t, err)
		for _, c := range list {
			last = c.Number
			if !c.At.Equal(now) || !c.Weakens || c.Commit != "c1" {
				t.Errorf("%+v", c)
			}
		}
		return last
	}
	must(t, count(a, "a", "1", 0))
	must(t, count(a, "a", "2", 0)) // its own need not be read
	if err := count(b, "b", "3", 0); !errors.Is(err, reconcile.ErrCounted) {
		t.Errorf("another process counts without knowing of that: %v", err)
	}
	at := known(b, 0)
	must(t, count(b, "b", "3", at))
	if err := count(a, "a", "4", 0); !errors.Is(err, reconcile.ErrCounted) {
		t.Errorf("the first counts without knowing of that: %v", err)
	}
	must(t, count(a, "a", "4", known(a, at)))
	drift := reconcile.Count{Scope: edge.ZoneScope("6"), At: now.Add(-2 * time.Hour), By: "a"}
	last := known(a, at)
	for range 70 { // what counts no more is dropped
		must(t, a.Tally(t.Context(), drift, last, now.Add(-time.Hour)))
	}
	if err := count(a, "a", "5", 1<<40); !errors.Is(err, reconcile.ErrCounted) {
		t.Errorf("a process that knows of more than there was ever counts, as after the database was put back: %v", err)
	}
	if list, err := a.Tallied(t.Context(), 0); err != nil || len(list) > 20 {
		t.Errorf("%d are kept, %v", len(list), err)
	}
}

// What a commit changes as a whole is counted once, for the commit that is accepted, and forgotten with
// all else that counts for it when another one is.
func TestCountedOverProcesses(t *testing.T) {
	url, key := begun(t), newKey(t)
	a, b := connected(t, url, key), connected(t, url, key)
	now := time.Now()
	zone := edge.ZoneScope("1")
	whole := reconcile.Count{Commit: "c1", At: now, By: "a", All: map[edge.Scope]bool{zone: true, edge.AccountScope("x"): false}, Read: []edge.Scope{zone}}
	if err := a.Counted(t.Context(), whole); !errors.Is(err, reconcile.ErrSuperseded) {
		t.Errorf("of a commit that is not accepted: %v", err)
	}
	must(t, a.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c1"}))
	must(t, a.Counted(t.Context(), reconcile.Count{Commit: "c1", At: now, By: "a", All: map[edge.Scope]bool{}}))
	must(t, a.Counted(t.Context(), whole))
	one := reconcile.Count{Scope: zone, Commit: "c1", At: now, By: "b"}
	if err := b.Tally(t.Context(), one, 0, now); !errors.Is(err, reconcile.ErrCounted) {
		t.Errorf("a zone counts without knowing of that: %v", err)
	}
	list, err := b.Tallied(t.Context(), 0)
	must(t, err)
	if len(list) != 1 || !maps.Equal(list[0].All, whole.All) || !slices.Equal(list[0].Read, whole.Read) || list[0].Commit != "c1" || list[0].By != "a" {
		t.Fatalf("%+v", list)
	}
	must(t, b.Tally(t.Context(), one, list[0].Number, now))
	for _, other := range []string{`{"a zone of another form": true}`, `{"read": []}`, `null`} { // it must not count as nothing
		_, err := a.Database().ExecContext(t.Context(), `UPDATE tally SET whole = $1 WHERE whole IS NOT NULL`, other)
		must(t, err)
		if list, err := b.Tallied(t.Context(), 0); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s is taken for %+v, %v", other, list, err)
		}
	}
	must(t, b.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c2"}))
	if list, err := a.Tallied(t.Context(), 0); err != nil || len(list) > 0 {
		t.Errorf("%+v counts for another commit, %v", list, err)
	}
}

// Each lease has a sweep of its own.
func TestSweptUnderLeases(t *testing.T) {
	l := connected(t, begun(t), newKey(t))
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	_, err := l.Database().ExecContext(t.Context(), `INSERT INTO lease (name, replica, epoch, since, expires_at, given_up) VALUES ('credential a', 'r', 3, now(), now(), false)`)
	must(t, err)
	ctx := reconcile.Under(t.Context(), reconcile.Lease{Name: "credential a", Epoch: 3})
	must(t, l.Swept(ctx, noon))
	must(t, l.Swept(ctx, noon.Add(time.Minute)))
	must(t, l.Swept(t.Context(), noon))
	if err := l.Swept(reconcile.Under(t.Context(), reconcile.Lease{Name: "credential a", Epoch: 2}), noon); !errors.Is(err, reconcile.ErrLeaseLost) {
		t.Errorf("under an earlier lease: %v", err)
	}
	record, err := l.Restore(t.Context())
	must(t, err)
	if at := record.SweptUnder["credential a"]; !at.Equal(noon.Add(time.Minute)) || !record.Swept.Equal(noon) || len(record.SweptUnder) != 1 {
		t.Errorf("swept %v, and %v under leases", record.Swept, record.SweptUnder)
	}
}
