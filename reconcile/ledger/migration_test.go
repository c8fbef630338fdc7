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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestMigration takes a file of this version one step further, as a program
// with one more step would.
func TestMigration(t *testing.T) {
	path := newPath(t)
	fill(t, path)
	known, version := migrations, schemaVersion
	t.Cleanup(func() { migrations, schemaVersion = known, version })
	next := version + 1
	migrations, schemaVersion = append(migrations[:version:version], `CREATE TABLE later (x TEXT) STRICT; nonsense`), next
	_, err := OpenReadOnly(path)
	wantFault(t, err, ErrOlder, fmt.Sprintf("version %d, this program reads version %d", version, next))
	_, err = Open(path)
	wantFault(t, err, ErrDamaged, fmt.Sprintf("taking the schema to version %d", next))
	migrations[version] = `CREATE TABLE later (x TEXT) STRICT` // the failed step has left nothing
	l := mustOpen(t, path)
	if got := texts(t, l, `SELECT x FROM later UNION ALL SELECT zone_id FROM applied`); len(got) != 200 {
		t.Errorf("%d rows after the migration, want 200", len(got))
	}
	migrations, schemaVersion = known, version
	_, err = Open(path)
	wantFault(t, err, ErrNewer, fmt.Sprintf("version %d, this program knows up to %d", next, version))
}

// TestFromVersion1 opens a file as the first version made it: what it remembers
// is there, and nothing is known of tokens.
func TestFromVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	stored(t, path, 1)
	_, err := OpenReadOnly(path)
	wantFault(t, err, ErrOlder, "version 1")
	l := mustOpen(t, path)
	wantRecall(t, l, reconcile.Recollection{
		Applied:       diff.Applied{deployment(1): {"a", "b"}},
		NonConvergent: map[diff.DeploymentID]string{deployment(2): "f"},
		Size:          diff.Size{Zones: 3, Deployments: 4},
	})
	wantUnknown(t, l, "nobody has said yet")
	mustLock(t, l)
	l.Binding = binding
	wantFault(t, l.Intend(t.Context(), record(1)), ErrUnknown, "nobody has said yet")
	if err := errors.Join(l.Init(t.Context(), binding), l.Intend(t.Context(), record(1))); err != nil {
		t.Fatal(err)
	}
}

// TestFromVersion2 opens a file as the second version made it, with tokens and a
// secret that waits: all of it is there, sure of itself beside the same mark, and
// what the second version did not know is what says nothing.
func TestFromVersion2(t *testing.T) {
	path := asVersion2(t)
	_, err := OpenReadOnly(path)
	wantFault(t, err, ErrOlder, "version 2, this program reads version 5")
	wantVersion2(t, path)
	l := reopen(t, path, binding)
	ctx := t.Context()
	first, third := record(1).Intent, record(3).Intent
	must(t, l.Prunable(ctx, []string{first, third}, true))
	must(t, l.Accept(ctx, "c1", diff.Size{Zones: 3, Deployments: 4, Tokens: 3}))
	must(t, l.Confirm(ctx, record(2).Intent, "id-2", secret(2)))
	must(t, l.Gone(ctx, third))
	must(t, l.Intend(ctx, record(4)))
	got, err := l.Tokens(ctx)
	if err != nil || got.Unknown != "" || len(got.Records) != 3 || !got.Records[0].Prune || got.Records[1].Prune {
		t.Errorf("life went on as %+v, %v", got, err)
	}
	must(t, l.Close())
	known, version := migrations, schemaVersion
	t.Cleanup(func() { migrations, schemaVersion = known, version })
	migrations, schemaVersion = known[:2], 2 // and the second version, come back
	for _, open := range []func(string) (*Ledger, error){Open, OpenReadOnly} {
		_, err := open(path)
		wantFault(t, err, ErrNewer, "its schema is version 5, this program knows up to 2")
	}
}

// TestKilledMigrating: a process that dies between the statements of a step has
// left the old version whole, and the next one takes the step.
func TestKilledMigrating(t *testing.T) {
	for after := 1; after <= len(statements(version3))+len(statements(version4))+len(statements(version5)); after++ {
		t.Run(strconv.Itoa(after), func(t *testing.T) {
			path := asVersion2(t)
			wantKilled(t, "migrate", path, strconv.Itoa(after))
			_, err := OpenReadOnly(path)
			wantFault(t, err, ErrOlder, "version 2")
			wantVersion2(t, path)
		})
	}
}

// migrateHalf opens a ledger of version 2 and kills the process after so many
// statements of the steps to this version.
func migrateHalf(path string, after int) error {
	for version, step := range []string{2: version3, 3: version4, 4: version5} {
		lines := statements(step)
		if step == "" {
			continue
		}
		if after >= 1 && after <= len(lines) {
			migrations[version] = strings.Join(lines[:after], ";\n") + ";\nSELECT in_the_midst();\n" + strings.Join(lines[after:], ";\n")
		}
		after -= len(lines)
	}
	inMidst = func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	_, err := Open(path)
	return err
}

// TestFromVersion3 opens a file as the third version made it: nobody has said
// anything to runs, no commit goes through waves, and all of that can begin.
func TestFromVersion3(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	stored(t, path, 3)
	_, err := OpenReadOnly(path)
	wantFault(t, err, ErrOlder, "version 3, this program reads version 5")
	l := mustOpen(t, path)
	want := reconcile.Recollection{
		Applied:       diff.Applied{deployment(1): {"a", "b"}},
		NonConvergent: map[diff.DeploymentID]string{deployment(2): "f"},
		Size:          diff.Size{Zones: 3, Deployments: 4, Tokens: 1},
	}
	wantRecall(t, l, want)
	hold := diff.Hold{Zone: "shop", Until: noon, Reason: "INC-1"}
	must(t, l.Hold(t.Context(), hold, "kim"))
	must(t, l.Approve(t.Context(), []reconcile.Approval{{Digest: "d", Kind: reconcile.Approved}}))
	must(t, l.Roll(t.Context(), func(reconcile.Rollout) reconcile.Rollout { return rolling }))
	want.Holds, want.Rollout = []diff.Hold{hold}, rolling
	want.Approvals = []reconcile.Approval{{Digest: "d", Kind: reconcile.Approved}}
	wantRecall(t, l, want)
}

// TestFromVersion4 opens a file as the fourth version made it: all that people
// said is there, no sweep has been anywhere, and one can be kept.
func TestFromVersion4(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	stored(t, path, 4)
	_, err := OpenReadOnly(path)
	wantFault(t, err, ErrOlder, "version 4, this program reads version 5")
	l := mustOpen(t, path)
	at := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	want := reconcile.Recollection{
		Applied:       diff.Applied{deployment(1): {"a", "b"}},
		NonConvergent: map[diff.DeploymentID]string{deployment(2): "f"},
		Size:          diff.Size{Zones: 3, Deployments: 4, Tokens: 1},
		Holds:         []diff.Hold{{Zone: "shop", Until: at.Add(time.Hour), Reason: "INC-1"}},
		Approvals:     []reconcile.Approval{{Digest: "d", Kind: reconcile.Approved, Who: "kim", Reason: "because", At: at}},
		Rollout: reconcile.Rollout{
			Commit: "c1", Wave: 1,
			Zones: map[edge.ZoneID]reconcile.RolloutZone{"zone-1": {Wave: 1, Outcome: reconcile.ZoneDone}, "zone-2": {Wave: 2}},
		},
	}
	wantRecall(t, l, want)
	want.Cursor = reconcile.Cursor{Commit: "c1", Phase: 1<<64 - 1, At: at.Add(time.Nanosecond)}
	must(t, l.Keep(t.Context(), want.Cursor))
	wantRecall(t, l, want)
}

// statements are those of a step; each of them ends its line.
func statements(step string) []string {
	return strings.Split(strings.TrimSuffix(step, ";\n"), ";\n")
}

// stored makes a file as an earlier version made it.
func stored(t *testing.T, path string, version int) {
	t.Helper()
	ddl, err := os.ReadFile(fmt.Sprintf("testdata/version%d.sql", version))
	must(t, err)
	statement(string(ddl))(t, path)
}

const markOfVersion2 = `{"serial":"SERIAL","generation":4}` + "\n"

// asVersion2 is a stored ledger of version 2 with its key, its mark, and the
// secret of the first token in it.
func asVersion2(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	stored(t, path, 2)
	must(t, os.WriteFile(markPath(path), []byte(markOfVersion2), 0o600))
	must(t, createKeyFile(path+"-key"))
	keys, err := readKeyFile(path + "-key")
	must(t, err)
	sealed, err := keys.seal(record(1).Intent, secret(1))
	must(t, err)
	statement(fmt.Sprintf(`INSERT INTO sealed VALUES ('%s', x'%x')`, record(1).Intent, sealed))(t, path)
	return path
}

// wantVersion2 opens what asVersion2 made, as this version does.
func wantVersion2(t *testing.T, path string) {
	t.Helper()
	l, err := Open(path)
	must(t, err)
	l.Binding = binding
	wantRecall(t, l, reconcile.Recollection{
		Applied:       diff.Applied{deployment(1): {"a", "b"}},
		NonConvergent: map[diff.DeploymentID]string{deployment(2): "f"},
		Size:          diff.Size{Zones: 3, Deployments: 4}, // tokens were not counted
	})
	first, second, third := adopted(record(1), "id-1"), record(2), adopted(record(3), "id-3")
	first.State = diff.TokenConfirmed
	second.State, second.Reason = diff.TokenQuarantined, "lost"
	third.State, third.Sink, third.Delivered = diff.TokenConfirmed, nil, true
	wantTokens(t, l, first, second, third)
	wantSealed(t, l, first.Intent, secret(1))
	must(t, l.Close())
	mark, err := os.ReadFile(markPath(path))
	must(t, err)
	if d := cmp.Diff(markOfVersion2, string(mark)); d != "" {
		t.Errorf("the mark has changed:\n%s", d)
	}
}
