package worker_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/integration/must"
)

// newSpare is a spare whose process waits.
func newSpare(t *testing.T, s *worker.Spare) *worker.Spare {
	t.Helper()
	t.Cleanup(s.Close)
	s.StartNow()
	if s.PID() == 0 {
		t.Fatal("no process was started")
	}
	return s
}

// awaitSpare waits until a process waits, and returns its pid.
func awaitSpare(t *testing.T, s *worker.Spare) int {
	t.Helper()
	for begin := time.Now(); s.PID() == 0; time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("no process was started")
		}
	}
	return s.PID()
}

// answers are the results of a job without input.
func answers[T any](t *testing.T, r worker.Runner, job string) (all []T) {
	t.Helper()
	err := r.Run(t.Context(), job, nil, func(_ string, out json.RawMessage) error {
		var one T
		err := json.Unmarshal(out, &one)
		all = append(all, one)
		return err
	})
	must.Do(t, err)
	return all
}

func whoRuns(t *testing.T, r worker.Runner) int {
	t.Helper()
	return answers[int](t, r, "pid")[0]
}

func TestSpareTakesTheNextJob(t *testing.T) {
	t.Parallel()
	s := newSpare(t, &worker.Spare{})
	ahead := s.PID()
	r := worker.Runner{Spare: s}
	if got := whoRuns(t, r); got != ahead {
		t.Errorf("%d ran the job, want %d", got, ahead)
	}
	wantGone(t, ahead)
	if got := whoRuns(t, r); got == ahead {
		t.Errorf("%d ran the second job", got)
	}
	next := awaitSpare(t, s) // it comes by itself
	if got := whoRuns(t, r); got != next {
		t.Errorf("%d ran the third job, want %d", got, next)
	}
}

// TestSpareLearnsNothingAhead: what a job is handed on of the environment is what it
// is when the job comes, and no other job's.
func TestSpareLearnsNothingAhead(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://before.example")
	s := newSpare(t, &worker.Spare{})
	t.Setenv("HTTPS_PROXY", "http://now.example")
	variables := func(r worker.Runner) []string { return answers[[]string](t, r, "env")[0] }
	if env := variables(worker.Runner{Spare: s, Env: []string{"HTTPS_PROXY"}}); !slices.Contains(env, "HTTPS_PROXY=http://now.example") {
		t.Errorf("the job was handed %q", env)
	}
	s.StartNow()
	if env := variables(worker.Runner{Spare: s}); len(env) != 5 {
		t.Errorf("a job that is handed nothing has %q", env)
	}
}

// TestSpareIsBounded: it is taken for jobs of its own bounds alone, and they hold.
func TestSpareIsBounded(t *testing.T) {
	t.Parallel()
	s := newSpare(t, &worker.Spare{Limits: short})
	ahead := s.PID()
	if got := whoRuns(t, worker.Runner{Spare: s}); got == ahead {
		t.Error("a job of other bounds took it")
	}
	sooner := short // clocks and output are the parent's to hold
	sooner.PerStep = 2 * time.Second
	err := worker.Runner{Limits: sooner, Spare: s}.Run(t.Context(), "steps", []string{"overflow"}, nil)
	wantBound(t, err, worker.BoundStack, "overflow", "overflow: exceeded the stack bound of 8 MiB")
	wantGone(t, ahead)
	s.StartNow()
	err = worker.Runner{Limits: sooner, Spare: s}.Run(t.Context(), "steps", []string{"hang"}, nil)
	wantBound(t, err, worker.BoundTime, "hang", "hang: exceeded the time bound of 2s")
}

// TestDeadSpare: a process that has died meanwhile costs a job nothing.
func TestDeadSpare(t *testing.T) {
	t.Parallel()
	s := newSpare(t, &worker.Spare{})
	ahead := s.PID()
	must.Do(t, syscall.Kill(ahead, syscall.SIGKILL))
	wantGone(t, ahead)
	if got := whoRuns(t, worker.Runner{Spare: s}); got == ahead {
		t.Error("the dead ran a job")
	}
}

func TestSpareOfNothing(t *testing.T) {
	t.Parallel()
	s := &worker.Spare{Executable: "/nonexistent"}
	s.StartNow()
	if err := (worker.Runner{Spare: s}).Run(t.Context(), "double", 1, nil); err != nil {
		t.Errorf("another binary: %v", err)
	}
	if err := (worker.Runner{Executable: "/nonexistent", Spare: s}).Run(t.Context(), "double", 1, nil); err == nil {
		t.Error("no binary ran a job")
	}
}

func TestSpareEnds(t *testing.T) {
	t.Parallel()
	s := newSpare(t, &worker.Spare{})
	ahead := s.PID()
	s.Close()
	wantGone(t, ahead)
	s.Prepare()
	s.StartNow()
	if s.PID() != 0 {
		t.Error("a closed one starts processes")
	}
	if got := whoRuns(t, worker.Runner{Spare: s}); got == 0 {
		t.Error("no job without a spare")
	}
}

// TestSpareWaitsForWhatGoesFirst: no process is started while something has the processors first, and
// one is when that has ended, though it might have taken longer.
func TestSpareWaitsForWhatGoesFirst(t *testing.T) {
	t.Parallel()
	asked := make(chan int)
	left := make(chan time.Duration)
	s := &worker.Spare{}
	s.Busy = func() time.Duration {
		asked <- s.PID()
		return <-left
	}
	t.Cleanup(s.Close)
	s.Prepare()
	for _, d := range []time.Duration{time.Hour, time.Millisecond, 0} {
		select {
		case pid := <-asked:
			if pid != 0 {
				t.Errorf("%d was started though something goes first", pid)
			}
		case <-time.After(time.Minute):
			t.Fatal("it is not asked what goes first")
		}
		left <- d
	}
	awaitSpare(t, s)
}

// TestSpareComesBesideAJob: what comes while a job runs that nobody waits for finds a process, too.
func TestSpareComesBesideAJob(t *testing.T) {
	t.Parallel()
	s := newSpare(t, &worker.Spare{})
	r := worker.Runner{Spare: s}
	err := r.Run(t.Context(), "pid", nil, func(_ string, out json.RawMessage) error {
		next := awaitSpare(t, s)
		if got := whoRuns(t, r); got != next {
			t.Errorf("%d ran the job that came meanwhile, want %d", got, next)
		}
		return nil
	})
	must.Do(t, err)
}

// TestNoSpareOutlivesTheParent kills a parent the hard way.
func TestNoSpareOutlivesTheParent(t *testing.T) {
	t.Parallel()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	var ahead int
	_ = worker.Runner{}.Run(ctx, "spared", nil, func(_ string, out json.RawMessage) (err error) {
		ahead, err = strconv.Atoi(strings.TrimSpace(string(out)))
		kill()
		return err
	})
	wantGone(t, ahead)
}

// TestSpareWorksAhead: what it has done before is there for the job, and what that has
// emitted is not among the job's results.
func TestSpareWorksAhead(t *testing.T) {
	t.Parallel()
	did := func(r worker.Runner) []string { return answers[string](t, r, "did") }
	ahead := newSpare(t, &worker.Spare{Ahead: "did"})
	if got := did(worker.Runner{Spare: ahead}); !slices.Equal(got, []string{"2"}) {
		t.Errorf("after a job ahead: %q", got)
	}
	if got := did(worker.Runner{}); !slices.Equal(got, []string{"1"}) {
		t.Errorf("after none: %q", got)
	}
}

// TestSpareThatFailsAheadDoesTheJob: so does one whose process has ended by then.
func TestSpareThatFailsAheadDoesTheJob(t *testing.T) {
	t.Parallel()
	for _, ahead := range []string{"fail", "exit", "no such job"} {
		s := newSpare(t, &worker.Spare{Ahead: ahead})
		whoRuns(t, worker.Runner{Spare: s})
	}
}

// TestFrozenSpare: a process that was stopped meanwhile costs a job a moment, not the bound of its step.
func TestFrozenSpare(t *testing.T) {
	t.Parallel()
	r := worker.Runner{Limits: worker.Limits{PerStep: time.Hour, Total: time.Hour, Silence: 3 * time.Second}}
	r.Spare = newSpare(t, &worker.Spare{Limits: r.Limits})
	ahead := r.Spare.PID()
	must.Do(t, syscall.Kill(ahead, syscall.SIGSTOP))
	if got := whoRuns(t, r); got == ahead {
		t.Error("the frozen ran a job")
	}
	wantGone(t, ahead)
}
