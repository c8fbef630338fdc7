package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// TestUnreadableIsNeverEmpty: whatever is wrong with the file, it is told with
// what to try, and nothing is created in its place.
func TestUnreadableIsNeverEmpty(t *testing.T) {
	tests := map[string]struct {
		harm   func(t *testing.T, path string)
		kind   Kind
		reason string
		late   bool // told when recalling; the others when opening
	}{
		"text":        {overwrite("#!/bin/sh\necho this is no database at all\n"), ErrForeign, "not a database", false},
		"no content":  {overwrite(""), ErrDamaged, "it has no content", false},
		"folder":      {asFolder, ErrForeign, "not a regular file", false},
		"another's":   {asForeign, ErrForeign, "of another program", false},
		"newer":       {withStatements(`PRAGMA user_version = 99`), ErrNewer, "version 99, this program supports up to 20", false},
		"no version":  {withStatements(`PRAGMA user_version = 0`), ErrDamaged, "lost the version", false},
		"cut short":   {cutShort, ErrDamaged, "", false},
		"bad page":    {badPage, ErrDamaged, "", false},
		"log alone":   {logAlone, ErrDamaged, "ledger.db-wal with its latest writes exists", false},
		"no table":    {withStatements(`DROP TABLE accepted`), ErrDamaged, "no such table: accepted", true},
		"bad members": {withStatements(`UPDATE applied SET members = '["a' WHERE zone_id = 'zone-7'`), ErrDamaged, "ruleset ruleset in zone zone-7", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			fill(t, path)
			test.harm(t, path)
			before := names(t, filepath.Dir(path))
			for _, open := range []func(string) (*Ledger, error){Open, OpenReadOnly} {
				l, err := open(path)
				if err == nil && test.late {
					_, err = l.Restore(t.Context())
				}
				wantFault(t, err, test.kind, test.reason)
				if l != nil {
					l.Close()
				}
			}
			if d := cmp.Diff(before, names(t, filepath.Dir(path))); d != "" {
				t.Errorf("files came or went (-before +after):\n%s", d)
			}
		})
	}
}

// TestNoFolder: a folder that cannot be is told as what it is.
func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file", "ledger.db")
	must(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
	_, err := Open(path)
	wantFault(t, err, ErrFailed, "not a directory")
}

// TestCreatingTwice: the second of two that create at once finds the ledger of
// the first, and keeps it.
func TestCreatingTwice(t *testing.T) {
	path := newPath(t)
	fill(t, path)
	must(t, store.Create(path))
	if got := texts(t, mustOpen(t, path), `SELECT zone_id FROM applied`); len(got) != 200 {
		t.Errorf("%d rows, want 200", len(got))
	}
}

// TestCopyWithoutLog: VACUUM INTO makes sound copies that have no write-ahead
// log; one that was put back must get it again.
func TestCopyWithoutLog(t *testing.T) {
	path := newPath(t)
	fill(t, path)
	backup := filepath.Join(t.TempDir(), "backup.db")
	l := mustOpen(t, path)
	mustExec(t, l, `VACUUM INTO ?`, backup)
	restored := mustOpen(t, backup)
	if got := texts(t, restored, `PRAGMA journal_mode`); got[0] != "wal" {
		t.Errorf("journal mode %s, want wal", got[0])
	}
	if got := texts(t, restored, `SELECT zone_id FROM applied`); len(got) != 200 {
		t.Errorf("%d rows, want 200", len(got))
	}
}

func wantFault(t *testing.T, err error, kind Kind, reason string) {
	t.Helper()
	var told *Error
	if !errors.As(err, &told) {
		t.Fatalf("got %v, want an *Error", err)
	}
	if told.Kind != kind || !errors.Is(err, kind) || !strings.Contains(told.Reason, reason) {
		t.Errorf("got %q (%s), want kind %q and a reason with %q", told.Reason, told.Kind, kind, reason)
	}
	if told.Doing == "" || told.Hint == "" {
		t.Errorf("%+v does not say what was being done and what to try", told)
	}
}

// fill makes a ledger of several pages and closes it.
func fill(t testing.TB, path string) {
	t.Helper()
	l, err := Open(path)
	must(t, err)
	must(t, errors.Join(l.Prove(t.Context(), "c1", nil, fleet(200)), l.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c1", Size: guard.Size{Zones: 200}}), l.Close()))
}

// fleet is n deployments with as many members as a usual one owns.
func fleet(n int) []diff.Settled {
	all := make([]diff.Settled, n)
	for i := range all {
		all[i] = settled(deployment(i), "enabled",
			`overrides.categories["paranoia-level-3"].enabled`, `overrides.categories["paranoia-level-4"].enabled`,
			`overrides.rules["6179ae15870a4bb7b2d480d4843b323c"].score_threshold`, `overrides.rules["6179ae15870a4bb7b2d480d4843b323c"].action`)[0]
	}
	return all
}

func overwrite(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

func asForeign(t *testing.T, path string) {
	must(t, os.Remove(path))
	tampered(t, path, `CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = 1`)
}

func asFolder(t *testing.T, path string) {
	must(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
}

func cutShort(t *testing.T, path string) {
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()/2))
}

// badPage wipes a page in the middle of the rows.
func badPage(t *testing.T, path string) {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	defer file.Close()
	if _, err := file.WriteAt(make([]byte, 4096), 8*4096); err != nil {
		t.Fatal(err)
	}
}

func logAlone(t *testing.T, path string) {
	must(t, os.Rename(path, path+"-wal"))
}

// names lists a folder without the companions that SQLite makes beside a file
// for as long as it is open.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var all []string
	for _, e := range entries {
		if info, err := e.Info(); err != nil || strings.HasSuffix(e.Name(), "-shm") || strings.HasSuffix(e.Name(), "-wal") && info.Size() == 0 {
			continue
		}
		all = append(all, fmt.Sprint(e.Name(), " ", e.IsDir()))
	}
	return all
}

// TestDamagedRecords: what cannot be read is not left out, and the rest is not told. A time is
// damage, not the beginning of time: a hold would be over, and a wave would start.
func TestDamagedRecords(t *testing.T) {
	const spoiledApproval = `INSERT INTO approval (digest, kind, who, reason, at, counts) VALUES ('d', 'approval', '', '', 'once', 1)`
	for spoil, reason := range map[string]string{
		`UPDATE proved SET labels = '{"tier"'`:                            "the labels of zone zone-1",
		`UPDATE drift SET at = 'once'`:                                    "the time of a drift in zone zone-1",
		`UPDATE accepted SET state = x'00'`:                               "the state of commit c1",
		`UPDATE accepted SET state = substr(state, 1, length(state) - 9)`: "the state of commit c1",
		`UPDATE applied SET members = '{}'`:                               "ruleset ruleset in zone zone-1",
		`INSERT INTO hold VALUES ('z', '', 'tomorrow', '', NULL, '[]')`:   "the end of the hold on \"z\"",
		spoiledApproval:                     "the time of the approval of d",
		`UPDATE rollout SET since = 'then'`: "the time since which wave 2 soaks",
		`DROP TABLE proved`:                 "no such table: proved",
	} {
		l, ctx := mustOpen(t, newPath(t)), t.Context()
		must(t, errors.Join(
			l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1", State: []byte("state of the commit"), Rollout: &rolling}),
			l.Prove(ctx, "c1", []reconcile.Proof{{Scope: edge.ZoneScope("zone-1")}}, settled(deployment(1), "a")),
			l.Drifted(ctx, []reconcile.Drift{{Scope: edge.ZoneScope("zone-1"), At: noon}}, noon)))
		mustExec(t, l, spoil)
		got, err := l.Restore(ctx)
		wantFault(t, err, ErrDamaged, reason)
		if d := cmp.Diff(reconcile.Record{}, got); d != "" {
			t.Errorf("%s: it has told something all the same:\n%s", spoil, d)
		}
	}
}

// An entry of a skip rule that cannot be read hides no other.
func TestUnreadableSkipRuleHidesNoOther(t *testing.T) {
	l, ctx := mustOpen(t, newPath(t)), t.Context()
	rule := func(zone string) *diff.Bypass {
		return &diff.Bypass{Zone: zone, Scope: edge.ZoneScope(edge.ZoneID(zone)), Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged, Rule: "r", Expression: "true", State: diff.BypassNew}
	}
	must(t, l.Record(ctx, reconcile.SkipRuleEntry(nil, rule("z1")), reconcile.SkipRuleEntry(nil, rule("z2"))))
	mustExec(t, l, `UPDATE history SET body = json_set(body, '$.members', 7) WHERE json_extract(body, '$.subject.zone_id') = 'z2'`)
	entries, err := l.SkipRules(ctx)
	if len(entries) != 1 || entries[0].Subject.Zone != "z1" || err == nil || !strings.Contains(err.Error(), "number 2") {
		t.Errorf("got %+v and the error %v", entries, err)
	}
}
