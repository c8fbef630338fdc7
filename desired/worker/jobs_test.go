package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/desired/worker/sandbox/restrict"
	"github.com/seawall-dev/seawall/integration/soak"
)

// The test binary is its own worker, as the real one is.
func TestMain(m *testing.M) {
	worker.Main(map[string]worker.Job{
		"double": double, "steps": steps, "env": environment, "fail": fail, "parent": parent,
		"pid": pid, "spared": spared, "reach": reach, "did": did, "exit": func(context.Context, []byte, *worker.Output) error { os.Exit(3); return nil },
	}, restrict.Process)
	if os.Getenv("SEAWALL_TEST_MAIN") != "" {
		fmt.Print("the program itself")
		os.Exit(0)
	}
	// Many tests wait for a bound.
	soak.AtOnce(8)
	os.Exit(m.Run())
}

// reach is a job of tests that are for one system alone.
var reach worker.Job

var times int // that this process has done it

// did emits how often the process has done it.
func did(_ context.Context, _ []byte, out *worker.Output) error {
	times++
	return out.Emit(strconv.Itoa(times))
}

func double(_ context.Context, in []byte, out *worker.Output) error {
	var n int
	if err := json.Unmarshal(in, &n); err != nil {
		return err
	}
	fmt.Println("a stray print")
	if err := out.Begin("first"); err != nil {
		return err
	}
	if err := out.Emit(n * 2); err != nil {
		return err
	}
	if err := out.Begin("second"); err != nil {
		return err
	}
	return out.Emit(map[string]int{"n": n * 4})
}

func fail(_ context.Context, _ []byte, out *worker.Output) error {
	_ = out.Begin("somewhere")
	return errors.New("no such thing")
}

func environment(_ context.Context, _ []byte, out *worker.Output) error {
	return out.Emit(os.Environ())
}

// steps does what each step's name says: "loop", or "loop:x" to have several.
func steps(_ context.Context, in []byte, out *worker.Output) error {
	var names []string
	if err := json.Unmarshal(in, &names); err != nil {
		return err
	}
	for _, name := range names {
		if err := out.Begin(name); err != nil {
			return err
		}
		what, _, _ := strings.Cut(name, ":")
		if evil[what] != nil {
			evil[what](out)
		}
		if err := out.Emit("done with " + name); err != nil {
			return err
		}
	}
	return nil
}

// pid says which process this is.
func pid(_ context.Context, _ []byte, out *worker.Output) error {
	return out.Emit(os.Getpid())
}

// spared is a worker with a spare process, which it names.
func spared(ctx context.Context, _ []byte, out *worker.Output) error {
	spare := &worker.Spare{}
	spare.StartNow()
	if err := out.Emit(spare.PID()); err != nil {
		return err
	}
	loop(out)
	return nil
}

var sink []byte

var evil = map[string]func(*worker.Output){
	"panic": func(*worker.Output) { panic("the secret plans") },
	"leak": func(*worker.Output) {
		fmt.Fprintf(os.Stderr, "pushing with %s by %s\n", leaked, os.Getenv("HTTPS_PROXY"))
		fmt.Fprint(os.Stderr, strings.Repeat("a frame\n", 100))
		os.Exit(3)
	},
	"exit":     func(*worker.Output) { os.Exit(7) },
	"exit0":    func(*worker.Output) { os.Exit(0) },
	"loop":     loop,
	"freeze":   func(*worker.Output) { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP); loop(nil) },
	"hang":     func(*worker.Output) { time.Sleep(time.Hour) }, // takes no processor
	"overflow": func(*worker.Output) { busy = overflow(1) },
	"hog": func(*worker.Output) {
		for n := 1 << 20; ; n *= 2 {
			sink = append(sink, bytes.Repeat([]byte{1}, n)...)
		}
	},
	"garbage": func(*worker.Output) { _, _ = os.NewFile(1, "stdout").WriteString("Hello, I am garbage\n") },
	"lie":     func(*worker.Output) { _, _ = os.NewFile(1, "stdout").Write([]byte{'r', 0xff, 0xff, 0xff, 0xff}) },
	"cut":     func(*worker.Output) { _, _ = os.NewFile(1, "stdout").Write([]byte{'r', 0, 0, 1, 0, '"'}); os.Exit(0) },
	"huge":    func(out *worker.Output) { _ = out.Emit(strings.Repeat("x", 2<<20)) },
	"many": func(out *worker.Output) {
		for out.Emit(strings.Repeat("x", 100<<10)) == nil { // until the pipe breaks
		}
	},
	"chatty": func(*worker.Output) {
		fmt.Fprintln(os.Stderr, "first words")
		fmt.Fprint(os.Stderr, strings.Repeat("blah\n", 1<<20))
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(3)
	},
	"child":  func(out *worker.Output) { startSleeper(out); loop(out) },
	"desert": func(out *worker.Output) { startSleeper(out); os.Exit(5) },
	"work":   func(*worker.Output) { time.Sleep(short.PerStep * 11 / 20) }, // each is within the bound, and two are not
	"drip": func(out *worker.Output) {
		for out.Emit("x") == nil {
			time.Sleep(20 * time.Millisecond)
		}
	},
	"orphan": func(out *worker.Output) { startSleeper(out) },
}

// loop is what no context ends.
func loop(*worker.Output) {
	for i := 0; ; i++ {
		busy = i
	}
}

var busy int

// overflow ends only where the stack does.
func overflow(n int) int {
	if n < 0 {
		return 0
	}
	return n + overflow(n+1)
}

// startSleeper starts a grandchild that holds the worker's stderr, and emits
// its number.
func startSleeper(out *worker.Output) {
	cmd := exec.Command("/bin/sleep", "600")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	_ = out.Emit(strconv.Itoa(cmd.Process.Pid))
}

// parent is a worker that runs a worker, to be killed itself.
func parent(ctx context.Context, _ []byte, out *worker.Output) error {
	return worker.Runner{}.Run(ctx, "steps", []string{"child"}, func(_ string, result json.RawMessage) error {
		return out.Emit(result)
	})
}

// short are bounds that a test can wait for, and in which a slow machine starts a process.
var short = worker.Limits{PerStep: 3 * time.Second, Output: 1 << 20, Memory: 64 << 20, AddressSpace: 2 << 30, Stack: 8 << 20}
