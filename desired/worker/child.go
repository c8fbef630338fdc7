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

// start starts a process.
func (r Runner) start(limits Limits) (*child, error) {
	cmd, err := r.command(limits)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, stderr: &excerpt{}}
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("starting the worker: %w", err)
	}
	return c, nil
}

func (r Runner) command(limits Limits) (*exec.Cmd, error) {
	executable := r.Executable
	if executable == "" {
		var err error
		if executable, err = self(); err != nil {
			return nil, fmt.Errorf("finding this binary: %w", err)
		}
	}
	cmd := exec.Command(executable, Argument)
	space := limits.AddressSpace
	if raceEnabled {
		space = 0
	}
	cmd.Env = []string{
		fmt.Sprintf("%s=%d,%d", Marker, space, limits.Stack),
		fmt.Sprintf("GOMEMLIMIT=%d", limits.Memory),
		"GOGC=200",
		"GOMAXPROCS=1",
		"GOTRACEBACK=single",
	}
	cmd.SysProcAttr = ownGroup()
	return cmd, nil
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
