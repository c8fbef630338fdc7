package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestMemories(t *testing.T) {
	t.Run("Forgetful", func(t *testing.T) {
		testMemory(t, func(*testing.T) reconcile.Memory { return &reconcile.Forgetful{} })
	})
	t.Run("Ledger", func(t *testing.T) {
		testMemory(t, func(t *testing.T) reconcile.Memory { return mustOpen(t, newPath(t)) })
	})
}

// testMemory holds a memory to what reconcile.Memory promises, from easy to
// nasty. empty returns one that has seen nothing.
func testMemory(t *testing.T, empty func(*testing.T) reconcile.Memory) {
	ctx := t.Context()
	first, second := deployment(1), deployment(2)
	steps := map[string]struct {
		do   func(reconcile.Memory) error
		want reconcile.Recollection
	}{
		"nothing": {func(reconcile.Memory) error { return nil }, reconcile.Recollection{}},
		"settle": {
			func(m reconcile.Memory) error { return m.Settle(ctx, "c1", settled(first, "a", "b")) },
			reconcile.Recollection{Applied: diff.Applied{first: {"a", "b"}}},
		},
		"settle again keeps what is not named": {
			func(m reconcile.Memory) error {
				return errors.Join(m.Settle(ctx, "c1", append(settled(first, "a"), settled(second, "b")...)),
					m.Settle(ctx, "c2", settled(first, "c", "d")))
			},
			reconcile.Recollection{Applied: diff.Applied{first: {"c", "d"}, second: {"b"}}},
		},
		"settle owning nothing is remembered": {
			func(m reconcile.Memory) error {
				return errors.Join(m.Settle(ctx, "c1", settled(first, "a")), m.Settle(ctx, "c2", settled(first)))
			},
			reconcile.Recollection{Applied: diff.Applied{first: {}}},
		},
		"settle nothing": {
			func(m reconcile.Memory) error { return m.Settle(ctx, "c1", nil) }, reconcile.Recollection{},
		},
		"members are kept to the letter": {
			func(m reconcile.Memory) error { return m.Settle(ctx, "", settled(first, nasty...)) },
			reconcile.Recollection{Applied: diff.Applied{first: nasty}},
		},
		"the last fingerprint counts": {
			func(m reconcile.Memory) error {
				return errors.Join(m.NonConvergent(ctx, first, "f1"), m.NonConvergent(ctx, first, "f2"), m.NonConvergent(ctx, second, "f1"))
			},
			reconcile.Recollection{NonConvergent: map[diff.DeploymentID]string{first: "f2", second: "f1"}},
		},
		"settle forgives only what is named, changed or not": {
			func(m reconcile.Memory) error {
				return errors.Join(m.Settle(ctx, "c1", settled(first, "a")), m.NonConvergent(ctx, first, "f1"), m.NonConvergent(ctx, second, "f1"),
					m.Settle(ctx, "c1", settled(first, "a")))
			},
			reconcile.Recollection{Applied: diff.Applied{first: {"a"}}, NonConvergent: map[diff.DeploymentID]string{second: "f1"}},
		},
		"forget drops everything about what is named, known or not": {
			func(m reconcile.Memory) error {
				return errors.Join(m.Settle(ctx, "c1", append(settled(first, "a"), settled(second, "b")...)),
					m.NonConvergent(ctx, first, "f1"), m.NonConvergent(ctx, deployment(3), "f1"),
					m.NonConvergent(ctx, deployment(4), "f1"), m.Accept(ctx, "c1", diff.Size{Zones: 3}),
					m.Forget(ctx, []diff.DeploymentID{first, deployment(3), deployment(9), {Zone: second.Zone, Ruleset: "other"}}))
			},
			reconcile.Recollection{
				Applied:       diff.Applied{second: {"b"}},
				NonConvergent: map[diff.DeploymentID]string{deployment(4): "f1"},
				Size:          diff.Size{Zones: 3},
			},
		},
		"forget nothing": {
			func(m reconcile.Memory) error { return m.Forget(ctx, nil) }, reconcile.Recollection{},
		},
		"the last size counts": {
			func(m reconcile.Memory) error {
				return errors.Join(m.Accept(ctx, "c1", diff.Size{Zones: 9, Deployments: 12}), m.Accept(ctx, "c1", diff.Size{Zones: 9, Deployments: 11}))
			},
			reconcile.Recollection{Size: diff.Size{Zones: 9, Deployments: 11}},
		},
		"the last cursor counts": {
			func(m reconcile.Memory) error {
				return errors.Join(m.Keep(ctx, reconcile.Cursor{Commit: "c1", Phase: 1, At: noon}), m.Keep(ctx, reconcile.Cursor{Phase: 1 << 63, At: noon}))
			},
			reconcile.Recollection{Cursor: reconcile.Cursor{Phase: 1 << 63, At: noon}},
		},
		"tokens alone are another size": {
			func(m reconcile.Memory) error {
				return errors.Join(m.Accept(ctx, "c1", diff.Size{Zones: 9, Tokens: 3}), m.Accept(ctx, "c1", diff.Size{Zones: 9, Tokens: 2}))
			},
			reconcile.Recollection{Size: diff.Size{Zones: 9, Tokens: 2}},
		},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			m := empty(t)
			if err := step.do(m); err != nil {
				t.Fatal(err)
			}
			wantRecall(t, m, step.want)
		})
	}
	t.Run("a recollection is the caller's own", func(t *testing.T) {
		m := empty(t)
		if err := m.Settle(ctx, "c1", settled(first, "a")); err != nil {
			t.Fatal(err)
		}
		got, err := m.Recall(ctx)
		if err != nil {
			t.Fatal(err)
		}
		delete(got.Applied, first)
		wantRecall(t, m, reconcile.Recollection{Applied: diff.Applied{first: {"a"}}})
	})
}

var nasty = []diff.Member{`overrides.categories["paranoia-level-3"].enabled`, `<&>'"\`, "ü\u2028\n", ""}

func TestSurvivesReopening(t *testing.T) {
	path, ctx := newPath(t), t.Context()
	l := mustOpen(t, path)
	err := errors.Join(l.Settle(ctx, "c1", settled(deployment(1), "a")), l.NonConvergent(ctx, deployment(2), "f"),
		l.Accept(ctx, "c1", diff.Size{Zones: 1, Deployments: 2}), l.Close())
	if err != nil {
		t.Fatal(err)
	}
	wantRecall(t, mustOpen(t, path), reconcile.Recollection{
		Applied:       diff.Applied{deployment(1): {"a"}},
		NonConvergent: map[diff.DeploymentID]string{deployment(2): "f"},
		Size:          diff.Size{Zones: 1, Deployments: 2},
	})
}

// TestModes: what is in there tells an intruder where protection is weak.
func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "state", "ledger.db")
	l := mustOpen(t, path)
	if err := l.Settle(t.Context(), "c1", settled(deployment(1), "a")); err != nil {
		t.Fatal(err)
	}
	want := map[string]os.FileMode{"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]os.FileMode{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
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
		err := errors.Join(l.Settle(ctx, commit, append(settled(deployment(1), owned...), settled(deployment(2), "x")...)),
			l.NonConvergent(ctx, deployment(3), "f"), l.Accept(ctx, "c1", diff.Size{Zones: 2}))
		if err != nil {
			t.Fatal(err)
		}
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

// TestWritesAreWhole: a transaction that cannot end leaves nothing behind.
func TestWritesAreWhole(t *testing.T) {
	l := mustOpen(t, newPath(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Settle(ctx, "c1", settled(deployment(1), "a")); err == nil {
		t.Error("settling with a context that has ended succeeded")
	}
	if _, err := l.db.Exec(`CREATE TRIGGER t BEFORE INSERT ON applied WHEN NEW.zone_id = 'zone-2' BEGIN SELECT RAISE(FAIL, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	if err := l.Settle(t.Context(), "c1", append(settled(deployment(1), "a"), settled(deployment(2), "a")...)); err == nil {
		t.Error("settling a row that is refused succeeded")
	}
	wantRecall(t, l, reconcile.Recollection{})
}

func deployment(n int) diff.DeploymentID {
	return diff.DeploymentID{Zone: edge.ZoneID(fmt.Sprintf("zone-%d", n)), Ruleset: "ruleset"}
}

func settled(id diff.DeploymentID, owned ...diff.Member) []diff.Settled {
	return []diff.Settled{{ID: id, Owned: owned}}
}

// newPath is in a folder whose name must be escaped in a URI.
func newPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "50% of #1?", "ledger.db")
}

func mustOpen(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func wantRecall(t *testing.T, m reconcile.Memory, want reconcile.Recollection) {
	t.Helper()
	got, err := m.Recall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("recalled (-want +got):\n%s", d)
	}
}

// texts returns the first column of a query.
func texts(t *testing.T, l *Ledger, query string) []string {
	t.Helper()
	rows, err := l.db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	return got
}

// snapshot returns what is in the files of a folder, but for the memory that
// processes share.
func snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".db-shm" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// What is remembered is what is in the file, whoever wrote it and whenever it was
// asked for last.
func TestRecallSeesEveryWrite(t *testing.T) {
	path := newPath(t)
	one, other := mustOpen(t, path), mustOpen(t, path)
	beside, err := OpenReadOnly(path)
	must(t, err)
	t.Cleanup(func() { _ = beside.Close() })
	want := reconcile.Recollection{}
	for n := range 20 {
		writer := one
		if n%3 == 0 {
			writer = other
		}
		want.Size.Zones = n + 1
		must(t, writer.Accept(t.Context(), "c1", want.Size))
		for _, l := range []*Ledger{one, other, beside} {
			for range n % 2 * 2 { // twice, or not at all
				wantRecall(t, l, want)
			}
		}
	}
}
