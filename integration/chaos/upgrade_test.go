//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// TestUpgradeWithoutAGap: while people work, one daemon after the other is replaced by one of the
// next version. The first of them changes the tables beside those that do not know of it. A program
// that is too old for the tables refuses.
func TestUpgradeWithoutAGap(t *testing.T) {
	t.Parallel()
	o := shared(t)
	before, now, step := releases(t)
	o.binary = before
	var log bytes.Buffer
	o.log = &log
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	err = f.while(t.Context(), func(ctx context.Context) error { return f.upgrade(ctx, now) })
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if r := f.wantLaws(t, log.String()); r.pushes == 0 || r.takeovers == 0 {
		t.Errorf("nothing has happened: %+v", r)
	}
	steps, err := f.database.Ask(t.Context(), `SELECT max(version_id) FROM seawall_schema`)
	must.Do(t, err)
	if step != "" && steps[0][0] != step {
		t.Errorf("the tables are at step %s, want %s", steps[0][0], step)
	}

	_, err = f.database.Ask(t.Context(), `UPDATE seawall_schema_least SET step = 99999 RETURNING step`)
	must.Do(t, err)
	if _, err := f.replicas[0].command(t.Context(), "token", "list"); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a program that is too old says %v", err)
	}
}

// TestFailover: while people work, the database fails over to its synchronous standby. Daemons whose
// URL names both go on, and nothing that was confirmed is lost: no law is broken.
func TestFailover(t *testing.T) {
	t.Parallel()
	o := shared(t)
	o.standby = true
	var log bytes.Buffer
	o.log = &log
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	first := f.database.Server
	err = f.while(t.Context(), func(ctx context.Context) error {
		sleep(ctx, 10*time.Second)
		f.said("failover", nil)
		err := f.database.failOver(ctx, 3*time.Second)
		sleep(ctx, 20*time.Second)
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if r := f.wantLaws(t, log.String()); r.pushes == 0 || f.database.Server == first {
		t.Errorf("nothing has happened: %+v", r)
	}
}

// upgrade replaces each daemon, with some time in which versions run beside each other.
func (f *fixture) upgrade(ctx context.Context, binary string) error {
	for _, r := range f.replicas {
		sleep(ctx, 5*time.Second)
		f.said("upgrade", r)
		if err := r.end(); err != nil {
			return err
		}
		r.binary = binary
		if err := r.start(ctx); err != nil {
			return err
		}
	}
	sleep(ctx, 5*time.Second)
	return nil
}

// releases are the program of the release before and the next one, and the last step of the schema
// that the next one takes, where that is known. As long as no release has the tables in PostgreSQL,
// the next one is this one with one step more.
func releases(t *testing.T) (before, now, step string) {
	t.Helper()
	if tag := releaseBefore(t); tag != "" {
		return builtAt(t, tag), harness.Seawall(t), ""
	}
	return harness.Seawall(t), builtNext(t), "90001"
}

// releaseBefore is the newest tag of a release that has the tables; empty: none.
func releaseBefore(t *testing.T) string {
	t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", harness.Root}, args...)...).Output()
		return string(out), err
	}
	tags, err := git("tag", "--list", "v*", "--sort=-version:refname", "--merged", "HEAD", "--no-contains", "HEAD")
	if err != nil {
		t.Log("without git there is no release before:", err)
		return ""
	}
	for tag := range strings.FieldsSeq(tags) {
		if _, err := git("cat-file", "-e", tag+":reconcile/postgres/migrations"); err == nil {
			return tag
		}
	}
	return ""
}

// builtAt builds the program of a release.
func builtAt(t *testing.T, tag string) string {
	t.Helper()
	source, binary := t.TempDir(), filepath.Join(t.TempDir(), "seawall")
	root, err := filepath.Abs(harness.Root)
	must.Do(t, err)
	script := `set -e; git -C "$1" archive "$2" | tar -x -C "$3"; cd "$3"; go build -o "$4" ./cmd/seawall`
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", root, tag, source, binary).CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", tag, err, out)
	}
	return binary
}

// builtNext builds this program with one more step of the schema, which adds something.
func builtNext(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(harness.Root)
	must.Do(t, err)
	harness.Write(t, dir, "step.sql", "-- +goose Up\nALTER TABLE lease ADD COLUMN later TEXT;\n")
	version := filepath.Join(root, "cmd", "seawall", "internal", "cli", "version.go")
	harness.Write(t, dir, "version.go", strings.Replace(harness.ReadText(t, version), `Version: "devel"`, `Version: "next"`, 1))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "reconcile", "postgres", "migrations", "90001_next.sql"): filepath.Join(dir, "step.sql"),
		version: filepath.Join(dir, "version.go"),
	}})
	must.Do(t, err)
	file := filepath.Join(dir, "overlay.json")
	must.Do(t, os.WriteFile(file, overlay, 0o600))
	binary := filepath.Join(dir, "seawall")
	must.Do(t, harness.Build(binary, append([]string{"-overlay", file}, harness.BuildFlags...)...))
	return binary
}
