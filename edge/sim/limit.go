package sim

import (
	"net/http"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge/internal/wire"
)

// RateLimit is how much one credential may ask. Past it every request is
// refused for the length of a window, as the service does.
type RateLimit struct {
	Requests int           // in one window; zero: 1200
	Per      time.Duration // the window; zero: 5 minutes
	Off      bool          // no limit, and no headers that tell of one
}

func (l RateLimit) complete() RateLimit {
	if l.Requests <= 0 {
		l.Requests = 1200
	}
	if l.Per <= 0 {
		l.Per = 5 * time.Minute
	}
	return l
}

// limiter counts requests by credential. Credentials it does not know share
// one count, so that it cannot grow without bounds.
type limiter struct {
	mu      sync.Mutex
	limit   RateLimit
	windows map[string]*window
}

type window struct {
	start   time.Time
	used    int
	blocked bool
}

const limitName = "default"

// set puts another limit in the place of the one there is. What was counted is forgotten.
func (l *limiter) set(limit RateLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit, l.windows = limit.complete(), nil
}

// take counts a request, tells the limit in header, and returns how long the
// credential has to wait: zero when it need not.
func (l *limiter) take(credential string, now time.Time, header http.Header) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit.Off {
		return 0
	}
	if l.windows == nil {
		l.windows = map[string]*window{}
	}
	w := l.windows[credential]
	if w == nil || now.Before(w.start) || now.Sub(w.start) >= l.limit.Per {
		w = &window{start: now}
		l.windows[credential] = w
	}
	w.used++
	if w.used > l.limit.Requests && !w.blocked {
		w.blocked, w.start = true, now
	}
	reset := l.limit.Per - now.Sub(w.start)
	left := wire.Limit{Name: limitName, Left: max(l.limit.Requests-w.used, 0), Reset: reset}
	header.Set(wire.HeaderLimit, left.String())
	header.Set(wire.HeaderLimitPolicy, wire.Policy{Name: limitName, Quota: l.limit.Requests, Window: l.limit.Per}.String())
	if w.blocked {
		return reset
	}
	return 0
}
