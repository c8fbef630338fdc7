package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// child is a worker process that waits for its order.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr *excerpt
}

// kind is what processes have in common of which one can do for another.
type kind struct {
	executable    string // empty for the one that runs
	memory, stack int64
	space         uint64
}

func kindOf(executable string, l Limits) kind {
	return kind{executable, l.Memory, l.Stack, l.AddressSpace}
}

// start starts a process, which does the job ahead before it waits for its order; empty
// does none.
func start(k kind, ahead string) (*child, error) {
	cmd, err := k.command(ahead)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stderr: &excerpt{}}
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("starting the worker: %w", err)
	}
	return c, nil
}

func (k kind) command(ahead string) (*exec.Cmd, error) {
	executable := k.executable
	if executable == "" {
		var err error
		if executable, err = self(); err != nil {
			return nil, fmt.Errorf("finding this binary: %w", err)
		}
	}
	space := k.space
	if raceEnabled {
		space = 0
	}
	arguments := []string{Argument}
	if ahead != "" {
		arguments = append(arguments, ahead)
	}
	cmd := exec.Command(executable, arguments...) //nolint:noctx // the runner kills the whole process group, and says by which bound
	cmd.Env = []string{
		fmt.Sprintf("%s=%d,%d", Marker, space, k.stack),
		fmt.Sprintf("GOMEMLIMIT=%d", k.memory),
		"GOGC=400", // what a folder takes is small beside the bounds, and GOMEMLIMIT is near them
		"GOMAXPROCS=1",
		"GOTRACEBACK=single",
	}
	cmd.SysProcAttr = ownGroup()
	return cmd, nil
}

// self is this very binary. On Linux it is so even after an update replaced the file that it
// was started from: a newer child might not understand its parent.
func self() (string, error) {
	const exe = "/proc/self/exe"
	if _, err := os.Stat(exe); err == nil {
		return exe, nil
	}
	return os.Executable()
}

func (c *child) start() (err error) {
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	if c.stdout, err = c.cmd.StdoutPipe(); err != nil {
		return err
	}
	c.cmd.Stderr = c.stderr
	// A grandchild that got away may hold stderr open for ever.
	c.cmd.WaitDelay = time.Second
	return c.cmd.Start()
}

// alive reports whether the process, which has no order yet, still waits for one: as
// long as it does, its pipe is open and silent.
func (c *child) alive() bool {
	pipe, ok := c.stdout.(*os.File)
	if !ok || pipe.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	_, err := pipe.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded) && pipe.SetReadDeadline(time.Time{}) == nil
}

// end ends a process that has no order.
func (c *child) end() {
	killGroup(c.cmd.Process)
	_ = c.cmd.Wait() // killed
}
