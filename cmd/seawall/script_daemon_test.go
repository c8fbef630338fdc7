package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds every wait for a daemon. It is for a hanging one only:
// whatever is waited for is waited for by its own line or its own end, on a machine
// that is slow too.
const patience = 3 * time.Minute

// daemonProcess is a seawall in the background whose lines can be waited for.
type daemonProcess struct {
	cmd      *exec.Cmd
	lines    chan string // of both streams
	ended    chan error
	out, err strings.Builder
}

func startDaemon(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 3, many, "daemon NAME REGEXP ARG…")
	d := &daemonProcess{lines: make(chan string, 10_000), ended: make(chan error, 1)}
	d.cmd = exec.Command("seawall", args[2:]...)
	d.cmd.Dir = ts.MkAbs(".")
	env := stageOf(ts).environment(ts)
	delete(env, "GOGC")
	d.cmd.Env = pairs(env)
	stdout, err := d.cmd.StdoutPipe()
	ts.Check(err)
	stderr, err := d.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(d.cmd.Start())
	var read sync.WaitGroup
	read.Go(func() { d.read(stdout, &d.out) })
	read.Go(func() { d.read(stderr, &d.err) })
	go func() {
		read.Wait()
		close(d.lines)
		d.ended <- d.cmd.Wait()
	}()
	ts.Defer(func() { _ = d.cmd.Process.Kill() })
	stageOf(ts).daemons[args[0]] = d
	d.await(ts, args[1])
}

func (d *daemonProcess) read(from io.Reader, to *strings.Builder) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		to.WriteString(lines.Text() + "\n")
		d.lines <- lines.Text()
	}
}

// await waits for further lines, one for each pattern, in any order.
func (d *daemonProcess) await(ts *testscript.TestScript, patterns ...string) {
	var want []*regexp.Regexp
	for _, pattern := range patterns {
		compiled, err := regexp.Compile(pattern)
		ts.Check(err)
		want = append(want, compiled)
	}
	late := time.After(patience)
	for len(want) > 0 {
		select {
		case line, open := <-d.lines:
			if !open {
				ts.Fatalf("it ended before a line matched %q:\n%s%s", want, d.out.String(), d.err.String())
			}
			ts.Logf("%s", line)
			want = slices.DeleteFunc(want, func(pattern *regexp.Regexp) bool { return pattern.MatchString(line) })
		case <-late:
			ts.Fatalf("no line matched %q", want)
		}
	}
}

func theDaemon(ts *testscript.TestScript, name string) *daemonProcess {
	d := stageOf(ts).daemons[name]
	if d == nil {
		ts.Fatalf("there is no daemon %q", name)
	}
	return d
}

func awaitDaemon(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, many, "await NAME REGEXP…")
	theDaemon(ts, args[0]).await(ts, args[1:]...)
}

func signalDaemon(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "signal NAME SIGNAL")
	theDaemon(ts, args[0]).signal(ts, args[1])
}

func (d *daemonProcess) signal(ts *testscript.TestScript, name string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "KILL": syscall.SIGKILL}
	signal, ok := signals[name]
	if !ok {
		ts.Fatalf("the signal %q is not one of INT, TERM, HUP, USR1, KILL", name)
	}
	ts.Check(d.cmd.Process.Signal(signal))
}

func endDaemon(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 3, 3, "end NAME SIGNAL CODE")
	d := theDaemon(ts, args[0])
	want := number(ts, args[2])
	d.signal(ts, args[1])
	var ended error
	select {
	case ended = <-d.ended:
	case <-time.After(patience):
		ts.Fatalf("it did not end")
	}
	got := 0
	var exit *exec.ExitError
	if errors.As(ended, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(ended)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), []byte(d.out.String()), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".err"), []byte(d.err.String()), 0o644))
	if got != want {
		ts.Fatalf("exit code %d, want %d:\n%s", got, want, d.err.String())
	}
}

// untilSays asks the daemon again and again, until its answer matches. The exit code is
// not part of it.
func untilSays(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, many, "until REGEXP ARG…")
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	late := time.Now().Add(patience)
	for pause := 50 * time.Millisecond; ; time.Sleep(pause) {
		r := stageOf(ts).run(ts, args[1:])
		if want.MatchString(r.Out + r.Err) {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("no answer matched %q; the last was:\n%s%s", want, r.Out, r.Err)
		}
		pause = min(2*pause, time.Second)
	}
}

// listening waits until a daemon says at which address it serves, as it does at its start
// and after each reload.
func listening(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, 2, "listening NAME VARIABLE")
	said := regexp.MustCompile(`"msg":"serving","address":"([^"]+)"`)
	late := time.After(patience)
	for {
		select {
		case line, open := <-theDaemon(ts, args[0]).lines:
			if found := said.FindStringSubmatch(line); found != nil {
				ts.Setenv(args[1], found[1])
				return
			}
			if !open {
				ts.Fatalf("it ended")
			}
		case <-late:
			ts.Fatalf("it does not say where it serves")
		}
	}
}
