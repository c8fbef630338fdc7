package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/worker"
)

// A job waits until there is room for all that it may take, and no longer than its context
// allows. The time it waits is not the job's.
func TestRoom(t *testing.T) {
	t.Parallel()
	room := worker.NewRoom(short.Most())
	long := short
	long.PerStep = time.Minute
	ctx, end := context.WithCancel(t.Context())
	defer end()
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- worker.Runner{Limits: long, Room: room}.Run(ctx, "steps", []string{"drip"}, func(string, json.RawMessage) error {
			select {
			case <-began:
			default:
				close(began)
			}
			return nil
		})
	}()
	<-began
	full := errors.New("there is no room")
	hurry, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, full)
	defer cancel()
	if err := (worker.Runner{Limits: short, Room: room}).Run(hurry, "double", 1, nil); !errors.Is(err, full) {
		t.Errorf("beside another job: %v", err)
	}
	end()
	<-ended
	if err := (worker.Runner{Limits: short, Room: room}).Run(t.Context(), "double", 1, nil); err != nil {
		t.Errorf("after it: %v", err)
	}
	if err := (worker.Runner{Limits: short, Room: worker.NewRoom(1)}).Run(t.Context(), "double", 1, nil); err != nil {
		t.Errorf("a job that may take more than there is: %v", err)
	}
	if n := worker.NewRoom(5*short.Most() - 1).Workers(short); n != 4 {
		t.Errorf("room for %d workers, want 4", n)
	}
}

// What the kernel kills for want of memory is reported as that, and not as the job's.
func TestKilledByTheKernel(t *testing.T) {
	t.Parallel()
	err := worker.Runner{Limits: short}.Run(t.Context(), "steps", []string{"fine", "killed"}, nil)
	wantBound(t, err, worker.BoundKilled, "killed", "killed: the kernel killed the worker: the machine or the container has no memory left")
}

var _ = func() bool {
	evil["score"] = func(out *worker.Output) {
		score, _ := os.ReadFile("/proc/self/oom_score_adj") // empty where it is not there
		_ = out.Emit(string(score))
	}
	evil["killed"] = func(*worker.Output) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	return true
}()

// A worker is the first that the kernel ends where memory runs out.
func TestWorkerIsEndedFirst(t *testing.T) {
	var score string
	err := worker.Runner{}.Run(t.Context(), "steps", []string{"score"}, func(_ string, out json.RawMessage) error {
		score += string(out)
		return nil
	})
	if _, there := os.Stat("/proc/self/oom_score_adj"); there != nil {
		t.Skip("there is no /proc")
	}
	if err != nil || !strings.Contains(score, "500") {
		t.Errorf("score %s, %v", score, err)
	}
}
