package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired/worker"
)

// TestInProcess: a job says and returns in this process what it does in a worker.
func TestInProcess(t *testing.T) {
	t.Parallel()
	here := worker.InProcess(t.Context(), map[string]worker.Job{"double": double, "fail": fail})
	said := func(ctx context.Context) (all []string) {
		if err := (worker.Runner{}).Run(ctx, "double", 21, func(step string, out json.RawMessage) error {
			all = append(all, step+string(out))
			return nil
		}); err != nil {
			t.Error(err)
		}
		return all
	}
	if got, want := said(here), said(t.Context()); !slices.Equal(got, want) || len(got) != 2 {
		t.Errorf("in this process %q, in a worker %q", got, want)
	}
	var failed *worker.JobError
	if err := (worker.Runner{}).Run(here, "fail", nil, nil); !errors.As(err, &failed) || failed.Step != "somewhere" || failed.Message != "no such thing" {
		t.Errorf("got %v, want the error of the job", err)
	}
}

// TestInProcessEnds: who cancels does not wait for the job.
func TestInProcessEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan struct{})
	defer close(ends)
	err := worker.Runner{}.Run(worker.InProcess(ctx, map[string]worker.Job{"wait": func(context.Context, []byte, *worker.Output) error {
		cancel()
		<-ends
		return nil
	}}), "wait", nil, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
