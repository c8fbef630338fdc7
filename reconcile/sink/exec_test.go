package sink

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/redact"
	"github.com/seawall-dev/seawall/integration/must"
)

var at = desired.Sink{Name: "e", Key: "team/ci token"}

// TestExec looks at all that a command gets: the secret on its standard input
// alone.
func TestExec(t *testing.T) {
	t.Setenv("SEAWALL_TOKENS_TOKEN", "another secret")
	folder := t.TempDir()
	s := execSink(t, 0, "/bin/sh", "-c", `cat >"$0/in"; env >"$0/env"; tr '\0' '\n' </proc/$$/cmdline >"$0/args"`, folder)
	for range 2 {
		must.Do(t, errors.Join(s.Check(at), s.Deliver(t.Context(), at, secret)))
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		must.Do(t, err)
		return string(text)
	}
	if read("in") != secret.Reveal() {
		t.Error("the standard input is not the secret, to the byte")
	}
	env := strings.Split(strings.TrimSpace(read("env")), "\n")
	for _, want := range []string{"SEAWALL_SINK=e", "SEAWALL_KEY=team/ci token"} {
		if !slices.Contains(env, want) {
			t.Errorf("the environment lacks %s", want)
		}
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if !slices.Contains([]string{"SEAWALL_SINK", "SEAWALL_KEY", "PATH", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"}, name) {
			t.Errorf("the environment has %s", name)
		}
		if strings.Contains(value, secret.Reveal()) {
			t.Errorf("the secret is in %s", name)
		}
	}
	if strings.Contains(read("args"), secret.Reveal()) {
		t.Error("the secret is among the arguments")
	}
}

func TestExecFails(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"status":      {`exit 3`, "running /bin/sh: exit status 3"},
		"last words":  {`cat >/dev/null; echo "no room for it" >&2; exit 1`, `exit status 1; it said "no room for it"`},
		"the secret":  {`printf 'cannot put '; cat; printf ' anywhere'; exit 1`, `it said "cannot put [secret] anywhere"`},
		"a signal":    {`kill -TERM $$`, "signal: terminated"},
		"much to say": {`yes "all is lost" | head -c 100000; exit 1`, `all is l …"`},
	} {
		t.Run(name, func(t *testing.T) {
			wantError(t, execSink(t, 0, "/bin/sh", "-c", test.script).Deliver(t.Context(), at, secret), test.want)
		})
	}
	wantBoth(t, execSink(t, 0, "/nowhere/put"), at, "/nowhere/put: no such file")
	wantBoth(t, execSink(t, 0, "no-such-program-anywhere"), at, "not found in $PATH")
}

// TestExecNeedNotRead: a command that succeeds without reading has its reasons.
func TestExecNeedNotRead(t *testing.T) {
	big := edge.NewSecret(strings.Repeat("x", 1<<17)) // no pipe takes it all at once
	if err := execSink(t, 0, "/bin/sh", "-c", "exit 0").Deliver(t.Context(), at, big); err != nil {
		t.Error(err)
	}
}

// TestExecLeavesSomethingBehind: the status counts, and nobody waits for a child
// that holds the output.
func TestExecLeavesSomethingBehind(t *testing.T) {
	t.Parallel()
	if err := execSink(t, 0, "/bin/sh", "-c", "sleep 5 & exit 0").Deliver(t.Context(), at, secret); err != nil {
		t.Error(err)
	}
}

// TestExecTimeout: the command and what it started are gone, and it is told why.
func TestExecTimeout(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	s := execSink(t, 300*time.Millisecond, "/bin/sh", "-c", `sleep 600 & echo $! >"$0"; echo working; wait`, pids)
	wantError(t, s.Deliver(t.Context(), at, secret), `running /bin/sh: it took longer than 300ms and was killed; it said "working"`)
	text, err := os.ReadFile(pids)
	must.Do(t, err)
	wantGone(t, strings.TrimSpace(string(text)))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := execSink(t, 0, "/bin/sleep", "600").Deliver(ctx, at, secret); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// wantGone: the process has ended. It was orphaned, and may be waiting for its
// new parent: a zombie is gone too.
func wantGone(t *testing.T, pid string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still there", pid)
}

// TestOutputIsRedacted: wherever what was kept or what is shown ends, no piece of a secret
// is left that package redact finds.
func TestOutputIsRedacted(t *testing.T) {
	value := secret.Reveal()
	for _, end := range []int{keptOutput, shownOutput} {
		for cut := range len(value) {
			var o output
			for _, part := range []string{strings.Repeat(".", end-cut), value} {
				if n, err := o.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if got := o.redacted(); strings.Contains(got, value[:redact.Piece]) || len(o.text) > keptOutput {
				t.Fatalf("cut after %d: %q", cut, got[max(0, len(got)-80):])
			}
		}
	}
}

func execSink(t *testing.T, timeout time.Duration, argv ...string) *Sinks {
	return mustNew(t, map[string]Config{"e": {Exec: &Exec{Argv: argv, Timeout: timeout}}})
}

// A program that others may write to does not get a secret.
func TestExecOfAProgramThatOthersMayWrite(t *testing.T) {
	program := filepath.Join(t.TempDir(), "deliver")
	must.Do(t, errors.Join(os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700), os.Chmod(program, 0o777)))
	if err := execSink(t, 0, program).Check(at); err == nil || !strings.Contains(err.Error(), "others may write to") {
		t.Errorf("got %v", err)
	}
}
