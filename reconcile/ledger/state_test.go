package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/reconcile"
)

// A commit that changes one zone writes one part of what is declared, in any fleet: with the names
// of all parts, and without the part that it replaces.
func TestOneChangedPartIsWritten(t *testing.T) {
	t.Parallel()
	for _, zones := range []int{100, 1000, 10_000} {
		l := mustOpen(t, newPath(t))
		changes := func() (n int) {
			t.Helper()
			must(t, l.file.DB.QueryRowContext(t.Context(), `SELECT total_changes()`).Scan(&n))
			return n
		}
		parts := partsOf(zones)
		for n, commit := range []string{"c0", "c1", "c2"} {
			must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: commit}))
			if n > 0 {
				parts[n] = reconcile.PartOf([]byte(commit))
			}
			before := changes()
			must(t, l.SaveState(t.Context(), commit, parts))
			if got := changes() - before; n > 0 && got != 3 {
				t.Errorf("one part of %d zones: %d rows were changed, want 3", zones, got)
			}
			before = changes()
			must(t, l.SaveState(t.Context(), commit, parts))
			if got := changes() - before; got != 0 {
				t.Errorf("what is on record: %d rows were changed", got)
			}
			record, err := l.Restore(t.Context())
			must(t, err)
			if !bytes.Equal(record.Accepted.State, reconcile.Joined(parts)) {
				t.Errorf("of %d zones another state is on record", zones)
			}
		}
	}
}

// A state is in parts or whole, whichever was said last, and parts of no use go with the next one
// in parts.
func TestStateInPartsAndWhole(t *testing.T) {
	t.Parallel()
	l := mustOpen(t, newPath(t))
	part := func(text string) reconcile.StatePart { return reconcile.PartOf([]byte(text)) }
	want := func(state string, parts int) {
		t.Helper()
		record, err := l.Restore(t.Context())
		var n int
		must(t, errors.Join(err, l.file.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM state_part`).Scan(&n)))
		if string(record.Accepted.State) != state || n != parts {
			t.Errorf("%q in %d parts, want %q in %d", record.Accepted.State, n, state, parts)
		}
	}
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "a"}))
	must(t, l.SaveState(t.Context(), "a", []reconcile.StatePart{part("x"), part("y"), part("x")}))
	want("xyx", 2)
	must(t, l.SaveState(t.Context(), "other", []reconcile.StatePart{part("z")})) // too late
	want("xyx", 2)
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "b"}))
	want("", 2)
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "b", State: []byte("whole")}))
	want("whole", 2)
	must(t, l.SaveState(t.Context(), "b", []reconcile.StatePart{part("y"), part("w")}))
	want("yw", 2)
}

// A part that is missing, or is not what its name says, fails all: half of what is declared would
// pass for what has left the repository.
func TestPartThatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, harm := range []string{
		`DELETE FROM state_part WHERE number = 2`, `UPDATE state_part SET data = x'00' WHERE number = 2`,
		`UPDATE accepted SET state = substr(state, 1, length(state) - 1)`,
	} {
		l := mustOpen(t, newPath(t))
		must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "a"}))
		var parts []reconcile.StatePart
		for i := range 3 {
			parts = append(parts, reconcile.PartOf(fmt.Append(nil, i)))
		}
		must(t, errors.Join(l.SaveState(t.Context(), "a", parts), l.file.Exec(t.Context(), harm)))
		var damaged *Error
		if _, err := l.Restore(t.Context()); !errors.As(err, &damaged) || damaged.Kind != ErrDamaged {
			t.Errorf("after %s: %v", harm, err)
		}
	}
}

// Parts are read one by one: harm to one of them is no harm to the others.
func TestPartsAreReadOneByOne(t *testing.T) {
	t.Parallel()
	l := mustOpen(t, newPath(t))
	counts := func(want int) {
		t.Helper()
		must(t, l.StateParts(t.Context(), func(got reconcile.StateParts) error {
			if got.Count != want {
				t.Errorf("%d parts, want %d", got.Count, want)
			}
			return nil
		}))
	}
	counts(0)
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "a", State: []byte("whole")}))
	counts(0)
	parts := []reconcile.StatePart{reconcile.PartOf([]byte("x")), reconcile.PartOf([]byte("y")), reconcile.PartOf([]byte("x")), reconcile.PartOf([]byte("z"))}
	must(t, errors.Join(l.SaveState(t.Context(), "a", parts),
		l.file.Exec(t.Context(), `UPDATE state_part SET data = x'00' WHERE data = $1`, []byte("y")),
		l.file.Exec(t.Context(), `DELETE FROM state_part WHERE data = $1`, []byte("z"))))
	must(t, l.StateParts(t.Context(), func(got reconcile.StateParts) error {
		for n, part := range parts {
			data, err := got.Read(n)
			whole := n == 0 || n == 2
			if damaged, ok := errors.AsType[*Error](err); whole && (err != nil || string(data) != "x") || !whole && (!ok || damaged.Kind != ErrDamaged) {
				t.Errorf("part %d, %q: %q, %v", n, part.Data, data, err)
			}
		}
		if got.Commit != "a" || got.Count != len(parts) {
			t.Errorf("%d parts of commit %q", got.Count, got.Commit)
		}
		return nil
	}))
	must(t, l.file.Exec(t.Context(), `UPDATE accepted SET state = substr(state, 1, length(state) - 1)`))
	counts(0)
}
