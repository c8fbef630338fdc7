package main

import (
	"fmt"
	"strings"
)

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
		if n := s.drift[p].missing; n > 0 {
			list = append(list, fmt.Sprintf("%d drifts of the phase %q were not healed", n, p))
		}
	}
	if !s.drift[hanging].within(s.drift[calm], 0.9, driftFloor) {
		list = append(list, "p90 of healing while git hangs is more than twice that of good times")
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
	fmt.Fprintf(&text, "A soak of %s:\n\n| while | drift healed | p90, beside all well | pushes live |\n| --- | --- | --- | --- |\n", s.length)
	for p := range phaseCount {
		drift, pushes := s.drift[p], s.pushes[p]
		fmt.Fprintf(&text, "| %s | %d: %s | %s | %d: %s |\n", p, drift.count(), drift.quantiles(), drift.ratio(s.drift[calm], 0.9),
			pushes.count(), pushes.quantiles())
	}
	text.WriteString("\n| the daemon holds | in the second quarter | in the last |\n| --- | --- | --- |\n")
	for _, m := range members {
		from, to := growth(s.use, m.of)
		fmt.Fprintf(&text, "| %s | %d%s | %d%s |\n", m.name, from/m.scale, m.unit, to/m.scale, m.unit)
	}
	return text.String()
}
