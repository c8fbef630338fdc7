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
	drifts   int // so many are planted,
	every    time.Duration
	zones    []zone // in these
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
// it is healed.
func (f *fixture) observeDrift(ctx context.Context, l look) (sample, error) {
	var healed sample
	p := planting{fixture: f, zones: l.zones, since: map[zone]time.Time{}}
	ticks := time.NewTicker(glance)
	defer ticks.Stop()
	begin := time.Now()
	for n := 0; n < l.drifts || len(p.since) > 0; <-ticks.C {
		for _, took := range p.harvest() {
			healed.add(took)
		}
		if n < l.drifts && time.Since(begin) >= time.Duration(n)*l.every {
			if _, err := p.next(); err != nil {
				return healed, err
			}
			n++
		}
		if time.Since(begin) > time.Duration(l.drifts)*l.every+l.patience || !f.daemon.Running() || ctx.Err() != nil {
			break
		}
	}
	for _, at := range p.since {
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

// planting is drift that was planted and is not healed yet.
type planting struct {
	*fixture
	zones []zone
	turn  int
	since map[zone]time.Time
}

// next makes another zone drift, the one whose turn it is among those that do
// not. Where all of them do, it returns 0.
func (p *planting) next() (zone, error) {
	for range p.zones {
		z := p.zones[p.turn%len(p.zones)]
		p.turn++
		if _, drifts := p.since[z]; drifts {
			continue
		}
		if err := p.plant(z); err != nil {
			return 0, err
		}
		p.since[z] = time.Now()
		return z, nil
	}
	return 0, nil
}

// harvest returns how long the drift took that is healed by now.
func (p *planting) harvest() map[zone]time.Duration {
	healed := map[zone]time.Duration{}
	for z, at := range p.since {
		if p.isLive(z) {
			healed[z] = time.Since(at)
			delete(p.since, z)
		}
	}
	return healed
}
