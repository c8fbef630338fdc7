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

// daemons are the replicas of `seawall run`, each in a process of its own; or the one daemon.
type daemons struct {
	all      []*harness.Daemon
	zones    int       // that they work on together
	database *database // nil: the state of the one daemon is a file
	lines    chan line
	poked    time.Time
	ignore   context.CancelFunc // of what is logged from now on
}

// line is one of a daemon's log.
type line struct {
	Msg, Trigger, Took, Error string
	Zones, Applied, Requests  int
	InSync                    int `json:"in_sync"`
	at                        time.Time
	replica                   int
}

// start starts daemons that have nothing to do by themselves for an hour, and lets them come to rest.
func (s scene) start(ctx context.Context) (*daemons, error) {
	d, err := s.launch(ctx)
	if err != nil {
		return nil, err
	}
	if d.database == nil {
		_, err = d.await(ctx, func(l line) bool { return l.Msg == "run finished" })
	} else if err = d.leased(ctx); err == nil {
		err = d.looked(ctx)
	}
	if err != nil {
		d.stop()
	}
	return d, err
}

// launch starts them, and waits until they serve.
func (s scene) launch(ctx context.Context) (d *daemons, err error) {
	heard, ignore := context.WithCancel(ctx)
	d = &daemons{zones: s.fleet.zones, database: s.database, lines: make(chan line, 1000), ignore: ignore}
	defer func() {
		if err != nil {
			d.stop()
		}
	}()
	for i := range max(1, s.setup.Replicas) {
		config, err := s.configure("@every 100h", i)
		if err != nil {
			return d, err
		}
		one, err := harness.StartDaemon(s.binary, config, func(data []byte) {
			l := line{at: time.Now(), replica: i}
			if json.Unmarshal(data, &l) == nil {
				select {
				case d.lines <- l:
				case <-heard.Done():
				}
			}
		})
		if err != nil {
			return d, err
		}
		d.all = append(d.all, one)
	}
	for _, one := range d.all {
		if err := one.Serves(ctx); err != nil {
			return d, err
		}
	}
	return d, nil
}

// patience is for what never happens: a large fleet on a busy machine takes minutes to heal.
const patience = 20 * time.Minute

// await returns the first line that is the one.
func (d *daemons) await(ctx context.Context, is func(line) bool) (line, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the daemon did not do in %s what was waited for", patience))
	defer cancel()
	for {
		select {
		case l := <-d.lines:
			switch {
			case l.Msg == "run failed", l.Msg == "outage began":
				return line{}, fmt.Errorf("a run of the daemon failed: %s", l.Error)
			case is(l):
				return l, nil
			}
		case <-d.all[0].Ended:
			return line{}, errors.New("the daemon ended by itself")
		case <-ctx.Done():
			return line{}, context.Cause(ctx)
		}
	}
}

// look has them look at every zone now: what one of several is asked for, it asks of all.
func (d *daemons) look() error { return d.all[0].Process.Signal(syscall.SIGUSR1) }

// sweep has them look at every zone, and waits for what that has found.
func (d *daemons) sweep(ctx context.Context) (line, error) {
	asked := time.Now()
	if err := d.look(); err != nil {
		return line{}, err
	}
	return d.swept(ctx, asked)
}

// swept waits until all zones were looked at, by whichever replica, in a sweep that began after a time.
// It took as long as for the slowest.
func (d *daemons) swept(ctx context.Context, asked time.Time) (line, error) {
	of := map[int]line{}
	var all line
	_, err := d.await(ctx, func(l line) bool {
		if l.Msg != "run finished" || l.Trigger != "sweep" || l.at.Add(time.Millisecond-took(l)).Before(asked) {
			return false
		}
		of[l.replica] = l
		all = line{at: l.at}
		for _, l := range of {
			all.Zones, all.InSync, all.Requests = all.Zones+l.Zones, all.InSync+l.InSync, all.Requests+l.Requests
			if took(l) >= took(all) {
				all.Took = l.Took
			}
		}
		return all.Zones == d.zones
	})
	return all, err
}

func took(l line) time.Duration {
	d, _ := time.ParseDuration(l.Took)
	return d
}

// looked waits until all zones are in the queues: under a lease nothing says when they are, so looks
// are asked for until one comes to every zone.
func (d *daemons) looked(ctx context.Context) error {
	for within := 250 * time.Millisecond; ; within *= 2 {
		during, cancel := context.WithTimeout(ctx, within)
		_, err := d.sweep(during)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || within > patience {
			return err
		}
	}
}

// stop ends them and returns the largest peak of their memory, in bytes.
func (d *daemons) stop() (peak int64) {
	d.ignore()
	for _, one := range d.all {
		one.Stop()
		if usage, ok := one.ProcessState.SysUsage().(*syscall.Rusage); ok {
			peak = max(peak, usage.Maxrss<<10)
		}
	}
	return peak
}
