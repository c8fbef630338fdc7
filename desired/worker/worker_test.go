package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestRun(t *testing.T) {
	var got []string
	err := worker.Runner{}.Run(t.Context(), "double", 21, func(step string, out json.RawMessage) error {
		got = append(got, step+" "+string(out))
		return nil
	})
	must.Do(t, err)
	if diff := cmp.Diff([]string{"first 42", `second {"n":84}`}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunErrors(t *testing.T) {
	err := worker.Runner{}.Run(t.Context(), "fail", nil, nil)
	var job *worker.JobError
	if !errors.As(err, &job) || job.Step != "somewhere" || err.Error() != "no such thing" {
		t.Errorf("a job that fails: %v", err)
	}
	if err := (worker.Runner{}).Run(t.Context(), "unheard-of", nil, nil); err == nil || !strings.Contains(err.Error(), "does not know the job") {
		t.Errorf("an unknown job: %v", err)
	}
	if err := (worker.Runner{}).Run(t.Context(), "double", make(chan int), nil); err == nil || !strings.Contains(err.Error(), "encoding") {
		t.Errorf("an input that is no JSON: %v", err)
	}
	if err := (worker.Runner{Executable: "/nonexistent"}).Run(t.Context(), "double", 1, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no binary: %v", err)
	}
	stop := errors.New("enough")
	err = worker.Runner{}.Run(t.Context(), "double", 1, func(string, json.RawMessage) error { return stop })
	if err != stop {
		t.Errorf("an error of onStep: %v", err)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		step  string
		bound worker.Bound
		say   string
	}{
		{"panic", worker.BoundCrash, "panic: the worker crashed: exit status 2"},
		{"exit", worker.BoundCrash, "exit: the worker crashed: exit status 7"},
		{"exit0", worker.BoundCrash, "exit0: the worker crashed: it ended without an answer"},
		{"loop", worker.BoundTime, "loop: exceeded the time bound of 3s"},
		{"drip", worker.BoundTime, "drip: exceeded the time bound of 3s"},
		{"overflow", worker.BoundStack, "overflow: exceeded the stack bound of 8 MiB"},
		{"garbage", worker.BoundCrash, "garbage: the worker crashed: it answered with something else than frames"},
		{"lie", worker.BoundOutput, "lie: exceeded the output bound of 1 MiB"},
		{"cut", worker.BoundCrash, "cut: the worker crashed: it ended without an answer"},
		{"huge", worker.BoundOutput, "huge: exceeded the output bound of 1 MiB"},
		{"many", worker.BoundOutput, "many: exceeded the output bound of 1 MiB"},
		{"chatty", worker.BoundCrash, "chatty: the worker crashed: exit status 3"},
	} {
		t.Run(test.step, func(t *testing.T) {
			t.Parallel()
			err := worker.Runner{Limits: short}.Run(t.Context(), "steps", []string{"fine", test.step, "never"},
				func(string, json.RawMessage) error { return nil })
			wantBound(t, err, test.bound, test.step, test.say)
		})
	}
}

func wantBound(t *testing.T, err error, bound worker.Bound, step, say string) *worker.BoundError {
	t.Helper()
	var e *worker.BoundError
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want a *BoundError", err)
	}
	if e.Bound != bound || e.Step != step || e.Error() != say {
		t.Errorf("bound %q at %q: %q; want %q at %q: %q (%s)", e.Bound, e.Step, e.Error(), bound, step, say, e.Stderr)
	}
	return e
}

func TestStderrIsKeptApart(t *testing.T) {
	err := worker.Runner{Limits: short}.Run(t.Context(), "steps", []string{"panic"}, nil)
	e := wantBound(t, err, worker.BoundCrash, "panic", "panic: the worker crashed: exit status 2")
	if !strings.Contains(e.Stderr, "the secret plans") || strings.Contains(fmt.Sprint(err), "the secret plans") {
		t.Errorf("error %v with stderr %q", err, e.Stderr)
	}
	err = worker.Runner{Limits: short}.Run(t.Context(), "steps", []string{"chatty"}, nil)
	e = wantBound(t, err, worker.BoundCrash, "chatty", "chatty: the worker crashed: exit status 3")
	if !strings.HasPrefix(e.Stderr, "first words") || !strings.HasSuffix(e.Stderr, "last words\n") || len(e.Stderr) > 9<<10 {
		t.Errorf("stderr is %d bytes: %.40q…", len(e.Stderr), e.Stderr)
	}
}

// leaked is a secret that a job prints.
const leaked = "k8Jx2vQpLm9RtY4wZ7sD"

// What a process printed that crashed is for people, in a few lines and without secrets. One that ran
// into a bound says so itself.
func TestWhatACrashedProcessPrinted(t *testing.T) {
	_ = edge.NewSecret(leaked)
	t.Setenv("HTTPS_PROXY", "http://user:passwordOfTheProxy@proxy.example")
	err := worker.Runner{Limits: short, Env: worker.NetworkEnv}.Run(t.Context(), "steps", []string{"leak"}, nil)
	printed := wantBound(t, err, worker.BoundCrash, "leak", "leak: the worker crashed: exit status 3").Printed()
	lines := strings.Split(printed, "\n")
	if !strings.HasPrefix(printed, "pushing with [secret] by http://user:[secret]@proxy.example") || len(lines) != 25 || lines[16] != "…" {
		t.Errorf("%d lines: %s", len(lines), printed)
	}
	t.Setenv("HTTPS_PROXY", "user:thatOfAProxyWithoutAScheme@proxy.example:3128")
	err = worker.Runner{Limits: short, Env: worker.NetworkEnv}.Run(t.Context(), "steps", []string{"leak"}, nil)
	if e := wantBound(t, err, worker.BoundCrash, "leak", "leak: the worker crashed: exit status 3"); !strings.Contains(e.Printed(), "by user:[secret]@proxy.example:3128") {
		t.Errorf("printed %s", e.Printed())
	}
	err = worker.Runner{Limits: short}.Run(t.Context(), "steps", []string{"overflow"}, nil)
	if e := wantBound(t, err, worker.BoundStack, "overflow", "overflow: exceeded the stack bound of 8 MiB"); e.Printed() != "" {
		t.Errorf("printed %q", e.Printed())
	}
}

func TestTotalBound(t *testing.T) {
	t.Parallel()
	limits := short
	limits.PerStep, limits.Total = time.Minute, 3*time.Second
	tripped, err := worker.Runner{Limits: limits}.RunSteps(t.Context(), "steps", []string{"a", "hang", "b"},
		func(remaining []string) any { return remaining }, nil)
	wantBound(t, err, worker.BoundTotal, "hang", "hang: exceeded the total time bound of 3s")
	if tripped != nil {
		t.Errorf("tripped %v", tripped)
	}
}

// TestTheClockStartsAnew: the bound is of a step, not of them all.
func TestTheClockStartsAnew(t *testing.T) {
	t.Parallel()
	if err := (worker.Runner{Limits: short}).Run(t.Context(), "steps", []string{"work:1", "work:2"}, nil); err != nil {
		t.Error(err)
	}
}

// TestSilence: a worker that does not run is ended long before its time is over, and one that only
// takes long is not.
func TestSilence(t *testing.T) {
	t.Parallel()
	limits := short
	limits.PerStep, limits.Total, limits.Silence = time.Hour, time.Hour, 3*time.Second
	err := worker.Runner{Limits: limits}.Run(t.Context(), "steps", []string{"freeze"}, nil)
	wantBound(t, err, worker.BoundSilence, "freeze", "freeze: the worker showed no sign of life for 3s")

	limits.PerStep = 5 * time.Second // on a machine with much to do, a sign of life may be a second late
	for _, quiet := range []string{"hang", "loop"} {
		err := worker.Runner{Limits: limits}.Run(t.Context(), "steps", []string{quiet}, nil)
		wantBound(t, err, worker.BoundTime, quiet, quiet+": exceeded the time bound of 5s")
	}
}

// TestTheClockStandsStill: a slow parent is not the job's fault.
func TestTheClockStandsStill(t *testing.T) {
	t.Parallel()
	waited := make(chan struct{})
	time.AfterFunc(short.PerStep+time.Second/4, func() { close(waited) })
	err := worker.Runner{Limits: short}.Run(t.Context(), "steps", []string{"a", "b"}, func(string, json.RawMessage) error {
		<-waited
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRunSteps(t *testing.T) {
	t.Parallel()
	var inputs [][]string
	var results []string
	all := []string{"a", "panic", "b", "hang", "overflow", "exit", "c"}
	tripped, err := worker.Runner{Limits: short}.RunSteps(t.Context(), "steps", all, func(remaining []string) any {
		inputs = append(inputs, remaining)
		return remaining
	}, func(step string, _ json.RawMessage) error {
		results = append(results, step)
		return nil
	})
	must.Do(t, err)
	want := []*worker.BoundError{
		{Bound: worker.BoundCrash, Limit: "exit status 2", Step: "panic"},
		{Bound: worker.BoundTime, Limit: "3s", Step: "hang"},
		{Bound: worker.BoundStack, Limit: "8 MiB", Step: "overflow"},
		{Bound: worker.BoundCrash, Limit: "exit status 7", Step: "exit"},
	}
	if diff := cmp.Diff(want, tripped, cmpopts.IgnoreFields(worker.BoundError{}, "Stderr")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, results); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{all, {"b", "hang", "overflow", "exit", "c"}, {"overflow", "exit", "c"}, {"exit", "c"}, {"c"}}, inputs); diff != "" {
		t.Error(diff)
	}
}

func TestRunStepsEndsOnOtherErrors(t *testing.T) {
	input := func(remaining []string) any { return remaining }
	if tripped, err := (worker.Runner{}).RunSteps(t.Context(), "fail", []string{"a", "b"}, input, nil); err == nil || tripped != nil {
		t.Errorf("a job that fails: %v, %v", tripped, err)
	}
	// A crash outside of the steps would come again for ever.
	_, err := worker.Runner{Limits: short}.RunSteps(t.Context(), "steps", []string{"a"}, func([]string) any { return []string{"exit"} }, nil)
	wantBound(t, err, worker.BoundCrash, "exit", "exit: the worker crashed: exit status 7")
	if tripped, err := (worker.Runner{}).RunSteps(t.Context(), "steps", nil, input, nil); err != nil || tripped != nil {
		t.Errorf("no steps: %v, %v", tripped, err)
	}
}

func TestEnvironmentIsScrubbed(t *testing.T) {
	t.Setenv("CUE_DEBUG", "opendef")
	t.Setenv("SEAWALL_TOKENS_TOKEN", "s3cret")
	t.Setenv("SSH_AUTH_SOCK", "/tmp/agent")
	t.Setenv("HTTPS_PROXY", "http://proxy.example")
	variables := func(r worker.Runner) (names []string) {
		for _, kv := range answers[[]string](t, r, "env")[0] {
			name, _, _ := strings.Cut(kv, "=")
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	base := []string{"GOGC", "GOMAXPROCS", "GOMEMLIMIT", "GOTRACEBACK", worker.Marker}
	if diff := cmp.Diff(base, variables(worker.Runner{})); diff != "" {
		t.Error(diff)
	}
	more := slices.Sorted(slices.Values(append(slices.Clone(base), "PATH", "HTTPS_PROXY")))
	if diff := cmp.Diff(more, variables(worker.Runner{Env: []string{"PATH", "HTTPS_PROXY", "UNSET_VARIABLE"}})); diff != "" {
		t.Error(diff)
	}
}

func TestCancelKillsGrandchildren(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("a new commit came")
	var sleeper int
	err := worker.Runner{}.Run(ctx, "steps", []string{"child"}, func(_ string, out json.RawMessage) error {
		sleeper = number(t, out)
		cancel(why)
		return nil
	})
	if err != why {
		t.Errorf("error %v, want the cause", err)
	}
	wantGone(t, sleeper)
	if err := (worker.Runner{}).Run(ctx, "double", 1, nil); err != why {
		t.Errorf("after the end: %v", err)
	}
}

func TestNobodyOutlivesAJob(t *testing.T) {
	for _, step := range []string{"orphan", "desert"} { // a job that ends well, and one that crashes
		var sleeper int
		_ = worker.Runner{}.Run(t.Context(), "steps", []string{step}, func(_ string, out json.RawMessage) error {
			if sleeper == 0 {
				sleeper = number(t, out)
			}
			return nil
		})
		wantGone(t, sleeper)
	}
}

// TestNobodyOutlivesTheParent kills a parent the hard way: what its own worker
// started must go too.
func TestNobodyOutlivesTheParent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var sleeper int
	_ = worker.Runner{}.Run(ctx, "parent", nil, func(_ string, out json.RawMessage) error {
		sleeper = number(t, out)
		cancel() // kills the group of "parent"; its worker has a group of its own
		return nil
	})
	wantGone(t, sleeper)
}

func number(t *testing.T, out json.RawMessage) int {
	t.Helper()
	var text string
	must.Do(t, json.Unmarshal(out, &text))
	n, err := strconv.Atoi(text)
	must.Do(t, err)
	return n
}

// wantGone waits until a process is gone, or a zombie that nobody collects.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 {
		t.Fatal("there was no process")
	}
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(time.Millisecond) {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && strings.Contains(string(status), ") Z ") {
			return
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d is still there", pid)
}

// TestTheWordAloneDoesNothing: without the marker, someone who types the
// argument gets the program itself.
func TestTheWordAloneDoesNothing(t *testing.T) {
	cmd := exec.Command(os.Args[0], worker.Argument, "double")
	cmd.Env = []string{"SEAWALL_TEST_MAIN=1"}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "the program itself" {
		t.Errorf("%q, %v", out, err)
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		must.Do(b, (worker.Runner{}).Run(b.Context(), "double", 1, nil))
	}
}
