package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// The soak is one daemon under the real rhythm of a middling fleet, for long.
const (
	soakZones   = 300
	soakBudget  = 6000
	soakPer     = 5 * time.Minute
	soakSweep   = time.Minute
	soakSync    = 5 * time.Second
	soakDrift   = time.Second
	soakPush    = 20 * time.Second
	soakUsage   = 5 * time.Second
	soakCycle   = 4 * time.Minute
	soakHealing = 3 * time.Minute // how long may pass after the end until all is healed
)

// phase is what is the case while drift is planted.
type phase string

const (
	calm     phase = "calm"
	hanging  phase = "git hangs"
	away     phase = "outage"
	settling phase = "after it"
)

// phases are a cycle, each with its share of it. What happens shortly after an
// outage is counted by itself.
var phases = []struct {
	phase phase
	share float64
}{{calm, 0.35}, {hanging, 0.35}, {away, 0.1}, {settling, 0.2}}

// soak is what was seen.
type soak struct {
	mu     sync.Mutex
	now    phase
	drift  map[phase]*sample
	pushes map[phase]*sample
	use    []usage
	ended  bool
	length time.Duration
}

func newSoak(length time.Duration) *soak {
	s := &soak{now: calm, drift: map[phase]*sample{}, pushes: map[phase]*sample{}, length: length}
	for _, p := range phases {
		s.drift[p.phase], s.pushes[p.phase] = &sample{}, &sample{}
	}
	return s
}

func (s *soak) phase() phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *soak) enter(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = p
}

// note counts what happened, or what did not, under the phase in which it began.
func (s *soak) note(where map[phase]*sample, p phase, took time.Duration, happened bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if happened {
		where[p].add(took)
	} else {
		where[p].miss(took)
	}
}

func (o options) runSoak(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "seawall-soak-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Fprintln(os.Stderr, "the folder is", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	f, err := newFixture(ctx, o.binary, dir, shape{
		zones: soakZones, requests: soakBudget, per: soakPer, sweep: soakSweep, sync: soakSync, latency: 5 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	defer f.stop()
	sleep(ctx, soakSweep) // the first interval is unlike the others
	s := newSoak(o.soak)
	if err := s.run(ctx, f); err != nil {
		return err
	}
	text := s.report()
	fmt.Print(text)
	if o.write != "" {
		if err := rewriteFile(o.write, markSoak, text); err != nil {
			return err
		}
	}
	if list := s.missed(); len(list) > 0 {
		return fmt.Errorf("%w: %v", errMissed, list)
	}
	return nil
}

// run lets everything happen side by side until the time is over.
func (s *soak) run(ctx context.Context, f *fixture) error {
	during, stop := context.WithTimeout(ctx, s.length)
	defer stop()
	parts := []func() error{
		func() error { return s.cycle(during, f) },
		func() error { return s.plantAndWatch(ctx, during, f) },
		func() error { return s.push(during, f) },
		func() error { return s.watchUse(during, f) },
	}
	errs := make([]error, len(parts))
	var group sync.WaitGroup
	for i, part := range parts {
		group.Go(func() {
			if errs[i] = part(); errs[i] != nil {
				stop()
			}
		})
	}
	group.Wait()
	s.ended = !f.daemon.running()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// cycle lets faults come and go. All is calm when it returns.
func (s *soak) cycle(ctx context.Context, f *fixture) error {
	length := min(soakCycle, s.length)
	for ctx.Err() == nil {
		for _, p := range phases {
			s.enter(p.phase)
			if err := s.switchTo(p.phase, f); err != nil {
				return err
			}
			sleep(ctx, time.Duration(p.share*float64(length)))
		}
	}
	s.enter(settling)
	return s.switchTo(settling, f)
}

func (s *soak) switchTo(p phase, f *fixture) error {
	switch p {
	case hanging:
		f.repo.disturb(delayed(5*time.Second, 15*time.Second))
	case away:
		f.repo.calm()
		return f.platform.refuse()
	case settling:
		f.repo.calm()
		return f.platform.reopen()
	case calm:
	}
	return nil
}
