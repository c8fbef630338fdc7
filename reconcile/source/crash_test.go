package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// crashing is git whose process crashes, or whose evaluation does.
type crashing struct {
	commit   string
	fetch    error
	problems []desired.Problem
}

func (c *crashing) Fetch(context.Context) (string, error) { return c.commit, c.fetch }

func (c *crashing) Compile(context.Context, string) (desired.State, []desired.Problem, error) {
	return desired.State{}, c.problems, nil
}

type crash string

func (crash) Error() string     { return "the worker crashed: exit status 2" }
func (c crash) Printed() string { return string(c) }

// What a process printed that crashed is logged with the first look of it, and again once it says
// something else or has worked meanwhile.
func TestACrashIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	git := &crashing{}
	now := time.Unix(0, 0)
	s := New(Config{Source: git, Compiler: git, Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil))})
	look := func(fetch error, problems ...desired.Problem) {
		git.fetch, git.problems = fetch, problems
		now = now.Add(invalidFor)
		s.once(t.Context(), "", func(context.Context, reconcile.Proposal) {})
	}
	said := func(text string, times int) {
		t.Helper()
		if n := strings.Count(log.String(), text); n != times {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, n, times, &log)
		}
	}
	fails := fmt.Errorf("fetching: %w", crash("panic: one"))
	look(fails)
	look(fails)
	said("panic: one", 1)
	for _, at := range []string{"0xc000012ab4", "0xc00009f2e8"} { // the same crash, in another process
		look(crash("panic: two\n\ngoroutine 1" + at[len(at)-1:] + " [running]:\nmain.work(" + at + ", 0x2)"))
	}
	said("panic: two", 1)
	look(nil)
	look(crash("panic: two"))
	said("panic: two", 2)
	look(errors.New("git is away"))
	broken := desired.Problem{Origin: desired.Origin{File: "teams/a"}, Message: "evaluating this folder crashed", Printed: "panic: three"}
	git.commit = "c1"
	look(nil, broken)
	look(errors.New("git is away"))
	look(nil, broken, desired.Problem{Message: "another mistake"})
	said("panic: three", 1)
	said("teams/a", 1)
	said("level=WARN", 4)
}
