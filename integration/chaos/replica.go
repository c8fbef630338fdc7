//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
)

// replica is one of the daemons, which is ended and started again.
type replica struct {
	name, binary, dir, config string

	mu     sync.Mutex
	daemon *harness.Daemon // nil: it is not there, or does not serve yet
	paused bool
	busy   bool // something is done to it
	pauses []span
}

// start starts the process and waits until it serves.
func (r *replica) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(r.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	d, err := harness.StartDaemon(r.binary, r.config, func(line []byte) { _, _ = log.Write(append(line, '\n')) }, "--log-level", "debug")
	if err != nil {
		return errors.Join(err, log.Close())
	}
	go func() { <-d.Ended; _ = log.Close() }()
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	if err := d.Serves(ctx); err != nil {
		_ = d.Process.Kill()
		<-d.Ended
		return errors.Join(err, r.ended(d))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.daemon = d
	return nil
}

// running is the daemon; nil where it is not there, or paused.
func (r *replica) running() *harness.Daemon {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.daemon == nil || r.paused || !r.daemon.Running() {
		return nil
	}
	return r.daemon
}

// take says that something is to be done to it; false where something is.
func (r *replica) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		return false
	}
	r.busy = true
	return true
}

func (r *replica) give() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
}

// forget takes the daemon out, which is about to end; nil where it is not there, or has ended.
func (r *replica) forget() *harness.Daemon {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.daemon
	if r.daemon = nil; d == nil || !d.Running() {
		return nil
	}
	return d
}

// trouble: a daemon does not end by itself, whatever the database does.
func (r *replica) trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.daemon == nil || r.daemon.Running() {
		return nil
	}
	return r.ended(r.daemon)
}

// ended is what a daemon that has ended says of it.
func (r *replica) ended(d *harness.Daemon) error {
	said, _ := os.ReadFile(filepath.Join(r.dir, "log"))
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return fmt.Errorf("replica %s ended by itself: %s:\n%s", r.name, d.ProcessState, strings.Join(lines[max(0, len(lines)-8):], "\n"))
}

// kill ends it as a machine that loses its power does.
func (r *replica) kill() {
	if d := r.forget(); d != nil {
		_ = d.Process.Kill()
		<-d.Ended
	}
}

// endGrace is how long it may take to end by itself.
const endGrace = time.Minute

// end asks it to end, and waits until it has.
func (r *replica) end() error {
	d := r.forget()
	if d == nil {
		return nil
	}
	_ = d.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.Ended:
		if code := d.ProcessState.ExitCode(); code != 0 {
			return fmt.Errorf("replica %s ended with %s", r.name, d.ProcessState)
		}
		return nil
	case <-time.After(endGrace):
		_ = d.Process.Kill()
		<-d.Ended
		return fmt.Errorf("replica %s did not end within %s", r.name, endGrace)
	}
}

// pause stops the process for a time, and returns how long that was: the context ends it sooner. Its
// clock goes on.
func (r *replica) pause(ctx context.Context, length time.Duration) (time.Duration, error) {
	d := r.running()
	if d == nil {
		return 0, nil
	}
	r.setPaused(true)
	from := time.Now()
	if err := d.Process.Signal(syscall.SIGSTOP); err != nil {
		return 0, err
	}
	sleep(ctx, length)
	to := time.Now()
	err := d.Process.Signal(syscall.SIGCONT)
	r.mu.Lock()
	r.pauses = append(r.pauses, span{r.name, from, to})
	r.mu.Unlock()
	r.setPaused(false)
	return to.Sub(from), err
}

func (r *replica) setPaused(paused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused = paused
}

// command runs the program with the configuration of this replica, and returns what it prints.
func (r *replica) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, r.binary, append(args, "--config", r.config)...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("seawall %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}
