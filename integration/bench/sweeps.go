//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// sweeps measures steady sweeps inside a daemon that has compiled before, each of
// them asked for: wall time from its log, CPU time as a mean, since the system
// counts it coarsely.
func (s scene) sweeps(ctx context.Context, t *table) error {
	d, err := s.daemon(ctx)
	if err != nil {
		return err
	}
	sweeps, err := s.watch(ctx, d)
	sweeps.peak = d.stop()
	t.add("steady sweep, in the daemon", sweeps)
	return err
}

// healAll measures a sweep that finds every zone as it was before Seawall had it.
func (s scene) healAll(ctx context.Context, t *table) error {
	d, err := s.daemon(ctx)
	if err != nil {
		return err
	}
	var costs []cost
	for range s.repeat {
		c, err := s.healed(ctx, d)
		if err != nil {
			d.stop()
			return err
		}
		costs = append(costs, c)
	}
	c := medians(costs)
	c.peak = d.stop()
	t.add("heal all, in the daemon", c)
	return nil
}

func (s scene) healed(ctx context.Context, d *daemon) (cost, error) {
	if err := errors.Join(s.platform.drift(ctx, s.fleet.seed()), s.platform.forget(ctx)); err != nil {
		return cost{}, err
	}
	c, err := spent(d, func() (line, error) { return d.sweep(ctx) })
	if err != nil {
		return c, err
	}
	seen, err := s.platform.transcript(ctx)
	c.requests = len(seen)
	return c, err
}

// daemon starts a daemon that has nothing to do by itself for an hour, and lets it
// come to rest.
func (s scene) daemon(ctx context.Context) (*daemon, error) {
	if err := s.configure("@every 100h"); err != nil {
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
	if _, err := d.sweep(ctx); err != nil {
		return cost{}, err
	}
	before, err := cpu(d.cmd.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	count := s.repeat + 2
	sweeps := make([]cost, count)
	for i := range sweeps {
		if err := s.platform.forget(ctx); err != nil {
			return cost{}, err
		}
		l, err := d.sweep(ctx)
		if err != nil {
			return cost{}, err
		}
		if l.InSync != s.fleet.zones {
			return cost{}, fmt.Errorf("a sweep found %d of %d zones in sync", l.InSync, s.fleet.zones)
		}
		if sweeps[i].wall, err = time.ParseDuration(l.Took); err != nil {
			return cost{}, err
		}
		seen, err := s.platform.transcript(ctx)
		if err != nil {
			return cost{}, err
		}
		sweeps[i].requests = len(seen)
	}
	after, err := cpu(d.cmd.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	c := medians(sweeps)
	c.cpu = (after - before) / time.Duration(count)
	return c, nil
}

// pushesAtRest measures from a webhook about a new commit to the proof that its
// one change is live, in a daemon that does nothing else.
func (s scene) pushesAtRest(ctx context.Context, t *table) error {
	d, err := s.daemon(ctx)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := s.platform.forget(ctx); err != nil {
		return err
	}
	var costs []cost
	for i := range s.repeat {
		c, err := s.prove(ctx, d, 100+i, func() error { return nil })
		if err != nil {
			return err
		}
		costs = append(costs, c)
	}
	seen, err := s.platform.transcript(ctx)
	if err != nil {
		return err
	}
	c := medians(costs)
	c.requests = len(seen) / s.repeat
	t.add("push to proof of one zone", c)
	return nil
}

// pushToAll measures the same for a commit that changes every zone. It leaves a fleet
// that is declared otherwise than the other measurements expect.
func (s scene) pushToAll(ctx context.Context, t *table) error {
	d, err := s.daemon(ctx)
	if err != nil {
		return err
	}
	c, err := s.proveAll(ctx, d)
	c.peak = d.stop()
	t.add("push to proof of all zones", c)
	return err
}

func (s scene) proveAll(ctx context.Context, d *daemon) (cost, error) {
	if err := errors.Join(s.fleet.pushAll(ctx), s.platform.forget(ctx)); err != nil {
		return cost{}, err
	}
	c, err := s.proved(ctx, d, s.fleet.zones)
	if err != nil {
		return c, err
	}
	seen, err := s.platform.transcript(ctx)
	c.requests = len(seen)
	return c, err
}

// into is how long a sweep has been under way when someone pushes.
const into = 20 * time.Millisecond

// pushesBesideSweeps measures the same while the daemon sweeps as fast as it can;
// the slowest counts.
func (s scene) pushesBesideSweeps(ctx context.Context, t *table) error {
	d, err := s.daemon(ctx)
	if err != nil {
		return err
	}
	defer d.stop()
	var costs []cost
	for i := range s.repeat {
		c, err := s.prove(ctx, d, 200+i, func() error {
			defer time.Sleep(into)
			return d.look()
		})
		if err != nil {
			return err
		}
		costs = append(costs, c)
	}
	m := medians(costs)
	m.wall = slices.MaxFunc(costs, func(a, b cost) int { return int(a.wall - b.wall) }).wall
	t.add("the same beside sweeps, the slowest", m)
	return nil
}

// hookGap is how far apart webhooks must be for each of them to wake at once.
const hookGap = 1100 * time.Millisecond

// prove pushes a commit, does something, and measures from the webhook to the
// proof.
func (s scene) prove(ctx context.Context, d *daemon, score int, pushed func() error) (cost, error) {
	if err := s.fleet.push(ctx, score); err != nil {
		return cost{}, err
	}
	time.Sleep(time.Until(d.poked.Add(hookGap)))
	if err := pushed(); err != nil {
		return cost{}, err
	}
	return s.proved(ctx, d, 1)
}

// proved measures from a webhook to the proof of a commit that changes so many zones.
func (s scene) proved(ctx context.Context, d *daemon, zones int) (cost, error) {
	return spent(d, func() (line, error) {
		if err := d.poke(ctx); err != nil {
			return line{}, err
		}
		return d.await(ctx, func(l line) bool { return l.Msg == "run finished" && l.Trigger == "sync" && l.Applied == zones })
	})
}

// spent measures the daemon until the end of a run.
func spent(d *daemon, run func() (line, error)) (cost, error) {
	before, err := cpu(d.cmd.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	begin := time.Now()
	end, err := run()
	if err != nil {
		return cost{}, err
	}
	after, err := cpu(d.cmd.Process.Pid)
	return cost{wall: end.at.Sub(begin), cpu: after - before, requests: end.Requests}, err
}
