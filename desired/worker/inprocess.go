package worker

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

type jobsKey struct{}

// InProcess has the [Runner]s that get the context do these jobs in this process, without a
// bound of memory or time and without a sandbox. It is for tests that run hundreds of commands
// and look at what these say: the start of a worker takes longer than most jobs.
func InProcess(ctx context.Context, jobs map[string]Job) context.Context {
	return context.WithValue(ctx, jobsKey{}, jobs)
}

// jobsOf are those of [InProcess], nil where there are none.
func jobsOf(ctx context.Context) map[string]Job {
	jobs, _ := ctx.Value(jobsKey{}).(map[string]Job)
	return jobs
}

// runHere is [Runner.run] with jobs in this process. A job that heeds no context goes on
// after its end, and nobody listens.
func runHere(ctx context.Context, limits Limits, do Job, in any, onStep func(string, json.RawMessage) error) (map[string]bool, error) {
	input, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	from, to := io.Pipe()
	defer from.Close()
	defer context.AfterFunc(ctx, func() { to.Close() })()
	go func() {
		out := &Output{w: to}
		if err := do(ctx, input, out); err != nil {
			_ = out.send(frameError, []byte(err.Error())) // nobody may listen any more
		}
		_ = out.send(frameDone, nil)
	}()
	s := &session{child: &child{stdout: from}, limits: limits, onStep: onStep, begun: map[string]bool{}}
	s.timer = time.AfterFunc(0, func() {})
	if _, err := s.listen(); err != nil {
		return s.begun, err
	}
	return s.begun, context.Cause(ctx)
}
