package main

import (
	"context"
	"sync"
	"time"
)

// observation is how long drift and pushes took while something was the case.
type observation struct {
	drift, pushes sample
}

// look says what to observe.
type look struct {
	drifts   int
	every    time.Duration
	first    zone // of those that drift is planted in
	pushes   int
	patience time.Duration
}

// observe plants drift and pushes commits side by side, and waits for both.
func (f *fixture) observe(ctx context.Context, l look) (observation, error) {
	var o observation
	var driftErr, pushErr error
	var group sync.WaitGroup
	group.Go(func() { o.drift, driftErr = f.observeDrift(ctx, l) })
	group.Go(func() { o.pushes, pushErr = f.observePushes(ctx, l) })
	group.Wait()
	if driftErr != nil {
		return o, driftErr
	}
	return o, pushErr
}

// observeDrift plants drift in one zone after the other and waits until all of
// it is healed. A zone that still drifts is passed over.
func (f *fixture) observeDrift(ctx context.Context, l look) (sample, error) {
	var healed sample
	since := map[zone]time.Time{}
	next, last := l.first, zone(f.fleet.size())
	ticks := time.NewTicker(glance)
	defer ticks.Stop()
	begin := time.Now()
	for left := l.drifts; left > 0 || len(since) > 0; {
		for z, at := range since {
			if f.isLive(z) {
				healed.add(time.Since(at))
				delete(since, z)
			}
		}
		if due := time.Since(begin) >= time.Duration(l.drifts-left)*l.every; due && left > 0 {
			left--
			for range last - l.first { // at most once around
				if next++; next > last {
					next = l.first
				}
				if _, drifts := since[next]; !drifts {
					break
				}
			}
			if err := f.plant(next); err != nil {
				return healed, err
			}
			since[next] = time.Now()
		}
		if left == 0 && time.Since(begin) > time.Duration(l.drifts)*l.every+l.patience || !f.daemon.running() || ctx.Err() != nil {
			break
		}
		<-ticks.C
	}
	for _, at := range since {
		healed.miss(time.Since(at))
	}
	return healed, ctx.Err()
}

// hookGap is how far apart webhooks must be for each of them to be listened to.
const hookGap = 1200 * time.Millisecond

// observePushes pushes one commit after the other. It stops at the first that
// does not become live.
func (f *fixture) observePushes(ctx context.Context, l look) (sample, error) {
	var live sample
	for range l.pushes {
		pause := time.After(hookGap)
		begin := time.Now()
		z, err := f.push(ctx)
		if err != nil {
			return live, err
		}
		if _, ok := f.await(ctx, l.patience, func() bool { return f.isLive(z) }); !ok {
			live.miss(time.Since(begin))
			return live, ctx.Err()
		}
		live.add(time.Since(begin))
		<-pause
	}
	return live, nil
}
