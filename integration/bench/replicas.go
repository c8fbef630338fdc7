//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// kinds is how many zones follow each other until one is declared as the first is.
const kinds = 40

// seed makes all zones as they are declared. To heal a large fleet takes many minutes, so that is done
// to the first zones of another one, and these are copied.
func (s scene) seed(ctx context.Context, _ *table) (err error) {
	small := scene{options: s.options}
	dir := filepath.Join(s.fleet.dir, "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if small.fleet, err = newFleet(ctx, dir, kinds, 1); err != nil {
		return err
	}
	if small.platform, err = startPlatform(small.fleet, 0); err != nil {
		return err
	}
	defer small.platform.Close()
	if err := small.heal(ctx, &table{}); err != nil {
		return err
	}
	for i, zone := range s.platform.config.Seed.Zones {
		healed, err := small.platform.Platform.EntryPoint(ctx, mem.FleetZone(i%kinds+1), edge.PhaseFirewallManaged)
		if err != nil {
			return err
		}
		of := edge.ZoneScope(zone.ID)
		entryPoint, err := s.platform.Platform.EntryPoint(ctx, of, edge.PhaseFirewallManaged)
		if err != nil {
			return err
		}
		entryPoint.Rules[0].ActionParameters = healed.Rules[0].ActionParameters
		if err := s.platform.Platform.SetEntryPoint(of, entryPoint); err != nil {
			return err
		}
	}
	return nil
}

// part of all zones is pushed to at once.
const part = 100

// together measures replicas from their first start on, over a platform that is as declared.
func (s scene) together(ctx context.Context, t *table) error {
	d := &daemons{zones: s.fleet.zones, database: s.database, ignore: func() {}}
	measure := func(name string, do func(context.Context) error) error {
		s.platform.ClearTranscript()
		c, err := d.spent(ctx, func() (line, error) { return line{}, do(ctx) })
		c.requests, c.peak = s.platform.requests(), d.peak()
		t.add(name, c)
		return err
	}
	defer func() { d.stop() }()
	err := measure("start, until all leases are held", func(ctx context.Context) (err error) {
		started, err := s.launch(ctx)
		if err != nil {
			return err
		}
		*d = *started
		return d.leased(ctx)
	})
	if err != nil {
		return err
	}
	if err := measure("first commit, until all zones are proved", d.proved); err != nil {
		return err
	}
	if err := d.looked(ctx); err != nil {
		return err
	}
	sweeps, err := s.watch(ctx, d)
	if err != nil {
		return err
	}
	sweeps.peak = d.peak()
	t.add("steady sweep, in the daemon", sweeps)
	if err := measure(fmt.Sprintf("%s without work", s.resting), func(context.Context) error { time.Sleep(s.resting); return nil }); err != nil {
		return err
	}
	pushes, err := times(s.repeat, func(i int) (cost, error) { return s.prove(ctx, d, 100+i, func() error { return nil }) })
	if err != nil {
		return err
	}
	one := medians(pushes)
	one.written, one.peak = 1, d.peak()
	t.add("push to proof of one zone", one)
	return s.pushPart(ctx, d, t)
}

// pushPart measures a commit that changes a part of all zones.
func (s scene) pushPart(ctx context.Context, d *daemons, t *table) error {
	zones := max(1, s.fleet.zones/part)
	if err := s.fleet.push(ctx, lowest+1, zones); err != nil {
		return err
	}
	c, err := s.counted(ctx, d, zones, func() (line, error) { return d.live(ctx, zones) })
	c.peak = d.peak()
	t.add("push to proof of 1 % of the zones", c)
	return err
}

// peak is the most that any of them has had in memory so far, in bytes.
func (d *daemons) peak() (most int64) {
	for _, one := range d.all {
		if _, peak, err := memory(one.Process.Pid); err == nil {
			most = max(most, peak)
		}
	}
	return most
}
