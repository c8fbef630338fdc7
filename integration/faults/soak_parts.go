package main

import (
	"context"
	"fmt"
	"time"
)

// plantAndWatch plants drift until one context is over, and then waits until all
// of it is healed.
func (s *soak) plantAndWatch(ctx, during context.Context, f *fixture) error {
	p := planting{fixture: f, zones: span(pushed+pushZones, soakZones), since: map[zone]time.Time{}}
	worst := map[zone]phase{} // that the drift of a zone has seen
	ticks := time.NewTicker(glance)
	defer ticks.Stop()
	begin := time.Now()
	for n := 0; ctx.Err() == nil && f.daemon.Running(); <-ticks.C {
		for z, took := range p.harvest() {
			s.note(&s.drift[worst[z]], took, true)
		}
		for z := range p.since {
			worst[z] = max(worst[z], s.phase())
		}
		if during.Err() != nil && (len(p.since) == 0 || time.Since(begin) > s.length+soakHealing) {
			break
		}
		if during.Err() == nil && time.Since(begin) >= time.Duration(n)*soakDrift {
			n++
			z, err := p.next()
			if err != nil {
				return err
			}
			worst[z] = s.phase()
		}
	}
	for z, at := range p.since {
		s.note(&s.drift[worst[z]], time.Since(at), false)
	}
	return nil
}

// push pushes commits one after the other, each once the one before is live.
func (s *soak) push(ctx context.Context, f *fixture) error {
	for ctx.Err() == nil && f.daemon.Running() {
		pause := time.After(soakPush)
		begin, now := time.Now(), s.phase()
		z, err := f.push(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the soak is over
		}
		if err != nil {
			return err
		}
		took, ok := f.await(ctx, soakHealing, func() bool { return f.isLive(z) })
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the soak is over
		}
		s.note(&s.pushes[max(now, s.phase())], max(took, time.Since(begin)), ok)
		select {
		case <-pause:
		case <-ctx.Done():
		}
	}
	return nil
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
