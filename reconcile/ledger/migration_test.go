package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// TestMigration takes a file of this version one step further, as a program
// with one more step would.
func TestMigration(t *testing.T) {
	path := newPath(t)
	fill(t, path)
	known, version := store.Migrations, store.SchemaVersion
	t.Cleanup(func() { store.Migrations, store.SchemaVersion = known, version })
	next := version + 1
	store.Migrations, store.SchemaVersion = append(known[:len(known):len(known)], `CREATE TABLE later (x TEXT) STRICT; nonsense`), next
	_, err := OpenReadOnly(path)
	wantFault(t, err, ErrOlder, fmt.Sprintf("version %d, this program reads version %d", version, next))
	_, err = Open(path)
	wantFault(t, err, ErrDamaged, fmt.Sprintf("taking the schema to version %d", next))
	store.Migrations[len(known)] = `CREATE TABLE later (x TEXT) STRICT` // the failed step has left nothing
	l := mustOpen(t, path)
	if got := texts(t, l, `SELECT x FROM later UNION ALL SELECT zone_id FROM applied`); len(got) != 200 {
		t.Errorf("%d rows after the migration, want 200", len(got))
	}
	if _, err := Open(newPath(t)); err != nil {
		t.Errorf("a new file takes all steps: %v", err)
	}
	store.Migrations, store.SchemaVersion = known, version
	_, err = Open(path)
	wantFault(t, err, ErrNewer, fmt.Sprintf("version %d, this program supports up to %d", next, version))
}

// ofVersion makes an empty ledger as a program of an earlier version does.
func ofVersion(t *testing.T, version int) (path string) {
	t.Helper()
	known, now := store.Migrations, store.SchemaVersion
	defer func() { store.Migrations, store.SchemaVersion = known, now }()
	store.Migrations, store.SchemaVersion = known[:version-store.FirstVersion+1], version
	path = newPath(t)
	must(t, store.Create(path))
	return path
}

// A ledger that a daemon of the version before has left gets its history, and loses nothing.
func TestMigrationFromVersion6(t *testing.T) {
	path := ofVersion(t, store.FirstVersion)
	tampered(t, path,
		`INSERT INTO accepted (one, "commit", zones, deployments, tokens) VALUES (1, 'c1', 3, 4, 5)`,
		`INSERT INTO applied VALUES ('z1', 'r', '["a"]', 'c1')`,
		`INSERT INTO hold VALUES ('z1', 'by hand', '2026-03-01T13:00:00Z', 'kim', NULL)`)
	_, err := OpenReadOnly(path)
	wantFault(t, err, ErrOlder, "its schema is version 6, this program reads version 20")
	l := mustOpen(t, path)
	record, err := l.Restore(t.Context())
	must(t, err)
	if record.Accepted.Commit != "c1" || record.Accepted.Author != "" || len(record.Applied) != 1 || len(record.Holds) != 1 {
		t.Errorf("restored %+v", record)
	}
	if report, err := l.VerifyHistory(t.Context()); err != nil || report.Rows != 0 || len(report.Findings) != 0 {
		t.Errorf("a history that is new: %+v, %v", report, err)
	}
	must(t, l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c2", Author: "Ada <ada@example.com>"}))
	if report, err := l.VerifyHistory(t.Context()); err != nil || report.Rows != 1 || len(report.Findings) != 0 {
		t.Errorf("after one entry: %+v, %v", report, err)
	}
}

// TestDevelopmentVersions: files from before the first release are refused, and whoever
// has one is told what to do.
func TestDevelopmentVersions(t *testing.T) {
	for version := 1; version < store.FirstVersion; version++ {
		path := newPath(t)
		fill(t, path)
		tampered(t, path, fmt.Sprintf(`PRAGMA user_version = %d`, version))
		for _, open := range []func(string) (*Ledger, error){Open, OpenReadOnly} {
			_, err := open(path)
			wantFault(t, err, ErrOlder, fmt.Sprintf("it was made by a development version: its schema is version %d, the first release has 6", version))
			if told := new(Error); !errors.As(err, &told) || !strings.Contains(told.Hint, "start with an empty ledger") {
				t.Errorf("the hint is %q", told.Hint)
			}
		}
	}
}

// TestKilledCreating: a process that dies between the statements of the schema has left
// no ledger, and the next one makes it.
func TestKilledCreating(t *testing.T) {
	t.Parallel()
	far := 3
	if soak.On {
		far = 1
	}
	for after := 1; after <= len(statements(store.Version6)); after += far {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "ledger.db")
			wantKilled(t, "create", path, strconv.Itoa(after))
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("half a ledger: %v", err)
			}
			fill(t, path)
		})
	}
}

// createHalf opens a ledger that is not there and kills the process after so many
// statements of the schema.
func createHalf(path string, after int) error {
	lines := statements(store.Version6)
	store.Migrations[0] = strings.Join(lines[:after], ";\n") + ";\nSELECT in_the_midst();\n" + strings.Join(lines[after:], ";\n")
	inMidst = func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	_, err := Open(path)
	return err
}

// statements are those of a step; each of them ends its line.
func statements(step string) []string {
	return strings.Split(strings.TrimSuffix(step, ";\n"), ";\n")
}
