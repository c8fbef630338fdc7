//go:build linux

package main

import (
	"fmt"
	"time"
)

// What must hold, whatever happened. Each law is a function over what was seen, and says what
// breaks it.

// pushWithin is how long a push may take while a holder of all that it takes is there.
const pushWithin = 30 * time.Second

// within is how long what was asked for may take while a holder is there: for drift, two intervals in
// which each zone is looked at. Beside that there is the time in which the budget lets the requests
// pass that are asked for at the same time.
func (o options) within(k kind, zonesBeside int) time.Duration {
	bound := pushWithin
	if k == drift {
		bound = 2 * o.sweep
	}
	return bound + time.Duration(zonesBeside*requestsOfZone)*per/time.Duration(o.quota())
}

// requestsOfZone are a read, a write, and a read that proves it.
const requestsOfZone = 3

// took is for how long one and the same holder of all that it takes was there, until it was live.
func (w wish) took(held *timeline, pace *pace, end time.Time) time.Duration {
	return held.longest(pace, w.at, w.until(end), w.needs()...)
}

// late: what was asked for is live within a time in which there was one and the same holder of all
// that it takes.
func (w wish) late(held *timeline, pace *pace, bound time.Duration, end time.Time) string {
	if took := w.took(held, pace, end); took > bound || w.done.IsZero() {
		return fmt.Sprintf("%s of zone %d (threshold %d) at %s: %s with a holder on a machine with nothing else to do, and %s in all here, want %s", w.kind, w.zone, w.score,
			w.at.UTC().Format(time.TimeOnly), took.Round(time.Millisecond), w.until(end).Sub(w.at).Round(time.Millisecond), bound)
	}
	return ""
}

// span is a time in which a replica was paused.
type span struct {
	replica  string
	from, to time.Time
}

// after is for how long a process that goes on after a pause may send what it had begun.
const after = 2 * time.Second

// oldEpochs: once a replica has written with a credential under an epoch, no write of a lower epoch
// arrives, nor is one under way. What a paused process sends in the moment in which it goes on is
// counted apart: nothing can keep it from a request that it had begun to send. It is one for
// each pause at the most.
func oldEpochs(requests []request, pauses []span) (broken []string, afterPauses int) {
	first := map[string]request{}   // by credential: of the newest epoch
	earlier := map[string]request{} // the last to end of those before
	excused := map[span]int{}
	for _, r := range requests {
		if !r.write() || r.replica == "" {
			continue
		}
		newest, known := first[r.credential]
		switch {
		case !known || r.epoch > newest.epoch:
			if last, under := earlier[r.credential]; under && last.end.After(r.at) {
				broken = append(broken, fmt.Sprintf("%s: epoch %d wrote (%s) while a write of epoch %d was under way", r.credential, r.epoch, r.replica, last.epoch))
			}
			first[r.credential] = r
		case r.epoch < newest.epoch:
			if pause, ok := pausedBefore(r, newest, pauses); ok {
				afterPauses++
				if excused[pause]++; excused[pause] == 1 {
					continue
				}
			}
			broken = append(broken, fmt.Sprintf("%s: %s %s of epoch %d (%s) came %s after the first write of epoch %d (%s)",
				r.credential, r.method, r.path, r.epoch, r.replica, r.at.Sub(newest.at), newest.epoch, newest.replica))
			continue
		}
		if r.end.After(earlier[r.credential].end) {
			earlier[r.credential] = r
		}
	}
	return broken, afterPauses
}

// pausedBefore finds the pause that a request came out of: it began before another had written.
func pausedBefore(r, newest request, pauses []span) (span, bool) {
	for _, pause := range pauses {
		if pause.replica == r.replica && pause.from.Before(newest.at) && !r.at.Before(pause.to) && r.at.Sub(pause.to) <= after {
			return pause, true
		}
	}
	return span{}, false
}

// unnamed: every write says under which epoch it is sent.
func unnamed(requests []request) (broken []string) {
	for _, r := range requests {
		if r.write() && r.replica == "" {
			broken = append(broken, fmt.Sprintf("%s %s at %s does not say who sends it", r.method, r.path, r.at.Format(time.TimeOnly)))
		}
	}
	return broken
}

// overBudget: in no span of this length the platform sees more requests of a credential than its
// quota.
func overBudget(requests []request, quota int, per time.Duration) (broken []string) {
	recent := map[string][]time.Time{}
	for _, r := range requests {
		list := append(recent[r.credential], r.at)
		if len(list) > quota {
			if took := r.at.Sub(list[0]); took < per {
				broken = append(broken, fmt.Sprintf("%s: %d requests in %s, until %s", r.credential, quota+1, took, r.at.Format(time.TimeOnly)))
			}
			list = list[1:]
		}
		recent[r.credential] = list
	}
	return broken
}

// busiest is the largest part of its quota that a credential used in a span.
func busiest(requests []request, per time.Duration) (most int) {
	recent := map[string][]time.Time{}
	for _, r := range requests {
		list := append(recent[r.credential], r.at)
		for r.at.Sub(list[0]) >= per {
			list = list[1:]
		}
		recent[r.credential], most = list, max(most, len(list))
	}
	return most
}

// tokenFacts are what the platform and the ledger have of one declared token.
type tokenFacts struct {
	existing    []string // ids on the platform
	confirmed   []string // ids in the ledger
	quarantined int
	mayBe       int // confirmed, at the most
}

// brokenTokens: at most one token is confirmed for each that is declared (and one more for each
// rotation that was asked for), all that are confirmed exist, and nothing exists beside them but
// what is quarantined.
func brokenTokens(facts map[string]tokenFacts) (broken []string) {
	for key, f := range facts {
		if len(f.confirmed) > f.mayBe {
			broken = append(broken, fmt.Sprintf("token %s: %d are confirmed, want %d at the most", key, len(f.confirmed), f.mayBe))
		}
		existing := map[string]bool{}
		for _, id := range f.existing {
			existing[id] = true
		}
		for _, id := range f.confirmed {
			if !existing[id] {
				broken = append(broken, fmt.Sprintf("token %s: %s is confirmed and does not exist", key, id))
			}
		}
		if len(f.existing) > len(f.confirmed)+f.quarantined {
			broken = append(broken, fmt.Sprintf("token %s: %d exist, %d are confirmed, %d quarantined", key, len(f.existing), len(f.confirmed), f.quarantined))
		}
	}
	return broken
}
