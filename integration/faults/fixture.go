package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// shape is how large a fleet is and how its daemon is configured. A zero field
// takes what usual says.
type shape struct {
	zones       int
	concurrency int
	requests    int           // of the budget; 0: no bound
	per         time.Duration // of the budget
	sync, sweep time.Duration
	latency     time.Duration // of each answer of the platform, disturbed or not
}

func (s shape) complete() shape {
	s.zones = cmp.Or(s.zones, 60)
	s.concurrency = cmp.Or(s.concurrency, 16)
	s.sync = cmp.Or(s.sync, 3*time.Second)
	s.sweep = cmp.Or(s.sweep, 4*time.Second)
	return s
}

// fixture is a daemon with everything around it, below one folder.
type fixture struct {
	binary   string
	dir      string
	shape    shape
	fleet    *fleet
	platform *platform
	repo     *repository
	daemon   *daemon

	pushes int    // so far; each has a threshold of its own
	trail  *trail // of the newest one
}

// newFixture starts everything, and waits until the daemon has healed the one
// zone that differs.
func newFixture(ctx context.Context, binary, dir string, s shape) (*fixture, error) {
	s = s.complete()
	f := &fixture{binary: binary, dir: dir, shape: s, fleet: newFleet(s.zones), trail: &trail{}}
	if err := f.start(ctx, binary); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

func (f *fixture) start(ctx context.Context, binary string) (err error) {
	if f.platform, err = startPlatform(f.shape, f.fleet); err != nil {
		return fmt.Errorf("starting the platform: %w", err)
	}
	if f.repo, err = startRepository(ctx, f.dir, f.fleet.tree().Files()); err != nil {
		return fmt.Errorf("starting the repository: %w", err)
	}
	f.platform.trail, f.repo.outer = f.trail, f.trail.git
	config, err := configure(f.dir, f.shape, f.platform, f.repo)
	if err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	if err := f.plant(faulty); err != nil {
		return err
	}
	if f.daemon, err = startDaemon(ctx, binary, config, f.log(), f.trail); err != nil {
		return err
	}
	if _, ok := f.await(ctx, time.Minute, f.agrees); !ok {
		return errors.New("the daemon does not heal at all")
	}
	return nil
}

func (f *fixture) log() string   { return filepath.Join(f.dir, "daemon.log") }
func (f *fixture) state() string { return filepath.Join(f.dir, "state") }

func (f *fixture) stop() {
	if f.daemon != nil {
		f.daemon.Stop()
	}
	if f.platform != nil {
		_ = f.platform.refuse()
	}
	if f.repo != nil {
		_ = f.repo.refuse()
	}
}

// plant makes a zone drift.
func (f *fixture) plant(z zone) error {
	f.fleet.planted(z)
	return f.platform.set(z, planted)
}

// change commits other thresholds for some zones, and tells the daemon.
func (f *fixture) change(ctx context.Context, message string, changes map[zone]int) error {
	if err := f.repo.Commit(ctx, message, f.fleet.declare(changes)); err != nil {
		return err
	}
	f.trail.begin(slices.Min(slices.Collect(maps.Keys(changes))), time.Now())
	return f.daemon.Poke(ctx)
}

// push commits a new threshold for one of the zones that are for it.
func (f *fixture) push(ctx context.Context) (zone, error) {
	f.pushes++
	z := pushed + zone(f.pushes%pushZones)
	return z, f.change(ctx, fmt.Sprintf("push %d", f.pushes), map[zone]int{z: 100 + f.pushes})
}

// isLive reports whether a zone is as the newest commit says.
func (f *fixture) isLive(z zone) bool { return f.platform.live(z) == f.fleet.want(z) }

// agrees reports whether every zone is.
func (f *fixture) agrees() bool {
	for z := faulty; int(z) <= f.fleet.size(); z++ {
		if !f.isLive(z) {
			return false
		}
	}
	return true
}

// await waits until ok, for so long at the most, and says how long it took.
func (f *fixture) await(ctx context.Context, patience time.Duration, ok func() bool) (time.Duration, bool) {
	begin := time.Now()
	for !ok() {
		if time.Since(begin) > patience || ctx.Err() != nil || !f.daemon.Running() {
			return time.Since(begin), false
		}
		time.Sleep(glance)
	}
	return time.Since(begin), true
}

// glance is how often a zone is read that should change.
const glance = 50 * time.Millisecond
