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
		return s.counted(ctx, d, s.fleet.zones, func() (line, error) { return d.sweep(ctx) })
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

func (s scene) watch(ctx context.Context, d *daemons) (cost, error) {
	if _, err := d.sweep(ctx); err != nil {
		return cost{}, err
	}
	var sweeps []cost
	all, err := d.spent(ctx, func() (_ line, err error) {
		sweeps, err = times(s.repeat+2, func(int) (c cost, err error) {
			s.platform.ClearTranscript()
			l, err := d.sweep(ctx)
			if err != nil {
				return c, err
			}
			if l.InSync != s.fleet.zones {
				return c, fmt.Errorf("a sweep found %d of %d zones in sync", l.InSync, s.fleet.zones)
			}
			return cost{wall: took(l), requests: s.platform.requests()}, nil
		})
		return line{}, err
	})
	if err != nil {
		return cost{}, err
	}
	n := len(sweeps)
	c := medians(sweeps)
	c.cpu, c.rest = all.cpu/time.Duration(n), all.rest
	c.database = counts{all.database.statements / int64(n), all.database.log / int64(n), all.database.cpu / time.Duration(n)}
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
	c.requests, c.written = s.platform.requests()/s.repeat, 1
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
	if err = s.fleet.push(ctx, lowest+1, s.fleet.zones); err == nil {
		c, err = s.counted(ctx, d, s.fleet.zones, func() (line, error) { return d.live(ctx, s.fleet.zones) })
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

// prove pushes a commit about the first zone, does something, and measures from the webhook to the
// proof.
func (s scene) prove(ctx context.Context, d *daemons, score int, pushed func() error) (cost, error) {
	if err := s.fleet.push(ctx, score-1, 1); err != nil {
		return cost{}, err
	}
	time.Sleep(time.Until(d.poked.Add(hookGap)))
	if err := pushed(); err != nil {
		return cost{}, err
	}
	return d.spent(ctx, func() (line, error) { return d.live(ctx, 1) })
}

// live waits from a webhook to the proof of a commit that changes so many zones, by whichever replica.
func (d *daemons) live(ctx context.Context, zones int) (line, error) {
	d.poked = time.Now()
	if err := d.all[0].Poke(ctx); err != nil {
		return line{}, err
	}
	applied := 0
	return d.await(ctx, func(l line) bool {
		if l.Msg == "run finished" && l.Trigger == "sync" {
			applied += l.Applied
		}
		return applied == zones
	})
}

// counted measures the daemons until the end of a run that writes to so many zones, with the requests
// that the platform saw.
func (s scene) counted(ctx context.Context, d *daemons, written int, run func() (line, error)) (cost, error) {
	s.platform.ClearTranscript()
	c, err := d.spent(ctx, run)
	c.requests, c.written = s.platform.requests(), written
	return c, err
}

// spent measures the daemons, and their database, until the end of a run.
func (d *daemons) spent(ctx context.Context, run func() (line, error)) (cost, error) {
	before, err := d.used(ctx)
	if err != nil {
		return cost{}, err
	}
	begin := time.Now()
	end, err := run()
	if err != nil {
		return cost{}, err
	}
	after, err := d.used(ctx)
	if end.at.IsZero() {
		end.at = time.Now()
	}
	after.wall, after.cpu, after.database, after.requests = end.at.Sub(begin), after.cpu-before.cpu, after.database.since(before.database), end.Requests
	return after, err
}

// used is what they have used so far.
func (d *daemons) used(ctx context.Context) (c cost, err error) {
	for _, one := range d.all {
		used, err := cpu(one.Process.Pid)
		if err != nil {
			return c, err
		}
		now, _, err := memory(one.Process.Pid)
		if err != nil {
			return c, err
		}
		c.cpu, c.rest = c.cpu+used, max(c.rest, now)
	}
	c.database, err = d.database.counts(ctx)
	return c, err
}
