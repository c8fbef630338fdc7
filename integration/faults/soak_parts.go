package main

import (
	"context"
	"fmt"
	"time"
)

// plantAndWatch plants drift until one context is over, and then waits until all
// of it is healed.
func (s *soak) plantAndWatch(ctx, during context.Context, f *fixture) error {
	p := planting{fixture: f, zones: span(pushed+pushZones, zone(s.zones)), since: map[zone]time.Time{}}
	worst := map[zone]phase{} // that the drift of a zone has seen
	ticks := time.NewTicker(glance)
	defer ticks.Stop()
	begin := time.Now()
	for n := 0; ctx.Err() == nil && f.daemon.Running(); <-ticks.C {
		for z, took := range p.harvest() {
			s.note(&s.healed[worst[z]], took, true)
		}
		for z := range p.since {
			worst[z] = max(worst[z], s.phase())
		}
		if during.Err() != nil && (len(p.since) == 0 || time.Since(begin) > s.length+soakHealing) {
			break
		}
		if during.Err() == nil && time.Since(begin) >= time.Duration(n)*s.drift {
			n++
			z, err := p.next()
			if err != nil {
				return err
			}
			worst[z] = s.phase()
		}
	}
	for z, at := range p.since {
		s.note(&s.healed[worst[z]], time.Since(at), false)
	}
	return nil
}

// pushAndWatch pushes commits one after the other, each once the one before is live. The time of a push
// begins with the webhook: how long git takes to make the commit is not the daemon's.
func (s *soak) pushAndWatch(ctx context.Context, f *fixture) error {
	for n := 0; ctx.Err() == nil && f.daemon.Running() && (s.pushes == 0 || n < s.pushes); n++ {
		pause := time.After(s.push)
		begin, now := time.Now(), s.phase()
		z, err := f.push(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the soak is over
		}
		if err != nil {
			return err
		}
		end, ok := s.awaitLive(ctx, f, z, begin)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the soak is over
		}
		passed := f.trail.end(end)
		s.note(&s.live[max(now, s.phase())], max(0, passed.whole), ok)
		if ok && !s.faults {
			s.pass(passed)
		}
		select {
		case <-pause:
		case <-ctx.Done():
		}
	}
	return nil
}

// awaitLive waits until what was pushed since a time is live, and proved; or, where faults may
// delay the proof, until the platform has it. It returns when that was.
func (s *soak) awaitLive(ctx context.Context, f *fixture, z zone, since time.Time) (time.Time, bool) {
	if s.faults {
		_, ok := f.await(ctx, soakHealing, func() bool { return f.isLive(z) })
		return time.Now(), ok
	}
	_, ok := f.await(ctx, soakHealing, func() bool { return f.daemon.log.provedAt().After(since) })
	if !ok {
		return time.Now(), false
	}
	return f.daemon.log.provedAt(), f.isLive(z)
}

// watchUse looks at the daemon now and then.
func (s *soak) watchUse(ctx context.Context, f *fixture) error {
	for ctx.Err() == nil && f.daemon.Running() {
		u, err := f.daemon.use(ctx)
		switch {
		case ctx.Err() != nil || !f.daemon.Running():
		case err != nil:
			return fmt.Errorf("looking at the daemon: %w", err)
		default:
			s.use = append(s.use, u)
		}
		sleep(ctx, soakUsage)
	}
	return nil
}
