package controller

import (
	"errors"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

const (
	// firstProbe and lastProbe bound the time between two probes of a platform that is
	// down, or that does not take the credential.
	firstProbe = 2 * time.Second
	lastProbe  = time.Minute
)

// breaker tells a platform that is down from a zone that fails: after so many
// unavailable answers in a row, whatever the zones, only a probe is let through now
// and then. Each other zone would cost all its retries. A credential that is not taken
// opens it at once, and so does a row of answers that all forbid.
type breaker struct {
	limit int

	mu     sync.Mutex
	streak int       // of unavailable answers
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
		b.next = now.Add(min(firstProbe<<min(b.probes, 10), lastProbe))
		b.probes++
	}
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
		b.streak++
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
	b.open, b.probes, b.next, b.down = true, 1, now.Add(firstProbe), down{now, err}
	return true, false
}
