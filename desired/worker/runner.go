package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/edge"
)

// Runner runs jobs. The zero Runner has the default bounds.
type Runner struct {
	Limits Limits
	// Env are the names of environment variables to hand on, [NetworkEnv] for a
	// job that fetches. By itself the child sees none of the parent's.
	Env []string
	// Executable is the binary to start; empty for the one that runs.
	Executable string
	// Sandbox is what the job may reach; nil restricts nothing but memory and time.
	Sandbox *sandbox.Policy
	// Room is what workers may take together; nil is for any number. The time that a job
	// waits for it does not count.
	Room *Room
	// Spare has a process that was started ahead, where it is of the same binary and
	// bounds; nil starts one for each job.
	Spare *Spare
}

// NetworkEnv are the variables a fetching job needs: to find git-upload-pack,
// proxies, and certificate authorities. SSH_AUTH_SOCK, HOME and git's own
// variables are left out on purpose.
var NetworkEnv = []string{
	"PATH", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
}

// Run runs a job and calls onStep, which may be nil, with each result in order.
// While onStep works, the step's clock stands still. An error of onStep ends
// the run and is returned as it is.
//
// It returns a [*BoundError] when a bound ended the job, a [*JobError] when the
// job itself failed, and ctx's cause when ctx ended. Whatever happens, at the
// return the child and all that it started are gone.
func (r Runner) Run(ctx context.Context, job string, in any, onStep func(step string, out json.RawMessage) error) error {
	limits := r.Limits.withDefaults()
	leave, err := r.Room.enter(ctx, limits)
	if err != nil {
		return err
	}
	defer leave()
	_, err = r.run(ctx, limits, time.Now().Add(limits.Total), job, in, onStep)
	return err
}

// RunSteps runs a job over steps, and runs it again with those that are left
// whenever a step trips a bound, so that the errors of all steps come at once.
// In makes the job's input for the steps that remain; the job begins each of
// them, in any order, under its name.
//
// The first result holds the bounds that tripped, at most one a step; results
// that such a step emitted before it tripped have been handed to onStep. The
// error is for everything else, as with [Runner.Run]; a [BoundTotal], and a
// bound outside of any step, end it.
func (r Runner) RunSteps(ctx context.Context, job string, steps []string, in func(remaining []string) any,
	onStep func(step string, out json.RawMessage) error,
) ([]*BoundError, error) {
	limits := r.Limits.withDefaults()
	leave, err := r.Room.enter(ctx, limits)
	if err != nil {
		return nil, err
	}
	defer leave()
	deadline := time.Now().Add(limits.Total)
	var tripped []*BoundError
	for remaining := steps; len(remaining) > 0; {
		begun, err := r.run(ctx, limits, deadline, job, in(slices.Clone(remaining)), onStep)
		var bound *BoundError
		if !errors.As(err, &bound) || bound.Bound == BoundTotal || !slices.Contains(remaining, bound.Step) {
			return tripped, err
		}
		tripped = append(tripped, bound)
		remaining = slices.DeleteFunc(slices.Clone(remaining), func(s string) bool { return begun[s] })
	}
	return tripped, nil
}

// run reports which steps began.
func (r Runner) run(ctx context.Context, limits Limits, deadline time.Time, job string, in any,
	onStep func(string, json.RawMessage) error,
) (map[string]bool, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if here := jobsOf(ctx)[job]; here != nil {
		return runHere(ctx, limits, here, in, onStep)
	}
	order, err := r.order(limits, job, in)
	if err != nil {
		return nil, err
	}
	newSession := func() *session {
		return &session{limits: limits, deadline: deadline, onStep: onStep, begun: map[string]bool{}, redact: r.redact}
	}
	s := newSession()
	s.child = r.Spare.take(kindOf(r.Executable, limits))
	r.Spare.Prepare()
	if s.child != nil {
		s.awake = min(awake, limits.Silence)
		if err := s.run(ctx, order); !s.stillborn(err) {
			return s.begun, err
		}
		s = newSession()
	}
	if s.child, err = start(kindOf(r.Executable, limits), ""); err != nil {
		return nil, err
	}
	err = s.run(ctx, order)
	return s.begun, err
}

// redact is a text without secrets: those of this process, and passwords in what the job has of
// the environment.
func (r Runner) redact(text string) string {
	for _, name := range r.Env {
		value := os.Getenv(name)
		for _, address := range []string{value, "http://" + value} { // a proxy needs no scheme
			if proxy, err := url.Parse(address); err == nil {
				password, _ := proxy.User.Password()
				_ = edge.NewSecret(password) // is redacted from now on
			}
		}
	}
	return edge.Redact(text)
}

func (r Runner) order(limits Limits, job string, in any) ([]byte, error) {
	input, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding the job's input: %w", err)
	}
	o := order{Job: job, Env: map[string]string{}, Beat: limits.Silence / beats, Sandbox: r.Sandbox, In: input}
	for _, name := range r.Env {
		if value, ok := os.LookupEnv(name); ok {
			o.Env[name] = value
		}
	}
	return json.Marshal(o)
}
