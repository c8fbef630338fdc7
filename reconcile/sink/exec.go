package sink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired/trusted"
	"github.com/seawall-dev/seawall/edge"
)

const (
	usualTimeout = 30 * time.Second
	// A child that the command left behind may keep its output open for ever.
	grace = time.Second
)

// command is the sink of kind exec.
type command struct {
	name    string
	argv    []string
	timeout time.Duration
}

func newCommand(name string, c Exec) (place, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("argv must begin with a program")
	}
	timeout, err := soundTimeout(c.Timeout)
	return command{name, c.Argv, timeout}, err
}

// check looks for the program, which gets the secret: no other user may write to it.
func (c command) check(string) error {
	found, err := exec.LookPath(c.argv[0])
	if err != nil {
		return err
	}
	return trusted.Own(found)
}

func (c command) deliver(ctx context.Context, key string, secret edge.Secret) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("it took longer than %v and was killed", c.timeout))
	defer cancel()
	var said output
	run := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	run.Env = c.environment(key)
	run.Stdin = strings.NewReader(secret.Reveal())
	run.Stdout, run.Stderr = &said, &said
	run.SysProcAttr = ownGroup()
	run.Cancel = func() error { return killGroup(run.Process) }
	run.WaitDelay = grace
	err := run.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // status 0; something it left behind still holds its output
	}
	if text := said.redacted(); text != "" {
		return fmt.Errorf("running %s: %w; it said %q", c.argv[0], err, text)
	}
	return fmt.Errorf("running %s: %w", c.argv[0], err)
}

func (c command) environment(key string) []string {
	env := []string{"SEAWALL_SINK=" + c.name, "SEAWALL_KEY=" + key}
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
