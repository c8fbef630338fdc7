package controller

import (
	"sync"
	"time"
)

// PushFirst has the sweep wait while a commit is fetched that someone has told of, while it is
// evaluated, and until its zones are proved where they are few: all of it shares the processors. A
// zone of the sweep can wait for a moment, and somebody waits for what was pushed. It is safe for
// concurrent use; the zero value has no push.
type PushFirst struct {
	mu     sync.Mutex
	began  time.Time // zero: the sweep goes on
	reason waitReason
	owed   time.Duration // from the wait before, which this one followed at once

	until time.Time // when a push counts as over at the latest, whether or not the sweep waits for it

	// Before these times it does not wait once more. A fetch mostly finds nothing: what was waited
	// for that keeps no evaluation from its wait.
	fetch, evaluation time.Time
}

// waitReason is what the sweep waits for, in the order of time.
type waitReason int

const (
	waitFetch waitReason = iota
	waitEvaluation
	waitProofs // which goes on from the wait for the evaluation
)

// pushFirstFor is for how long the sweep waits at most for a fetch, and then for an evaluation with
// its proofs. It goes on for as long after that as it has waited, however often someone pushes.
const pushFirstFor = time.Second

// begin has the sweep wait for a fetch or an evaluation.
func (f *PushFirst) begin(reason waitReason, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until = now.Add(pushFirstFor)
	if f.left(now) > 0 && f.reason >= reason {
		if reason == waitEvaluation {
			f.reason = reason // proofs of the commit before do not end it
		}
		return
	}
	f.stop(now)
	f.reason = reason
	again := f.fetch
	if reason == waitEvaluation {
		again = f.evaluation
	}
	if !now.Before(again) {
		f.began, f.owed = now, max(0, f.fetch.Sub(now))
	}
}

// proves notes that the sweep waits for proofs from now on.
func (f *PushFirst) proves() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reason = waitProofs
}

// end has it go on where it waits for proofs, or else for what comes before these, and reports whether
// it has waited.
func (f *PushFirst) end(proofs bool, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if (f.reason == waitProofs) != proofs {
		return false
	}
	f.until = time.Time{}
	return f.stop(now)
}

// UnderWay is for how long yet, at the most, a push is on its way: from when someone has told of a
// commit until the last of its zones is proved, where they are few. Zero: none is.
func (f *PushFirst) UnderWay() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, time.Until(f.until))
}

func (f *PushFirst) stop(now time.Time) bool {
	if f.began.IsZero() {
		return false
	}
	waited := min(now.Sub(f.began), pushFirstFor)
	f.fetch = f.began.Add(2*waited + f.owed)
	if f.reason != waitFetch {
		f.evaluation = f.fetch
	}
	f.began = time.Time{}
	return true
}

// waits is for how long the sweep waits yet; zero: not at all.
func (f *PushFirst) waits(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := f.left(now)
	if left == 0 {
		f.stop(now)
	}
	return left
}

func (f *PushFirst) left(now time.Time) time.Duration {
	if f.began.IsZero() {
		return 0
	}
	return max(0, f.began.Add(pushFirstFor).Sub(now))
}
