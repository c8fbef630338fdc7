package controller

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// ahead is the part of an interval in which the sweep comes to every zone. The rest is
// for what delays it: no zone is to go unseen for longer than an interval.
const ahead = 0.9

// turns says when each zone is read without a reason: once in a turn, at a time
// that hangs on its id alone. A fleet is spread evenly however it is named, zones that
// come and go move no other, and of the sweep only a time is remembered over a restart.
type turns struct {
	schedule cron.Schedule // nil: never

	mu       sync.Mutex
	interval reconcile.Interval
}

// turn is how long the sweep takes to come to every zone, at a moment; zero where none
// is scheduled.
func (s *turns) turn(now time.Time) time.Duration {
	if s.schedule == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(ahead * float64(s.interval.At(s.schedule, now)))
}

// justNow is the part of a turn before its place in which a zone that is read
// has had its turn.
const justNow = 0.01

// next is when a zone is to be read that was read a moment ago; false for
// never.
func (s *turns) next(id edge.Scope, now time.Time) (time.Time, bool) {
	return s.after(id, now, justNow)
}

// first is the first turn of a zone after a moment; false for never.
func (s *turns) first(id edge.Scope, from time.Time) (time.Time, bool) { return s.after(id, from, 0) }

func (s *turns) after(id edge.Scope, now time.Time, least float64) (time.Time, bool) {
	turn := s.turn(now)
	if turn <= 0 {
		return time.Time{}, false
	}
	passed := float64(now.UnixNano()%int64(turn)) / float64(turn)
	wait := phaseOf(id) - passed
	if wait < least {
		wait++
	}
	return now.Add(time.Duration(wait * float64(turn))), true // by the monotonic clock
}

// phaseOf is the place of a zone in a turn: at least 0 and less than 1.
func phaseOf(id edge.Scope) float64 {
	sum := sha256.Sum256([]byte(id.String()))
	return math.Ldexp(float64(binary.BigEndian.Uint64(sum[:])>>11), -53)
}
