//go:build linux

package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
)

// TestUpgradeWithoutAGap: while people work, one daemon after the other is replaced by one of the
// next version. The first of them changes the tables beside those that do not know of it. A program
// that is too old for the tables refuses.
func TestUpgradeWithoutAGap(t *testing.T) {
	t.Parallel()
	o := shared(t)
	if !soak.On {
		o.replicas = 2
	}
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
	if !soak.On {
		o.replicas = 2
	}
	var log bytes.Buffer
	o.log = &log
	f, err := newFixture(t.Context(), o, t.TempDir())
	must.Do(t, err)
	defer f.stop()
	first := f.database.Server
	err = f.while(t.Context(), func(ctx context.Context) error {
		sleep(ctx, 2*time.Second)
		f.said("failover", nil)
		err := f.database.failOver(ctx, 3*time.Second)
		sleep(ctx, leaseLasts+2*time.Second) // what was taken before is renewed by then, or taken over
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
		sleep(ctx, beside)
		f.said("upgrade", r)
		if err := r.end(); err != nil {
			return err
		}
		r.binary = binary
		if err := r.start(ctx); err != nil {
			return err
		}
	}
	sleep(ctx, beside)
	return nil
}

// beside is for how long people work with the same versions: for some pushes.
const beside = 4 * time.Second

// releases are the program of the release before and the next one, and the last step of the schema
// that the next one takes, where that is known. As long as no release has the tables in PostgreSQL,
// the next one is this one with another last step.
func releases(t *testing.T) (before, now, step string) {
	t.Helper()
	if tag := releaseBefore(t); tag != "" {
		return builtAt(t, tag), harness.Seawall(t), ""
	}
	return harness.Seawall(t), madeNext(t), "90001"
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

// madeNext makes the program of the next release from this one. Its last step of the schema, which is
// taken by then, becomes a later one that adds something. To compile and link a program that has one
// step more takes as much processor time as all the rest of this test.
func madeNext(t *testing.T) string {
	t.Helper()
	steps, err := filepath.Glob(filepath.Join(harness.Root, "reconcile", "postgres", "migrations", "*.sql"))
	must.Do(t, err)
	last := steps[len(steps)-1]
	name, step := "migrations/"+filepath.Base(last), harness.ReadText(t, last)
	program := []byte(harness.ReadText(t, harness.Seawall(t)))
	built, err := buildinfo.ReadFile(harness.Seawall(t))
	must.Do(t, err)
	module, version := "mod\t"+built.Main.Path+"\t", built.Main.Version
	if version == "" {
		t.Fatal("the program does not know its version")
	}
	replaced(t, program, name, "migrations/90001"+name[len("migrations/00000"):])
	replaced(t, program, step, fmt.Sprintf("%-*s", len(step), "-- +goose Up\nALTER TABLE lease ADD COLUMN later TEXT;\n"))
	replaced(t, program, module+version, module+"v"+strings.Repeat("9", len(version)-1))
	binary := filepath.Join(t.TempDir(), "seawall")
	must.Do(t, os.WriteFile(binary, program, 0o755))
	return binary
}

// replaced writes another text over each place of one in a program, of the same length.
func replaced(t *testing.T, program []byte, from, to string) {
	t.Helper()
	if len(from) != len(to) || !bytes.Contains(program, []byte(from)) {
		t.Fatalf("the program does not have %q, or %q is not as long", from, to)
	}
	for at := 0; ; {
		next := bytes.Index(program[at:], []byte(from))
		if next < 0 {
			return
		}
		at += next + copy(program[at+next:], to)
	}
}
