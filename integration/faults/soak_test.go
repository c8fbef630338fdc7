package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// quietSoak is one in which nothing goes wrong.
func quietSoak() *soak {
	s := &soak{length: time.Minute}
	for p := range phaseCount {
		s.drift[p], s.pushes[p] = of(0, 10, 20, 30), of(0, 1)
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
		{"git slows healing", func(s *soak) { s.drift[hanging] = of(0, 70, 70, 70) }, "while git hangs"},
		{"an outage slows healing", func(s *soak) { s.drift[away] = of(0, 70, 70, 70) }, ""},
		{"a drift is lost", func(s *soak) { s.drift[away].miss(time.Minute) }, "1 drifts"},
		{"memory grows", func(s *soak) { s.use[18].memory, s.use[17].memory, s.use[19].memory = 70<<20, 70<<20, 70<<20 }, "memory grew"},
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
	got := quietSoak().report()
	for _, want := range []string{"| git hangs | 3: 20 / 30 / 30 s | ×1.0 | 1: 1.0 / 1.0 / 1.0 s |\n", "| memory | 50 MiB | 50 MiB |\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
}
