//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"syscall"
	"time"
)

const hookSecret = "a-secret-of-the-benchmark-alone-0001"

// daemon is `seawall run` in a process of its own.
type daemon struct {
	cmd     *exec.Cmd
	address string
	lines   chan line // closed when the process has ended
	poked   time.Time
}

// line is one of the daemon's log.
type line struct {
	Msg, Address, Trigger, Took, Error string
	Zones, Applied, Requests           int
	InSync                             int `json:"in_sync"`
	at                                 time.Time
}

func (s scene) start(ctx context.Context) (*daemon, error) {
	d := &daemon{cmd: exec.CommandContext(ctx, s.binary, "run", "--config", s.fleet.config(), "--log-format", "json"), lines: make(chan line, 1000)}
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(d.lines)
		for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
			l := line{at: time.Now()}
			if json.Unmarshal(scanner.Bytes(), &l) == nil {
				d.lines <- l
			}
		}
	}()
	serving, err := d.await(ctx, func(l line) bool { return l.Msg == "serving" })
	d.address = serving.Address
	return d, err
}

// patience is for the slowest thing that is measured.
const patience = 2 * time.Minute

// await returns the first line that is the one.
func (d *daemon) await(ctx context.Context, is func(line) bool) (line, error) {
	timeout := time.After(patience)
	for {
		select {
		case l, open := <-d.lines:
			switch {
			case !open:
				return line{}, errors.New("the daemon ended by itself")
			case l.Msg == "run failed", l.Msg == "outage began":
				return line{}, fmt.Errorf("a run of the daemon failed: %s", l.Error)
			case is(l):
				return l, nil
			}
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
func (d *daemon) look() error { return d.cmd.Process.Signal(syscall.SIGUSR1) }

// sweep has it look at every zone, and waits for what that has found.
func (d *daemon) sweep(ctx context.Context) (line, error) {
	if err := d.look(); err != nil {
		return line{}, err
	}
	return d.finished(ctx, "sweep")
}

// stop ends the daemon and returns the peak of its memory, in bytes.
func (d *daemon) stop() int64 {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	for range d.lines { // until the process has closed its end
	}
	_ = d.cmd.Wait()
	if usage, ok := d.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}

// poke has the daemon look at git.
func (d *daemon) poke(ctx context.Context) error {
	d.poked = time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.address+"/hook/git", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+hookSecret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return fmt.Errorf("the webhook was answered %s", res.Status)
	}
	return nil
}
