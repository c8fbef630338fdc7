package ledger

import (
	"errors"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
)

// What one process counts for limits another must know of before it counts something itself; a file
// has one process that counts.
func TestTallyOverProcesses(t *testing.T) {
	url, key := pgtest.Database(t), newKey(t)
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
	for range 70 { // what counts no more is dropped: no commit was accepted
		must(t, count(a, "a", "5", known(a, 0)))
	}
	if list, err := a.Tallied(t.Context(), 0); err != nil || len(list) > 20 {
		t.Errorf("%d are kept, %v", len(list), err)
	}
}

// Each lease has a sweep of its own.
func TestSweptUnderLeases(t *testing.T) {
	l := connected(t, pgtest.Database(t), newKey(t))
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
