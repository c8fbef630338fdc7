package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// rhythm is a fleet, and how often something happens to it.
type rhythm struct {
	shape
	drift, push time.Duration // from one to the next
	pushes      int           // the soak ends after so many; 0: when its time is over
	faults      bool          // git and the platform fail in turns
}

// disturbed is a middling fleet, with faults that come and go.
func disturbed() rhythm {
	s := shape{zones: 300, requests: 6000, per: 5 * time.Minute, sweep: time.Minute, sync: 5 * time.Second, latency: soakLatency}
	return rhythm{shape: s, drift: time.Second, push: 20 * time.Second, faults: true}
}

// undisturbed is a fleet of any size in which nothing fails. In each sweep, one zone in a hundred
// has drifted.
func undisturbed(zones int) rhythm {
	s := shape{zones: zones, sweep: time.Minute, sync: time.Minute, latency: soakLatency}
	return rhythm{shape: s, drift: 100 * s.sweep / time.Duration(zones), push: 10 * time.Second}
}

const (
	soakLatency = 5 * time.Millisecond
	soakUsage   = 5 * time.Second
	soakCycle   = 4 * time.Minute
	soakHealing = 3 * time.Minute // how long may pass after the end until all is healed
)

// phase is what is the case at one time. Drift counts under the worst phase that
// it has seen; they are in the order from good to bad.
type phase int

const (
	calm phase = iota
	settling
	hanging
	away
	phaseCount
)

func (p phase) String() string {
	return [phaseCount]string{"all is well", "after an outage", "git hangs", "the platform is away"}[p]
}

// cycle is what comes again and again, each with its share, after a first quarter
// in which all is well.
var cycle = []struct {
	phase phase
	share float64
}{{hanging, 0.45}, {calm, 0.25}, {away, 0.1}, {settling, 0.2}}

// soak is what was seen.
type soak struct {
	rhythm

	mu     sync.Mutex
	now    phase
	healed [phaseCount]sample
	live   [phaseCount]sample // pushes
	passed []passage          // pushes, where nothing fails
	use    []usage
	ended  bool
	length time.Duration
	scarce float64 // the part of the time in which some process waited for a processor; 0: it is not known
}

func (s *soak) phase() phase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *soak) enter(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now = p; s.length > 0 {
		fmt.Fprintln(os.Stderr, time.Now().UTC().Format(time.TimeOnly), p)
	}
}

// note counts what happened, or what did not.
func (s *soak) note(in *sample, took time.Duration, happened bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if happened {
		in.add(took)
	} else {
		in.miss(took)
	}
}

// pass keeps the stages of a push.
func (s *soak) pass(p passage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed = append(s.passed, p)
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
	s := soak{rhythm: disturbed(), length: o.soak}
	if o.zones > 0 {
		s.rhythm = undisturbed(o.zones)
	}
	f, err := newFixture(ctx, o.binary, dir, s.shape)
	if err != nil {
		return err
	}
	defer f.stop()
	sleep(ctx, s.sweep) // the first interval is unlike the others
	if err := s.run(ctx, f); err != nil {
		return err
	}
	text := s.report()
	fmt.Print(text)
	if o.write != "" {
		if err := rewriteFile(o.write, markSoak, func(string) string { return text }); err != nil {
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
	begin := time.Now()
	before, _ := waitedForProcessors()
	parts := []func() error{
		func() error { return s.plantAndWatch(ctx, during, f) },
		func() error { defer stop(); return s.pushAndWatch(during, f) },
		func() error { return s.watchUse(during, f) },
	}
	if s.faults {
		parts = append(parts, func() error { return s.comeAndGo(during, f) })
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
	if after, ok := waitedForProcessors(); ok {
		s.scarce = float64(after-before) / float64(time.Since(begin))
	}
	s.ended = !f.daemon.Running()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// comeAndGo lets faults come and go. There is none when it returns.
func (s *soak) comeAndGo(ctx context.Context, f *fixture) error {
	quarter := s.length / 4
	sleep(ctx, quarter)
	for ctx.Err() == nil {
		for _, c := range cycle {
			s.enter(c.phase)
			if err := s.switchTo(c.phase, f); err != nil {
				return err
			}
			sleep(ctx, time.Duration(c.share*float64(min(soakCycle, s.length-quarter))))
		}
	}
	s.enter(settling)
	return s.switchTo(settling, f)
}

func (s *soak) switchTo(p phase, f *fixture) error {
	switch p {
	case hanging:
		f.repo.disturb(delayed(5*time.Second, 15*time.Second))
		return nil
	case away:
		return f.platform.refuse()
	default:
		f.repo.calm()
		return f.platform.reopen()
	}
}

// members are what a daemon holds, with how much each may grow.
var members = []struct {
	name   string
	of     func(usage) int64
	share  float64
	amount int64
	unit   string
	scale  int64
}{
	{"memory", func(u usage) int64 { return u.memory }, 0.15, 10 << 20, " MiB", 1 << 20},
	{"open files", func(u usage) int64 { return int64(u.files) }, 0, 10, "", 1},
	{"goroutines", func(u usage) int64 { return int64(u.goroutines) }, 0, 10, "", 1},
}

// missed lists the aims of the soak that are missed.
func (s *soak) missed() []string {
	var list []string
	for p := range phaseCount {
		if n := s.healed[p].missing; n > 0 {
			list = append(list, fmt.Sprintf("%d drifts of the phase %q were not healed", n, p))
		}
	}
	if s.faults && !s.healed[hanging].within(s.healed[calm], 0.9, driftFloor) {
		list = append(list, "p90 of healing while git hangs is more than twice that of good times")
	}
	if !s.faults && !s.live[calm].steady() {
		list = append(list, "p99 of pushes is more than twice their p50")
	}
	for _, m := range members {
		if from, to := growth(s.use, m.of); !flat(from, to, m.share, m.amount) {
			list = append(list, m.name+" grew")
		}
	}
	if s.ended {
		list = append(list, "the daemon ended")
	}
	return list
}

// report renders what was seen, in Markdown.
func (s *soak) report() string {
	var text strings.Builder
	fmt.Fprintf(&text, "A soak of %s over %d zones:\n\n| while | drift corrected | p90, beside all well | pushes live |\n| --- | --- | --- | --- |\n", s.length, s.zones)
	for p := range phaseCount {
		drift, pushes := s.healed[p], s.live[p]
		if s.faults || p == calm {
			fmt.Fprintf(&text, "| %s | %d: %s | %s | %d: %s |\n", p, drift.count(), drift.quantiles(), drift.ratio(s.healed[calm], 0.9),
				pushes.count(), pushes.quantiles())
		}
	}
	text.WriteString(stageTable(s.passed))
	if s.scarce > 0 {
		fmt.Fprintf(&text, "\nIn %.0f %% of the time, some process of the machine waited for a processor.\n", 100*s.scarce)
	}
	text.WriteString("\n| the daemon holds | in the second quarter | in the last |\n| --- | --- | --- |\n")
	for _, m := range members {
		from, to := growth(s.use, m.of)
		fmt.Fprintf(&text, "| %s | %d%s | %d%s |\n", m.name, from/m.scale, m.unit, to/m.scale, m.unit)
	}
	return text.String()
}
