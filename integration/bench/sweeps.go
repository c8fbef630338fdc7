//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// sweeps measures steady sweeps inside a daemon that has compiled before, each of
// them asked for: wall time from its log, CPU time as a mean, since the system
// counts it coarsely.
func (s scene) sweeps(ctx context.Context, t *table) error {
	d, err := s.start(ctx)
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
	d, err := s.start(ctx)
	if err != nil {
		return err
	}
	costs, err := times(s.repeat, func(int) (cost, error) {
		if err := s.platform.drift(); err != nil {
			return cost{}, err
		}
		return s.counted(d, func() (line, error) { return d.sweep(ctx) })
	})
	peak := d.stop()
	if err != nil {
		return err
	}
	c := medians(costs)
	c.peak = peak
	t.add("heal all, in the daemon", c)
	return nil
}

func (s scene) watch(ctx context.Context, d *daemon) (cost, error) {
	if _, err := d.sweep(ctx); err != nil {
		return cost{}, err
	}
	before, err := cpu(d.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	sweeps, err := times(s.repeat+2, func(int) (c cost, err error) {
		s.platform.ClearTranscript()
		l, err := d.sweep(ctx)
		if err != nil {
			return c, err
		}
		if l.InSync != s.fleet.zones {
			return c, fmt.Errorf("a sweep found %d of %d zones in sync", l.InSync, s.fleet.zones)
		}
		c.requests = s.platform.requests()
		c.wall, err = time.ParseDuration(l.Took)
		return c, err
	})
	if err != nil {
		return cost{}, err
	}
	after, err := cpu(d.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	c := medians(sweeps)
	c.cpu = (after - before) / time.Duration(len(sweeps))
	return c, nil
}

// pushesAtRest measures from a webhook about a new commit to the proof that its
// one change is live, in a daemon that does nothing else.
func (s scene) pushesAtRest(ctx context.Context, t *table) error {
	d, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer d.stop()
	s.platform.ClearTranscript()
	costs, err := times(s.repeat, func(i int) (cost, error) {
		return s.prove(ctx, d, 100+i, func() error { return nil })
	})
	if err != nil {
		return err
	}
	c := medians(costs)
	c.requests = s.platform.requests() / s.repeat
	t.add("push to proof of one zone", c)
	return nil
}

// pushToAll measures the same for a commit that changes every zone. It leaves a fleet
// that is declared otherwise than the other measurements expect.
func (s scene) pushToAll(ctx context.Context, t *table) error {
	d, err := s.start(ctx)
	if err != nil {
		return err
	}
	var c cost
	if err = s.fleet.pushAll(ctx); err == nil {
		c, err = s.counted(d, func() (line, error) { return s.proved(ctx, d, s.fleet.zones) })
	}
	c.peak = d.stop()
	t.add("push to proof of all zones", c)
	return err
}

// into is how long a sweep has been under way when someone pushes.
const into = 20 * time.Millisecond

// pushesBesideSweeps measures the same while the daemon sweeps as fast as it can;
// the slowest counts.
func (s scene) pushesBesideSweeps(ctx context.Context, t *table) error {
	d, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer d.stop()
	costs, err := times(s.repeat, func(i int) (cost, error) {
		return s.prove(ctx, d, 200+i, func() error {
			defer time.Sleep(into)
			return d.look()
		})
	})
	if err != nil {
		return err
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
	return spent(d, func() (line, error) { return s.proved(ctx, d, 1) })
}

// proved waits from a webhook to the proof of a commit that changes so many zones.
func (s scene) proved(ctx context.Context, d *daemon, zones int) (line, error) {
	d.poked = time.Now()
	if err := d.Poke(ctx); err != nil {
		return line{}, err
	}
	return d.await(ctx, func(l line) bool { return l.Msg == "run finished" && l.Trigger == "sync" && l.Applied == zones })
}

// counted measures the daemon until the end of a run, with the requests that the platform saw.
func (s scene) counted(d *daemon, run func() (line, error)) (cost, error) {
	s.platform.ClearTranscript()
	c, err := spent(d, run)
	c.requests = s.platform.requests()
	return c, err
}

// spent measures the daemon until the end of a run.
func spent(d *daemon, run func() (line, error)) (cost, error) {
	before, err := cpu(d.Process.Pid)
	if err != nil {
		return cost{}, err
	}
	begin := time.Now()
	end, err := run()
	if err != nil {
		return cost{}, err
	}
	after, err := cpu(d.Process.Pid)
	return cost{wall: end.at.Sub(begin), cpu: after - before, requests: end.Requests}, err
}
