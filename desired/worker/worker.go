// Package worker runs jobs in a child process of the same binary, within
// bounds. Some work cannot be bounded in its own process: it heeds no context,
// or a few bytes of input overflow its stack and take the whole process along.
// What a job does is none of this package's business.
//
// The binary calls [Main] before anything else, with the jobs it knows:
//
//	func main() {
//		worker.Main(map[string]worker.Job{"compile": compileJob}, restrict.Process)
//		…
//	}
//
// A job reads its input, says which step it is at, and emits results:
//
//	func compileJob(ctx context.Context, in []byte, out *worker.Output) error {
//		for _, folder := range folders(in) {
//			if err := out.Begin(folder); err != nil {
//				return err
//			}
//			if err := out.Emit(compile(folder)); err != nil {
//				return err
//			}
//		}
//		return nil
//	}
//
// The parent runs it with a [Runner]. When a bound trips, the child and all
// that it started are killed, and the [*BoundError] names the bound and the
// step. [Runner.RunSteps] then goes on with the steps that are left, so that
// one bad folder does not hide the others' results.
//
// Parent and child speak in frames over the child's stdin and stdout; see
// frame.go. The child's environment is empty but for what the bounds need, until
// its order comes and brings what [Runner.Env] adds. [Runner.Sandbox] takes from it what
// the job does not need: files, sockets, programs (package sandbox).
//
// To start the process takes longer than many a job. A [Spare] is a process that
// was started ahead, has done a job to have everything loaded, and waits for its order.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/seawall-dev/seawall/desired/worker/hugepages" // a worker ends soon, and allocates until then
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
)

// Argument is the first argument of a worker's command line, for those who
// list processes.
const Argument = "__worker"

// Marker is the environment variable without which [Argument] means nothing:
// it carries the bounds that the child sets for itself.
const Marker = "SEAWALL_WORKER"

// Job does some work in the child. An error ends the run and reaches the parent
// as text ([*JobError]); results that the parent must tell apart are emitted.
// What a job prints goes to stderr, wherever it prints it.
type Job func(ctx context.Context, in []byte, out *Output) error

// Main runs a job and exits when this process was started as a worker, and
// returns otherwise. Nothing may write to stdout before it. Restrict makes the
// sandbox that an order asks for.
func Main(jobs map[string]Job, restrict func(sandbox.Policy) error) {
	bounds, marked := os.LookupEnv(Marker)
	if !marked || len(os.Args) < 2 || os.Args[1] != Argument {
		return
	}
	pipe := os.Stdout
	os.Stdout = os.Stderr // a stray print must not end up between frames
	if err := confine(bounds); err != nil {
		fmt.Fprintln(os.Stderr, "confining the worker:", err)
		os.Exit(1)
	}
	if len(os.Args) > 2 && jobs[os.Args[2]] != nil {
		_ = jobs[os.Args[2]](context.Background(), nil, &Output{w: io.Discard})
	}
	out := &Output{w: pipe}
	if err := serve(jobs, restrict, os.Stdin, out); err != nil {
		_ = out.send(frameError, []byte(err.Error())) // no one left to tell
		os.Exit(1)
	}
	if out.send(frameDone, nil) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// confine sets the bounds that only the process itself can set: address space
// and stack, both in bytes, zero for none.
func confine(bounds string) error {
	space, stack, _ := strings.Cut(bounds, ",")
	spaceBytes, err := strconv.ParseUint(space, 10, 63)
	if err != nil {
		return err
	}
	stackBytes, err := strconv.ParseUint(stack, 10, 62)
	if err != nil {
		return err
	}
	if stackBytes > 0 {
		debug.SetMaxStack(int(stackBytes))
	}
	return limitProcess(spaceBytes)
}

// order is what a worker waits for: one job. It may hold secrets, as the
// environment may, and only ever goes over the pipe.
type order struct {
	Job     string
	Env     map[string]string
	Beat    time.Duration   // from one sign of life to the next
	Sandbox *sandbox.Policy `json:",omitempty"`
	In      json.RawMessage
}

func serve(jobs map[string]Job, restrict func(sandbox.Policy) error, stdin io.Reader, out *Output) error {
	o, err := readOrder(stdin)
	if err != nil {
		return err
	}
	go dieWithParent(stdin)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // who finds the parent gone must not die before the others
	go out.beat(o.Beat)
	job := jobs[o.Job]
	if job == nil {
		return errors.New("this binary does not know the job")
	}
	for name, value := range o.Env {
		if err := os.Setenv(name, value); err != nil {
			return errors.New("setting the job's environment") // never a value
		}
	}
	if o.Sandbox != nil {
		if err := restrict(*o.Sandbox); err != nil {
			return fmt.Errorf("restricting the worker: %w; workers.sandbox: \"off\" in the configuration runs it without", err)
		}
	}
	return job(context.Background(), o.In, out)
}

func readOrder(stdin io.Reader) (o order, err error) {
	kind, payload, err := readFrame(stdin, maxFrame)
	if err != nil {
		return o, fmt.Errorf("reading the job's input: %w", err)
	}
	if kind != frameOrder || json.Unmarshal(payload, &o) != nil {
		return o, errors.New("reading the job's input: it is something else")
	}
	return o, nil
}

// dieWithParent waits for the parent to let go of stdin, which it does at its
// death at the latest, and takes along whatever this process has started. A
// job cannot keep it from running: Go preempts even an endless loop.
func dieWithParent(stdin io.Reader) {
	_, _ = io.Copy(io.Discard, stdin)
	killOwnGroup()
	os.Exit(1)
}

// beat shows signs of life, until the process ends.
func (o *Output) beat(every time.Duration) {
	for o.send(frameAlive, nil) == nil {
		time.Sleep(max(every, time.Millisecond))
	}
}

// Output is the child's end of the pipe. It is for one goroutine at a time.
type Output struct{ w io.Writer }

// Begin says that the job turns to a step. The time bound starts anew.
func (o *Output) Begin(step string) error { return o.send(frameBegin, []byte(step)) }

// Emit hands a result of the current step to the parent, as JSON.
func (o *Output) Emit(result any) error {
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("encoding a result: %w", err)
	}
	return o.send(frameResult, data)
}

func (o *Output) send(kind frameKind, payload []byte) error { return writeFrame(o.w, kind, payload) }
