package main

import (
	"context"
	"fmt"
	"time"
)

// drifting is drift that is not healed yet.
type drifting struct {
	since time.Time
	phase phase
}

// plantAndWatch plants drift until one context is over, and then waits until all
// of it is healed.
func (s *soak) plantAndWatch(ctx, during context.Context, f *fixture) error {
	pending := map[zone]drifting{}
	ticks := time.NewTicker(glance)
	defer ticks.Stop()
	begin, next := time.Now(), pushed+pushZones
	for n := 0; ctx.Err() == nil && f.daemon.running(); {
		for z, d := range pending {
			if f.isLive(z) {
				s.note(s.drift, d.phase, time.Since(d.since), true)
				delete(pending, z)
			}
		}
		over := during.Err() != nil
		if over && (len(pending) == 0 || time.Since(begin) > s.length+soakHealing) {
			break
		}
		if !over && time.Since(begin) >= time.Duration(n)*soakDrift {
			n++
			if next++; int(next) > f.fleet.size() {
				next = pushed + pushZones
			}
			if _, drifts := pending[next]; !drifts {
				if err := f.plant(next); err != nil {
					return err
				}
				pending[next] = drifting{time.Now(), s.phase()}
			}
		}
		<-ticks.C
	}
	for _, d := range pending {
		s.note(s.drift, d.phase, time.Since(d.since), false)
	}
	return nil
}

// push pushes commits one after the other, each once the one before is live.
func (s *soak) push(ctx context.Context, f *fixture) error {
	for ctx.Err() == nil && f.daemon.running() {
		pause := time.After(soakPush)
		begin, now := time.Now(), s.phase()
		z, err := f.push(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		took, ok := f.await(ctx, soakHealing, func() bool { return f.isLive(z) })
		if ctx.Err() != nil {
			return nil
		}
		s.note(s.pushes, now, max(took, time.Since(begin)), ok)
		select {
		case <-pause:
		case <-ctx.Done():
		}
	}
	return nil
}

// watchUse looks at the daemon now and then.
func (s *soak) watchUse(ctx context.Context, f *fixture) error {
	begin := time.Now()
	for ctx.Err() == nil && f.daemon.running() {
		u, err := f.daemon.use(ctx)
		switch {
		case ctx.Err() != nil || !f.daemon.running():
		case err != nil:
			return fmt.Errorf("looking at the daemon: %w", err)
		default:
			u.at = time.Since(begin)
			s.use = append(s.use, u)
		}
		sleep(ctx, soakUsage)
	}
	return nil
}
