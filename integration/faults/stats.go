package main

import (
	"fmt"
	"slices"
	"time"
)

// sample is how long each of some things took, and how many of them had not
// happened when nothing more was waited for.
type sample struct {
	took    []time.Duration
	missing int
	waited  time.Duration // for each of those that are missing, at least
}

func (s *sample) add(took time.Duration) { s.took = append(s.took, took) }

// miss counts one that has not happened after so long.
func (s *sample) miss(after time.Duration) {
	if s.missing == 0 || after < s.waited {
		s.waited = after
	}
	s.missing++
}

func (s sample) count() int { return len(s.took) + s.missing }

// quantile is the nearest-rank quantile: 0.5 is the median, 1 the longest. What
// is missing counts as longer than anything; ok is false where the quantile is
// one of those, or where there is nothing.
func (s sample) quantile(q float64) (took time.Duration, ok bool) {
	rank := max(int(q*float64(s.count())+0.999999), 1) - 1
	if rank >= len(s.took) {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(s.took))
	return sorted[rank], true
}

// within reports whether a quantile is at most twice that of the undisturbed
// sample, with a floor for noise on top.
func (s sample) within(undisturbed sample, q float64, floor time.Duration) bool {
	took, ok := s.quantile(q)
	if !ok {
		return false
	}
	base, ok := undisturbed.quantile(q)
	return ok && took <= 2*base+floor
}

// steady reports whether hardly any took more than twice as long as the one in the middle.
func (s sample) steady() bool {
	most, ok := s.quantile(0.99)
	middle, _ := s.quantile(0.5)
	return ok && most <= 2*middle
}

// ratio compares a quantile with that of the undisturbed sample.
func (s sample) ratio(undisturbed sample, q float64) string {
	took, ok := s.quantile(q)
	base, baseOK := undisturbed.quantile(q)
	if !ok || !baseOK || base <= 0 {
		return "–"
	}
	return fmt.Sprintf("×%.1f", float64(took)/float64(base))
}

// quantiles renders p50, p90 and the longest.
func (s sample) quantiles() string {
	if s.count() == 0 {
		return "–"
	}
	text := ""
	for i, q := range []float64{0.5, 0.9, 1} {
		if i > 0 {
			text += " / "
		}
		if took, ok := s.quantile(q); ok {
			text += seconds(took)
		} else {
			text += ">" + seconds(s.waited)
		}
	}
	return text + " s"
}

// longest renders the longest alone.
func (s sample) longest() string {
	if took, ok := s.quantile(1); ok {
		return seconds(took) + " s"
	}
	return fmt.Sprintf("%d of %d not within %s s", s.missing, s.count(), seconds(s.waited))
}

// seconds renders a duration without its unit, with the digits that matter.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f", d.Seconds())
	}
	return fmt.Sprintf("%.0f", d.Seconds())
}
