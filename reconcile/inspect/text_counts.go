package inspect

import (
	"fmt"
	"strings"
)

// zones writes how many zones have which outcome, and who works on the others.
func (t *textWriter) zones(s Status) {
	z := s.Zones
	parts := []string{fmt.Sprintf("%d declared", z.Declared)}
	counts, elsewhere := z.Outcomes, s.Elsewhere()
	if elsewhere != "" {
		counts = z.Here
	}
	parts = append(parts, s.outcomes(counts, s.Records == nil && elsewhere == "")...)
	if elsewhere != "" {
		parts = append(parts, elsewhere)
	}
	t.line("zones", "%s", strings.Join(parts, ", "))
	switch {
	case s.Records != nil, z.Observed.IsZero() && elsewhere != "" && sum(counts) == 0:
	case z.Observed.IsZero():
		t.line("", "none was read since the start")
	default:
		t.line("", "the last was read %s", Ago(z.Observed, s.At))
	}
	switch {
	case counts[NotRead] == 0 || z.Turned.IsZero():
	case s.Records != nil:
		t.line("", "each was read in its turn until %s", instant(z.Turned))
	default:
		t.line("", "those not read were proved as declared by an earlier process, and each was read in its turn until %s", instant(z.Turned))
	}
	if z.Drift != nil {
		t.line("drift", "oldest: %s, for %s", z.Drift.Zone, Span(z.Drift.AgeSeconds))
	}
}

// outcomes are counts in words. All zones are known of: where none is in sync, and each was read, that is
// said, too.
func (s Status) outcomes(counts map[Outcome]int, all bool) (parts []string) {
	for _, outcome := range severity {
		if n := counts[outcome]; n > 0 || outcome == InSync && all && counts[NotRead] == 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.words(outcome)))
		}
	}
	return parts
}

// words is an outcome as people say it; of one that is on record alone, what that means.
func (s Status) words(o Outcome) string {
	if s.Records != nil && o == NotRead {
		return "proved as declared"
	}
	return Words(o)
}

func sum(counts map[Outcome]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
