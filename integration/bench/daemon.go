//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
)

// daemon is `seawall run` in a process of its own.
type daemon struct {
	*harness.Daemon
	lines  chan line
	poked  time.Time
	ignore context.CancelFunc // of what is logged from now on
}

// line is one of the daemon's log.
type line struct {
	Msg, Trigger, Took, Error string
	Applied, Requests         int
	InSync                    int `json:"in_sync"`
	at                        time.Time
}

// start starts a daemon that has nothing to do by itself for an hour, and lets it
// come to rest.
func (s scene) start(ctx context.Context) (*daemon, error) {
	config, err := s.configure("@every 100h")
	if err != nil {
		return nil, err
	}
	heard, ignore := context.WithCancel(ctx)
	d := &daemon{lines: make(chan line, 1000), ignore: ignore}
	d.Daemon, err = harness.StartDaemon(s.binary, config, func(data []byte) {
		l := line{at: time.Now()}
		if json.Unmarshal(data, &l) == nil {
			select {
			case d.lines <- l:
			case <-heard.Done():
			}
		}
	})
	if err != nil {
		ignore()
		return nil, err
	}
	if err = d.Serves(ctx); err == nil {
		_, err = d.finished(ctx, "")
	}
	if err != nil {
		d.stop()
	}
	return d, err
}

// patience is for what never happens: a large fleet on a busy machine takes minutes to heal.
const patience = 20 * time.Minute

// await returns the first line that is the one.
func (d *daemon) await(ctx context.Context, is func(line) bool) (line, error) {
	timeout := time.After(patience)
	for {
		select {
		case l := <-d.lines:
			switch {
			case l.Msg == "run failed", l.Msg == "outage began":
				return line{}, fmt.Errorf("a run of the daemon failed: %s", l.Error)
			case is(l):
				return l, nil
			}
		case <-d.Ended:
			return line{}, errors.New("the daemon ended by itself")
		case <-timeout:
			return line{}, fmt.Errorf("the daemon did not do in %s what was waited for", patience)
		case <-ctx.Done():
			return line{}, ctx.Err()
		}
	}
}

func (d *daemon) finished(ctx context.Context, trigger string) (line, error) {
	return d.await(ctx, func(l line) bool { return l.Msg == "run finished" && (trigger == "" || l.Trigger == trigger) })
}

// look has it look at every zone now.
func (d *daemon) look() error { return d.Process.Signal(syscall.SIGUSR1) }

// sweep has it look at every zone, and waits for what that has found.
func (d *daemon) sweep(ctx context.Context) (line, error) {
	if err := d.look(); err != nil {
		return line{}, err
	}
	return d.finished(ctx, "sweep")
}

// stop ends the daemon and returns the peak of its memory, in bytes.
func (d *daemon) stop() int64 {
	d.ignore()
	d.Stop()
	if usage, ok := d.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}
