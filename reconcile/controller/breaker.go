package controller

import (
	"errors"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
)

// few is after how many unavailable answers in a row, for awayAfter, the platform seems
// to be away.
const few = 3

// awayAfter is since when a platform must be down, or a credential be rejected, for its lane
// to count as away: what is reported together does not wait for it then.
const awayAfter = 30 * time.Second

// breaker tells a platform that is down from a zone that fails: after so many
// unavailable answers in a row, whatever the zones, only a probe is let through now
// and then. Each other zone would cost all its retries. A credential that is not taken
// opens it at once, and so does a row of answers that all forbid.
type breaker struct {
	limit int

	mu     sync.Mutex
	streak int       // of unavailable answers
	since  time.Time // when the first of them came
	denied int       // of forbidden ones
	probes int       // sent in a row without success, while it is open
	next   time.Time // when the next probe may be sent
	open   bool
	down   down // since it is open
}

// down is since when only probes are sent, and why; zero where that is not so.
type down struct {
	since time.Time
	cause error
}

func newBreaker(limit int) *breaker { return &breaker{limit: limit} }

// allow reports whether a zone may be read now, and if not how long to wait.
func (b *breaker) allow(now time.Time) (bool, time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true, 0
	}
	if wait := b.next.Sub(now); wait > 0 {
		return false, wait
	}
	return true, 0
}

// state reports whether it is open, and then when the next probe may be sent.
func (b *breaker) state() (open bool, next time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open, b.next
}

// away reports whether nothing was answered for a while: what finds the end of that is the
// next try of any zone.
func (b *breaker) away(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open || b.streak >= few && now.Sub(b.since) >= awayAfter
}

// downSince says since when it is open.
func (b *breaker) downSince() down {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.down
}

// begin notes that a look begins: while the breaker is open it is the probe, and no
// other may follow for a while.
func (b *breaker) begin(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		policy := retry.Probe
		if !errors.Is(b.down.cause, edge.ErrUnavailable) {
			policy = retry.Credential
		}
		b.probes++
		b.next = now.Add(policy.Delay(b.probes))
	}
}

// hurry lets a probe through now: someone has asked for a look.
func (b *breaker) hurry() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probes, b.next = 0, time.Time{}
}

// pass gives a probe back: it turned out that there was nothing to ask.
func (b *breaker) pass() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open && b.probes > 0 {
		b.probes--
		b.next = time.Time{}
	}
}

// leave forgets what is known of the platform: another process asks it.
func (b *breaker) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open, b.streak, b.denied, b.probes, b.next, b.down = false, 0, 0, 0, time.Time{}, down{}
}

// note learns how a read has ended, and reports whether the breaker has opened or
// closed with it.
func (b *breaker) note(err error, now time.Time) (opened, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var open bool
	switch {
	case errors.Is(err, edge.ErrUnauthenticated):
		open = true
	case errors.Is(err, edge.ErrUnavailable):
		if b.streak++; b.streak == 1 {
			b.since = now
		}
		open = b.streak >= b.limit
	case errors.Is(err, edge.ErrForbidden):
		b.denied++
		open = b.denied >= b.limit
	default:
		closed = b.open
		b.open, b.streak, b.denied, b.probes, b.down = false, 0, 0, 0, down{}
		return false, closed
	}
	if b.open || !open {
		return false, false
	}
	b.open, b.probes, b.next, b.down = true, 1, now.Add(retry.Probe.First), down{now, err}
	return true, false
}
