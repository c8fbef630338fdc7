package guard

import (
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
)

// Rollout is how far the waves of a commit have come.
type Rollout struct {
	// Wave is the wave of each zone that the commit changed and that was not written
	// yet, counted from 1. What is not in it does not wait: a zone that the rollout
	// has done, or that the commit did not touch, is drift.
	Wave  map[edge.Scope]int
	Waves int // how many there are
	Open  int // up to which wave zones may be written
	// Next is when wave Open+1 may start; zero where that depends on what becomes of
	// the zones of an open wave.
	Next time.Time
	// Halted is why nothing of it goes on; empty where it does.
	Halted string
}

// Delays reports whether a zone has to wait; no rollout delays none.
func (r *Rollout) Delays(zone edge.Scope) bool {
	return r != nil && r.Wave[zone] > 0 && (r.Halted != "" || r.Wave[zone] > r.Open)
}

// refuseEarly refuses what is of a later wave.
func refuseEarly(c diff.Change, f Facts) *diff.Refusal {
	if !diff.Counts(c.Level()) {
		return refuseUnknown(c)
	}
	if !f.Rollout.Delays(c.Scope) {
		return nil
	}
	r, wave := f.Rollout, f.Rollout.Wave[c.Scope]
	of := fmt.Sprintf("wave %d of %d", wave, r.Waves)
	switch {
	case r.Halted != "":
		return &diff.Refusal{Guard: diff.GuardWave, Reason: of + " is halted: " + r.Halted, Release: diff.ReleaseHalted}
	case wave == r.Open+1 && !r.Next.IsZero():
		return &diff.Refusal{Guard: diff.GuardWave, Reason: of + " may start at " + words.Instant(r.Next), Release: "that time", Until: r.Next}
	}
	return &diff.Refusal{
		Guard: diff.GuardWave, Reason: fmt.Sprintf("%s waits until wave %d is applied and its soak time is over", of, wave-1),
		Release: "the end of the earlier waves and their soak time",
	}
}
