package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A script runs its commands in one process, the host: to start a process takes longer
// than most commands. The host gives each command what it has in a process of its own:
// arguments, environment, folder and streams. What ends a process, reads its input or
// needs a terminal is run by process, tty and daemon.

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

// commandHost is the process of a script's commands, as the script knows it.
type commandHost struct {
	cmd     *exec.Cmd
	input   io.WriteCloser
	replies *json.Decoder
	errors  bytes.Buffer // of the process itself, such as the trace of a panic
}

// startHost starts the process, which ends with the script.
func startHost(ts *testscript.TestScript) *commandHost {
	h := &commandHost{cmd: exec.Command("seawall-host")}
	h.cmd.Env = []string{"GOGC=" + fewCollections, "GORACE=" + quickExit, "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	h.cmd.Stderr = &h.errors
	var err error
	h.input, err = h.cmd.StdinPipe()
	ts.Check(err)
	output, err := h.cmd.StdoutPipe()
	ts.Check(err)
	h.replies = json.NewDecoder(output)
	ts.Check(h.cmd.Start())
	ts.Defer(func() {
		_ = h.input.Close()
		_ = h.cmd.Wait() // a panic was reported by the call that it ended
	})
	return h
}

// run runs a command line of seawall in the host.
func (s *stage) run(ts *testscript.TestScript, args []string) reply {
	if s.host == nil {
		s.host = startHost(ts)
	}
	h := s.host
	late := time.AfterFunc(patience, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	ts.Check(json.NewEncoder(h.input).Encode(call{Args: args, Env: s.environment(ts), Dir: ts.MkAbs(".")}))
	var r reply
	if err := h.replies.Decode(&r); err != nil {
		_ = h.cmd.Wait()
		ts.Fatalf("the process of the commands ended with %v: %s", h.cmd.ProcessState, &h.errors)
	}
	return r
}

// environment is that of the script. Testscript hands out no list: the names are those of
// its start, those that commands of these tests set, and all that the script mentions.
func (s *stage) environment(ts *testscript.TestScript) map[string]string {
	if s.names == nil {
		text, err := os.ReadFile(filepath.Join("testdata", "script", ts.Name()+".txtar"))
		ts.Check(err)
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

// hostMain runs one command line after the other in this process.
func hostMain() {
	if err := host(json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func host(calls *json.Decoder, replies *json.Encoder) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	var streams [2]*os.File
	for i := range streams {
		if streams[i], err = os.CreateTemp("", "seawall-stream-"); err != nil {
			return err
		}
		if err := os.Remove(streams[i].Name()); err != nil {
			return err
		}
	}
	os.Stdin, os.Stdout, os.Stderr = null, streams[0], streams[1]
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

// answer runs the command line as main does. os.Stdout and os.Stderr are files.
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
	os.Args = append([]string{"seawall"}, c.Args...)
	r.Code = Main()
	if r.Out, err = drain(os.Stdout); err == nil {
		r.Err, err = drain(os.Stderr)
	}
	return r, err
}

// drain returns what was written to a file, and empties it.
func drain(f *os.File) (string, error) {
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return "", err
	}
	text := make([]byte, size)
	if _, err := f.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if err := f.Truncate(0); err != nil {
		return "", err
	}
	_, err = f.Seek(0, io.SeekStart)
	return string(text), err
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
		var err error
		want, err = strconv.Atoi(code)
		ts.Check(err)
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
