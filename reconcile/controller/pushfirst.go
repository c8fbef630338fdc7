package controller

import (
	"sync"
	"time"
)

// pushFirst has the sweep wait while a commit is fetched that someone has told of, while it is
// evaluated, and until its zones are proved where they are few: all of it shares the processors. A zone of the sweep can wait for a moment, and
// somebody waits for what was pushed. It is safe for concurrent use.
type pushFirst struct {
	mu    sync.Mutex
	began time.Time // zero: the sweep goes on
	again time.Time // before that it does not wait once more
}

// pushFirstFor is for how long the sweep waits at most. It goes on for as long after that, however
// often someone pushes.
const pushFirstFor = time.Second

// begin has the sweep wait.
func (f *pushFirst) begin(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.began.IsZero() && !now.Before(f.again) {
		f.began = now
	}
}

// end has it go on, and reports whether it has waited.
func (f *pushFirst) end(now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stop(now)
}

func (f *pushFirst) stop(now time.Time) bool {
	if f.began.IsZero() {
		return false
	}
	f.again = now.Add(min(now.Sub(f.began), pushFirstFor))
	f.began = time.Time{}
	return true
}

// waits is for how long the sweep waits yet; zero: not at all.
func (f *pushFirst) waits(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.began.IsZero() {
		return 0
	}
	if left := f.began.Add(pushFirstFor).Sub(now); left > 0 {
		return left
	}
	f.stop(now)
	return 0
}
