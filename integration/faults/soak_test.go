package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

// quietSoak is one in which nothing goes wrong.
func quietSoak() *soak {
	s := &soak{rhythm: disturbed(), length: time.Minute}
	for p := range phaseCount {
		s.healed[p], s.live[p] = of(0, 10, 20, 30), of(0, 1)
	}
	for range 20 {
		s.use = append(s.use, usage{memory: 50 << 20, files: 30, goroutines: 40})
	}
	return s
}

func TestSoakVerdict(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*soak)
		want  string
	}{
		{"all is well", func(*soak) {}, ""},
		{"git slows healing", func(s *soak) { s.healed[hanging] = of(0, 70, 70, 70) }, "while git hangs"},
		{"an outage slows healing", func(s *soak) { s.healed[away] = of(0, 70, 70, 70) }, ""},
		{"a drift is lost", func(s *soak) { s.healed[away].miss(time.Minute) }, "1 drifts"},
		{"memory grows", func(s *soak) { s.use[18].memory, s.use[17].memory, s.use[19].memory = 70<<20, 70<<20, 70<<20 }, "memory grew"},
		{"pushes of a fleet with faults are not steady", func(s *soak) { s.live[calm] = of(0, 1, 1, 3) }, ""},
		{"pushes are steady", func(s *soak) { s.faults = false; s.live[calm] = of(0, 1, 1, 2) }, ""},
		{"pushes are not steady", func(s *soak) { s.faults = false; s.live[calm] = of(0, 1, 1, 3) }, "p99 of pushes"},
		{"there are no pushes", func(s *soak) { s.faults = false; s.live[calm] = of(1) }, "p99 of pushes"},
		{"it ends", func(s *soak) { s.ended = true }, "the daemon ended"},
	} {
		s := quietSoak()
		test.spoil(s)
		got := s.missed()
		if test.want == "" && len(got) > 0 || test.want != "" && !slices.ContainsFunc(got, func(m string) bool { return strings.Contains(m, test.want) }) {
			t.Errorf("%s: missed are %q", test.name, got)
		}
	}
}

func TestSoakReport(t *testing.T) {
	quiet := quietSoak()
	quiet.scarce = 0.951
	got := quiet.report()
	for _, want := range []string{"In 95 % of the time", "| git hangs | 3: 20 / 30 / 30 s | ×1.0 | 1: 1.0 / 1.0 / 1.0 s |\n", "| memory | 50 MiB | 50 MiB |\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
}

// A soak in short, of a fleet in which nothing fails: every push is proved and every drift is
// healed, each by one write.
func TestSoakOfAFleet(t *testing.T) {
	t.Parallel()
	s := &soak{rhythm: undisturbed(20), length: 10 * time.Minute}
	s.sweep, s.drift, s.push, s.pushes = 2*time.Second, 300*time.Millisecond, hookGap, 3
	f, err := newFixture(t.Context(), harness.Seawall(t), t.TempDir(), s.shape)
	must.Do(t, err)
	defer f.stop()
	must.Do(t, s.run(t.Context(), f))
	live, healed := s.live[calm], s.healed[calm]
	if live.count() != s.pushes || healed.count() == 0 || live.missing+healed.missing > 0 || len(s.use) == 0 || s.ended {
		t.Errorf("pushes: %+v, drifts: %+v, looks at the daemon: %d", live, healed, len(s.use))
	}
	if writes, first := len(f.platform.writes()), 1; writes != first+live.count()+healed.count() || unreasonedWrites(f) > 0 {
		t.Errorf("%d writes for %d pushes and %d drifts", writes, live.count(), healed.count())
	}
	if report := s.report(); strings.Contains(report, "git hangs") || !strings.Contains(report, "over 20 zones") || !strings.Contains(report, "| slowest 3 |") {
		t.Errorf("the report is %s", report)
	}
}
