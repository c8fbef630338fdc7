package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestModes: what is in there tells an intruder where protection is weak.
func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "state", "ledger.db")
	l := mustOpen(t, path)
	must(t, l.Prove(t.Context(), "c1", nil, settled(deployment(1), "a")))
	want := map[string]os.FileMode{"ledger.db": 0o600, "ledger.db-checked": 0o600, "ledger.db-head": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	got := map[string]os.FileMode{}
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		got[e.Name()] = info.Mode().Perm()
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v %v", info.Mode(), err)
	}
}

// TestWritesOnlyWhatDiffers reads the rows and counts the pages: the same again
// must not grow the log by a byte, nor touch a time.
func TestWritesOnlyWhatDiffers(t *testing.T) {
	path, ctx := newPath(t), t.Context()
	l := mustOpen(t, path)
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	l.Now = func() time.Time { return clock }
	write := func(commit string, owned ...diff.Member) {
		t.Helper()
		err := errors.Join(l.Prove(ctx, commit, nil, append(settled(deployment(1), owned...), settled(deployment(2), "x")...)),
			l.NonConvergent(ctx, deployment(3), "f"), l.Roll(ctx, func(reconcile.Rollout) reconcile.Rollout { return rolling }),
			l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1", Size: guard.Size{Zones: 2}}))
		must(t, err)
	}
	write("c1", "a")
	before := snapshot(t, filepath.Dir(path))
	clock = clock.Add(time.Hour)
	write("c2", "a")
	if d := cmp.Diff(before, snapshot(t, filepath.Dir(path))); d != "" {
		t.Error("writing the same again changed the files")
	}
	write("c3")
	want := []string{`zone-1 c3 []`, `zone-2 c1 ["x"]`, "2026-03-01T11:00:00Z", "2026-03-01T11:00:00Z"}
	got := texts(t, l, `SELECT zone_id || ' ' || "commit" || ' ' || members FROM applied UNION ALL SELECT since FROM nonconvergent UNION ALL SELECT at FROM accepted`)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

func deployment(n int) diff.ID {
	return diff.ID{Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("zone-%d", n))), Ruleset: "ruleset"}
}

func settled(id diff.ID, owned ...diff.Member) []diff.Settled {
	return []diff.Settled{{ID: id, Owned: owned}}
}

// newPath is in a folder whose name must be escaped in a URI.
func newPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "50% of #1?", "ledger.db")
}

func mustOpen(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	must(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func mustRead(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := OpenReadOnly(path)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func mustExec(t testing.TB, l *Ledger, statement string, args ...any) {
	t.Helper()
	_, err := l.file.DB.Exec(statement, args...)
	must(t, err)
}

func wantRecord(t *testing.T, m reconcile.Records, want reconcile.Record) {
	t.Helper()
	got, err := m.Restore(t.Context())
	must(t, err)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("restored (-want +got):\n%s", d)
	}
}

// texts returns the first column of a query.
func texts(t *testing.T, l *Ledger, query string) []string {
	t.Helper()
	rows, err := l.file.DB.Query(query)
	must(t, err)
	defer rows.Close()
	var got []string
	for rows.Next() {
		var text string
		must(t, rows.Scan(&text))
		got = append(got, text)
	}
	return got
}

// snapshot returns what is in the files of a folder, but for the memory that
// processes share.
func snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	files := map[string]string{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".db-shm" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		must(t, err)
		files[e.Name()] = string(data)
	}
	return files
}

// What stands is what is in the file, whoever wrote it and whenever it was asked for last.
func TestStandingSeesEveryWrite(t *testing.T) {
	path := newPath(t)
	one, other := mustOpen(t, path), mustOpen(t, path)
	beside := mustRead(t, path)
	want := reconcile.Standing{}
	for n := range 20 {
		writer := one
		if n%3 == 0 {
			writer = other
		}
		want.Commit = fmt.Sprint("c", n)
		must(t, writer.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: want.Commit}))
		for _, l := range []*Ledger{one, other, beside} {
			for range n % 2 * 2 { // twice, or not at all
				got, err := l.Standing(t.Context())
				must(t, err)
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(reconcile.Standing{}, "Newest", "Said")); d != "" {
					t.Errorf("standing (-want +got):\n%s", d)
				}
			}
		}
	}
}
