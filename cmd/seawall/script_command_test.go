package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/worker"
	"github.com/seawall-dev/seawall/edge"
)

// A script runs its commands in one process, its host: to start a process takes longer
// than most commands. The host gives each command what it has in a process of its own:
// arguments, environment, folder and streams, and no secret that it was not told. What ends a process, reads its input or
// needs a terminal is run by process, tty and daemon. Once a script has ended, another
// one gets its host, which has the schemas compiled.

// call is a command line for the host.
type call struct {
	Args []string
	Env  map[string]string
	Dir  string
}

// reply is what a command line came to.
type reply struct {
	Code     int
	Out, Err string
}

// commandHost is the process of commands, as their test knows it.
type commandHost struct {
	cmd     *exec.Cmd
	input   io.WriteCloser
	calls   *gob.Encoder // not JSON: bytes stay what they are
	replies *gob.Decoder
	errors  bytes.Buffer // of the process itself, such as the trace of a panic
	failed  bool         // it has ended
}

// idleHosts are the processes whose script has ended.
var idleHosts struct {
	sync.Mutex
	list []*commandHost
}

// takeHost returns a process that is idle or new, which is to be released.
func takeHost() (*commandHost, error) {
	idleHosts.Lock()
	defer idleHosts.Unlock()
	last := len(idleHosts.list) - 1
	if last < 0 {
		return startHost()
	}
	h := idleHosts.list[last]
	idleHosts.list = idleHosts.list[:last]
	return h, nil
}

// release makes a process idle, unless it has ended.
func (h *commandHost) release() {
	if h.failed {
		return
	}
	idleHosts.Lock()
	defer idleHosts.Unlock()
	idleHosts.list = append(idleHosts.list, h)
}

// closeHosts ends the processes that are idle.
func closeHosts() {
	idleHosts.Lock()
	defer idleHosts.Unlock()
	for _, h := range idleHosts.list {
		h.close()
	}
	idleHosts.list = nil
}

func startHost() (*commandHost, error) {
	h := &commandHost{cmd: exec.Command("seawall-host")}
	h.cmd.Env = []string{"GOGC=" + fewCollections, "GORACE=" + quickExit, "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	h.cmd.Stderr = &h.errors
	var err error
	if h.input, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.calls, h.replies = gob.NewEncoder(h.input), gob.NewDecoder(output)
	return h, h.cmd.Start()
}

// close ends the process. That a command has ended it was the error of run.
func (h *commandHost) close() {
	_ = h.input.Close()
	_ = h.cmd.Wait()
}

// run runs a command line. A command that hangs ends with the process.
func (h *commandHost) run(c call) (r reply, err error) {
	late := time.AfterFunc(patience, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	err = h.calls.Encode(c)
	if err == nil {
		err = h.replies.Decode(&r)
	}
	if err != nil {
		h.failed = true
		h.close()
		return r, fmt.Errorf("the process of the commands ended with %v: %s", h.cmd.ProcessState, &h.errors)
	}
	return r, nil
}

// run runs a command line of seawall in the script's host.
func (s *stage) run(ts *testscript.TestScript, args []string) reply {
	if s.host == nil {
		var err error
		s.host, err = takeHost()
		ts.Check(err)
		ts.Defer(s.host.release)
	}
	r, err := s.host.run(call{Args: args, Env: s.environment(ts), Dir: ts.MkAbs(".")})
	ts.Check(err)
	return r
}

// environment is that of the script. Testscript hands out no list: the names are those of
// its start, those that commands of these tests set, and all that the script mentions.
func (s *stage) environment(ts *testscript.TestScript) map[string]string {
	if s.names == nil {
		text, err := os.ReadFile(filepath.Join("testdata", "script", ts.Name()+".txtar"))
		if !errors.Is(err, fs.ErrNotExist) { // one that a test makes mentions none
			ts.Check(err)
		}
		s.names = append(s.start, "SEAWALL_CONFIG", "SEAWALL_RULESETS_TOKEN", "SEAWALL_TOKENS_TOKEN")
		s.names = append(s.names, regexp.MustCompile(`\b[A-Z][A-Z_]+\b`).FindAllString(string(text), -1)...)
	}
	env := map[string]string{}
	for _, name := range s.names {
		if value := ts.Getenv(name); value != "" {
			env[name] = value
		}
	}
	env["PWD"] = ts.MkAbs(".")
	return env
}

// pairs is an environment as a process takes it.
func pairs(env map[string]string) (list []string) {
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

// hostMain runs one command line after the other in this process, which does the jobs of
// workers, too.
func hostMain() {
	if err := host(gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func host(calls *gob.Decoder, replies *gob.Encoder) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	os.Stdin = null
	for {
		var c call
		if err := calls.Decode(&c); err != nil {
			return err
		}
		r, err := c.answer()
		if err == nil {
			err = replies.Encode(r)
		}
		if err != nil {
			return err
		}
	}
}

// answer runs the command line as main does. Each has files of its own as os.Stdout and
// os.Stderr: what a command has left running, which ends with a process of its own, does
// not write into the output of the next one.
func (c call) answer() (r reply, err error) {
	os.Clearenv()
	for name, value := range c.Env {
		if err := os.Setenv(name, value); err != nil {
			return r, err
		}
	}
	if err := os.Chdir(c.Dir); err != nil {
		return r, err
	}
	var drain [2]func() (string, error)
	for i, stream := range []**os.File{&os.Stdout, &os.Stderr} {
		if *stream, drain[i], err = newStream(); err != nil {
			return r, err
		}
	}
	os.Args = append([]string{"seawall"}, c.Args...)
	edge.ForgetSecrets()
	r.Code = Main(worker.InProcess(context.Background(), evaluate.Jobs))
	if r.Out, err = drain[0](); err == nil {
		r.Err, err = drain[1]()
	}
	return r, err
}

// newStream returns a file without a name, and what returns its text and closes it.
func newStream() (f *os.File, drain func() (string, error), err error) {
	if f, err = os.CreateTemp("", "seawall-stream-"); err != nil {
		return nil, nil, err
	}
	drain = func() (string, error) {
		defer f.Close()
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
		text, err := io.ReadAll(f)
		return string(text), err
	}
	return f, drain, os.Remove(f.Name())
}

// exits runs seawall in the host, and each other program in a process.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, many, "exits CODE PROGRAM ARG…")
	if args[1] != "seawall" {
		process(ts, neg, args)
		return
	}
	r := stageOf(ts).run(ts, args[2:])
	fmt.Fprint(ts.Stdout(), r.Out)
	fmt.Fprint(ts.Stderr(), r.Err)
	holdTo(ts, args[0], r)
}

func process(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 2, many, "process CODE PROGRAM ARG…")
	var exit *exec.ExitError
	r := reply{}
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		r.Code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	r.Out, r.Err = ts.ReadFile("stdout"), ts.ReadFile("stderr")
	holdTo(ts, args[0], r)
}

// holdTo compares an exit code with the one that is wanted, which may be "fails": that is
// 1, with an error and hints alone.
func holdTo(ts *testscript.TestScript, code string, r reply) {
	want := 1
	if code != "fails" {
		want = number(ts, code)
	}
	if r.Code != want {
		ts.Fatalf("exit code %d, want %d", r.Code, want)
	}
	if strings.Contains(r.Err, "goroutine ") {
		ts.Fatalf("a stack trace reached the person")
	}
	if code == "fails" {
		onlyAnError(ts, r)
	}
}

func onlyAnError(ts *testscript.TestScript, r reply) {
	if r.Out != "" {
		ts.Fatalf("a failure wrote to stdout:\n%s", r.Out)
	}
	for i, line := range strings.Split(strings.TrimSuffix(r.Err, "\n"), "\n") {
		begin := "hint: "
		if i == 0 {
			begin = "seawall: error: "
		}
		if !strings.HasPrefix(line, begin) {
			ts.Fatalf("line %d of stderr does not begin with %q: %s", i+1, begin, line)
		}
	}
}

func fails(ts *testscript.TestScript, neg bool, args []string) {
	take(ts, neg, args, 1, many, "fails PROGRAM ARG…")
	exits(ts, false, append([]string{"fails"}, args...))
}
