package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// A file that root begins is the daemon's, and takes the place of no newer one.
func TestSeenFileOfRoot(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	must.Do(t, os.WriteFile(from, []byte("1"), 0o600))
	if os.Geteuid() == 0 {
		must.Do(t, os.Chown(dir, 12345, 12345))
	}
	if !takenOver(from, to) {
		t.Fatal("it cannot be used")
	}
	folder, err := os.Stat(dir)
	must.Do(t, err)
	file, err := os.Stat(to)
	must.Do(t, err)
	want, _, _, _ := OwnerOf(folder)
	if uid, _, links, known := OwnerOf(file); known && (uid != want || links != 1) {
		t.Errorf("it belongs to %d, with %d names", uid, links)
	}
	must.Do(t, os.WriteFile(to, []byte("2"), 0o600))
	if !takenOver(from, to) {
		t.Error("a newer one cannot be used")
	}
	if data, err := os.ReadFile(to); err != nil || string(data) != "2" {
		t.Errorf("a newer one is %q now: %v", data, err)
	}
	if names, err := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("%d files are left: %v", len(names), err)
	}
}

// What this machine has written to a database last is known however its address is written; and of the
// one that takes its place at the same address, as after a restore from a backup.
func TestSeenFile(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	server.Exec(t, `CREATE DATABASE live`)
	dir := t.TempDir()
	seen := func(url string, readOnly bool) string {
		t.Helper()
		s := Settings{}
		s.StateDir, s.Postgres = dir, &schema.Postgres{URL: url}
		open := ledger.Connect
		if readOnly {
			open = ledger.ConnectReadOnly
		}
		memory, err := open(t.Context(), PostgresConfig(*s.Postgres))
		must.Do(t, err)
		defer memory.Close()
		path, err := s.seenFile(t.Context(), memory, readOnly)
		must.Do(t, err)
		return path
	}
	says := func(path string) string {
		t.Helper()
		data, err := os.ReadFile(path)
		must.Do(t, err)
		return string(data)
	}
	url := server.URL("live")
	other := strings.Replace(url, "127.0.0.1", "localhost", 1)
	spelled := filepath.Join(dir, filepath.Base(seen(url, true))) // as earlier versions named it
	must.Do(t, os.WriteFile(spelled, []byte("1"), 0o600))
	if path := seen(url, true); says(path) != "1" {
		t.Errorf("who only reads looks at %s", path)
	}
	own := seen(url, false)
	if says(own) != "1" || own == spelled {
		t.Errorf("it does not go on from where an earlier version was: %s", own)
	}
	must.Do(t, os.WriteFile(own, []byte("2"), 0o600))
	for _, readOnly := range []bool{true, false} {
		if path := seen(other, readOnly); path != own {
			t.Errorf("with another spelling it is %s, not %s", path, own)
		}
	}
	server.Exec(t, `DROP DATABASE live WITH (FORCE)`)
	server.Exec(t, `CREATE DATABASE live`)
	if restored := seen(url, false); restored == own || says(restored) != "2" {
		t.Errorf("of a database that was restored %q is known", says(restored))
	}
	if last := seen(url, true); says(last) != "2" {
		t.Error("it is forgotten with the next use")
	}
}
