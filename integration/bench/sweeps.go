//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// sweeps measures steady sweeps inside a daemon that has compiled before: wall
// time from its log, CPU time as a mean, since the system counts it coarsely.
func (s scene) sweeps(ctx context.Context, t *table) error {
	d, err := s.daemonWith(ctx, "@every 1s")
	if err != nil {
		return err
	}
	sweeps, err := s.watch(ctx, d)
	sweeps.peak = d.stop()
	t.add("steady sweep, in the daemon", sweeps)
	return err
}

// daemonWith starts a daemon and lets it come to rest.
func (s scene) daemonWith(ctx context.Context, sweep string) (*daemon, error) {
	if err := s.configure(sweep); err != nil {
		return nil, err
	}
	d, err := s.start(ctx)
	if err == nil {
		_, err = d.finished(ctx, "")
	}
	if err != nil && d != nil {
		d.stop()
	}
	return d, err
}

func (s scene) watch(ctx context.Context, d *daemon) (cost, error) {
	if _, err := d.finished(ctx, "sweep"); err != nil {
		return cost{}, err
	}
	if err := s.platform.forget(ctx); err != nil {
		return cost{}, err
	}
	before, err := cpu(d.cmd.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	count := s.repeat + 2
	walls := make([]cost, count)
	for i := range walls {
		l, err := d.finished(ctx, "sweep")
		if err != nil {
			return cost{}, err
		}
		if l.InSync != s.fleet.zones {
			return cost{}, fmt.Errorf("a sweep found %d of %d zones in sync", l.InSync, s.fleet.zones)
		}
		if walls[i].wall, err = time.ParseDuration(l.Took); err != nil {
			return cost{}, err
		}
	}
	after, err := cpu(d.cmd.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	c := medians(walls)
	c.cpu = (after - before) / time.Duration(count)
	c.requests, err = s.oneSweep(ctx)
	return c, err
}

// oneSweep returns how many requests the transcript holds between the beginnings
// of two sweeps: exactly those of one.
func (s scene) oneSweep(ctx context.Context) (int, error) {
	all, err := s.platform.transcript(ctx)
	if err != nil {
		return 0, err
	}
	var begins []int
	for i, r := range all {
		if r.isList() {
			begins = append(begins, i)
		}
	}
	var most int
	for i := 1; i < len(begins); i++ {
		most = max(most, begins[i]-begins[i-1])
	}
	if most == 0 {
		return 0, fmt.Errorf("the transcript of %d requests does not hold a whole sweep", len(all))
	}
	return most, nil
}

// pushesAtRest measures from a webhook about a new commit to the proof that its
// one change is live, in a daemon that does nothing else.
func (s scene) pushesAtRest(ctx context.Context, t *table) error {
	d, err := s.daemonWith(ctx, "@every 1h")
	if err != nil {
		return err
	}
	defer d.stop()
	if err := s.platform.forget(ctx); err != nil {
		return err
	}
	c, err := s.prove(ctx, d, 100, 0)
	if err != nil {
		return err
	}
	seen, err := s.platform.transcript(ctx)
	if err != nil {
		return err
	}
	c.requests = len(seen) / s.repeat
	t.add("push to proof of one zone", c)
	return nil
}

// pushesBesideSweeps measures the same while the daemon sweeps all the time.
func (s scene) pushesBesideSweeps(ctx context.Context, t *table) error {
	d, err := s.daemonWith(ctx, "@every 1s")
	if err != nil {
		return err
	}
	defer d.stop()
	c, err := s.prove(ctx, d, 200, 1100*time.Millisecond)
	t.add("the same beside sweeps, the slowest", c)
	return err
}

// prove pushes as often as asked and returns the medians. Where it waits after a
// run before it pushes, so that a sweep is under way, it returns the slowest.
func (s scene) prove(ctx context.Context, d *daemon, score int, wait time.Duration) (cost, error) {
	var costs []cost
	for i := range s.repeat {
		time.Sleep(wait)
		c, err := s.proveOne(ctx, d, score+i)
		if err != nil {
			return cost{}, err
		}
		costs = append(costs, c)
	}
	m := medians(costs)
	if wait > 0 {
		m.wall = slices.MaxFunc(costs, func(a, b cost) int { return int(a.wall - b.wall) }).wall
	}
	return m, nil
}

func (s scene) proveOne(ctx context.Context, d *daemon, score int) (cost, error) {
	if err := s.fleet.push(ctx, score); err != nil {
		return cost{}, err
	}
	before, err := cpu(d.cmd.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	begin := time.Now()
	if err := d.poke(ctx); err != nil {
		return cost{}, err
	}
	proved, err := d.await(ctx, func(l line) bool { return l.Msg == "run finished" && l.Applied == 1 })
	if err != nil {
		return cost{}, err
	}
	after, err := cpu(d.cmd.Process.Pid)
	return cost{wall: proved.at.Sub(begin), cpu: after - before, requests: proved.Requests}, err
}
