package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestReadOnlyOfNothing(t *testing.T) {
	path := newPath(t)
	l := mustRead(t, path)
	wantRecord(t, l, reconcile.Record{})
	record, restored := l.Restore(t.Context())
	standing, stands := l.Standing(t.Context())
	must(t, errors.Join(restored, stands))
	if d := cmp.Diff(reconcile.Record{}, record) + cmp.Diff(reconcile.Standing{}, standing); d != "" {
		t.Errorf("restored:\n%s", d)
	}
	wantFaults(t, l)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("something was created: %v", err)
	}
}

// TestReadOnlyNeverWrites: not to a ledger that rests, and not to one that is
// written to meanwhile.
func TestReadOnlyNeverWrites(t *testing.T) {
	path := newPath(t)
	fill(t, path)
	for _, name := range []string{"at rest", "beside a writer"} {
		t.Run(name, func(t *testing.T) {
			want := 200
			if name != "at rest" {
				w := mustOpen(t, path)
				must(t, w.Prove(t.Context(), "c1", nil, fleet(201)))
				want = 201
			}
			before := snapshot(t, filepath.Dir(path))
			l := mustRead(t, path)
			got, err := l.Restore(t.Context())
			if err != nil || len(got.Applied) != want {
				t.Errorf("%d rows (%v), want %d", len(got.Applied), err, want)
			}
			wantFaults(t, l)
			if _, err := l.file.DB.Exec(`DELETE FROM applied`); err == nil {
				t.Error("even SQLite lets it write")
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			after := snapshot(t, filepath.Dir(path))
			if after["ledger.db-wal"] == "" { // an empty log is none
				delete(after, "ledger.db-wal")
			}
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("files (-before +after):\n%.400s", d)
			}
		})
	}
}

// wantFaults: every method that writes is refused.
func wantFaults(t *testing.T, l *Ledger) {
	t.Helper()
	_, released := l.Release(t.Context(), "z", noon)
	for _, err := range []error{
		l.Hold(t.Context(), diff.Hold{}, ""), released, l.Approve(t.Context(), nil), l.Spend(t.Context(), nil), l.Roll(t.Context(), reconcile.Rollout.Resumed),
		l.Prove(t.Context(), "c", nil, fleet(1)), l.NonConvergent(t.Context(), deployment(1), "f"), l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c", Size: guard.Size{}}),
		l.Forget(t.Context(), []diff.ID{deployment(1)}), l.Prove(t.Context(), "c", nil, nil), l.Widen(t.Context(), nil), l.Drifted(t.Context(), nil, noon),
	} {
		wantFault(t, err, ErrReadOnly, "")
	}
}
