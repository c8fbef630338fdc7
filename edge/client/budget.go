package client

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/retry"
)

// The platform's quota per credential.
const (
	DefaultRequests = 1200
	DefaultPer      = 5 * time.Minute
)

// Budget keeps all calls of one credential under its quota. Past the quota the
// platform refuses everything for minutes, so the budget is exact: in no span
// of the length Per can the platform see more than Requests requests, however
// its own windows lie. For that a request counts from before it is sent until
// Per after its answer came. Nothing is spread out: a run of few zones goes at
// full speed, and only one that used up the quota waits.
//
// (A limiter with fixed windows would let through twice the quota around the
// end of one, and one that spaces requests evenly would slow down every small
// run, which is why the count is kept here.)
//
// Three things make every call wait: the quota is used up; an answer was 429,
// for as long as its Retry-After said; the platform's Ratelimit header says that
// less is left than we think, because someone else uses the credential too.
//
// A Budget is safe for concurrent use. One that is shared, see [Budget.Share],
// knows what other processes sent, and what this program did before a restart;
// another begins empty, and the Ratelimit header of the first answer corrects it.
type Budget struct {
	requests int
	per      time.Duration
	now      func() time.Time // runs on at the same pace, whatever it says

	mu       sync.Mutex
	inFlight int
	ended    []time.Time   // of the requests within the last per, oldest first
	changed  chan struct{} // closed with the end of the next request; nil: no one waits for it
	resume   time.Time     // paused until then
	strikes  int           // pauses in a row for which no length was said
	told     told
	waited   time.Duration // by all calls together
	share    *sharing      // nil: with no one
}

// told is what the platform said is left, and until when that holds.
type told struct {
	left  int
	until time.Time
}

// BudgetState is what a budget has to tell at one moment.
type BudgetState struct {
	Used  int           // requests that count now
	Left  int           // requests that may be sent now without waiting
	Pause time.Duration // how long the platform asked everything to wait; zero when it did not
	// Waited is for how long requests have waited, those added up that waited at once.
	Waited time.Duration
}

// NewBudget returns a budget of so many requests in any span of length per.
// Zero is the platform's quota, 1200 and 5 minutes.
func NewBudget(requests int, per time.Duration) *Budget {
	setDefault(&requests, DefaultRequests)
	setDefault(&per, DefaultPer)
	return &Budget{requests: requests, per: per, now: time.Now}
}

// State returns what the budget has to tell now.
func (b *Budget) State() BudgetState {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.forget(now)
	return b.state(now, b.Class())
}

// Forecast is what a budget expects: how many requests may be sent now, and, where more
// are needed, after what time some come free again.
type Forecast struct {
	Left int
	Next time.Duration
	Kept bool // there are some, kept for more urgent requests
}

// Forecast returns what may be sent now. It asks other processes where need be.
func (b *Budget) Forecast() Forecast {
	f := Forecast{Left: b.Room(b.Class(), 0)}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.forget(now)
	if len(b.ended) > 0 {
		f.Next = b.ended[0].Add(b.per).Sub(now)
	}
	if s := b.share; s != nil && !s.failing && f.Left == 0 {
		p := s.purses[s.Class]
		f.Kept = s.others(s.Class) == keptUp
		if next := later(p.next, p.more); now.Before(next) {
			f.Next = next.Sub(now)
		}
	}
	if f.Next = max(f.Next, b.resume.Sub(now)); now.Before(b.told.until) && b.told.left <= f.Left {
		f.Next = max(f.Next, b.told.until.Sub(now))
	}
	return f
}

// waitsFor is what a request waits for.
type waitsFor int

const (
	nothing waitsFor = iota
	usedUp           // the budget
	asked            // the platform asked to wait
	toldUp           // the platform said that its quota is used up
	keptUp           // what is left of the budget is kept for more urgent requests
	moment           // other processes, for less time than is worth a word
)

func (b *Budget) state(now time.Time, c edge.Class) BudgetState {
	s := BudgetState{Used: b.inFlight + len(b.ended), Pause: max(b.resume.Sub(now), 0), Waited: b.waited}
	s.Left = max(b.requests-s.Used, 0)
	if now.Before(b.told.until) {
		s.Left = min(s.Left, b.told.left)
	}
	if s.Left = b.lent(now, c, s.Left); s.Pause > 0 {
		s.Left = 0
	}
	return s
}

// take waits until one request may be sent, and has a slot, and counts it. Each success is
// followed by one end, and the slot is given back. Nothing has a slot while it waits for the
// budget: more urgent requests may be sent. It tells what it waits for, and for how long where
// that is known.
func (b *Budget) take(ctx context.Context, slots *slots, tell func(waitsFor, time.Duration)) error {
	c := b.classOf(ctx)
	for {
		if err := slots.take(ctx, c); err != nil {
			return err
		}
		what, wait, changed := b.tryTake(c)
		if what == nothing {
			return nil
		}
		slots.give()
		tell(what, b.expect(c, wait))
		began := b.now()
		var over <-chan time.Time
		if changed == nil {
			over = time.After(wait)
		}
		select {
		case <-changed:
		case <-over:
		case <-ctx.Done():
		}
		b.noteWait(began)
	}
}

// noteWait counts for how long a call has waited.
func (b *Budget) noteWait(began time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waited += b.now().Sub(began)
}

// tryTake counts a request, or says what it has to wait for and how long: until changed is
// closed, where there is such.
func (b *Budget) tryTake(c edge.Class) (what waitsFor, wait time.Duration, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		now := b.now()
		b.forget(now)
		if what, wait, changed := b.own(now); what != nothing {
			return what, wait, changed
		}
		if b.supply(now, c) {
			continue // the budget was unlocked meanwhile
		}
		if what, wait, changed := b.borrow(now, c); what != nothing {
			return what, wait, changed
		}
		b.inFlight++
		if now.Before(b.told.until) {
			b.told.left--
		}
		return nothing, 0, nil
	}
}

// own is what there is to wait for whatever other processes have.
func (b *Budget) own(now time.Time) (what waitsFor, wait time.Duration, changed <-chan struct{}) {
	switch {
	case now.Before(b.resume):
		return asked, b.resume.Sub(now), nil
	case now.Before(b.told.until) && b.told.left <= 0:
		return toldUp, b.told.until.Sub(now), nil
	case b.inFlight+len(b.ended) < b.requests:
		return nothing, 0, nil
	case len(b.ended) > 0:
		return usedUp, b.ended[0].Add(b.per).Sub(now), nil
	}
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return usedUp, 0, b.changed
}

// forget drops the requests that no longer count.
func (b *Budget) forget(now time.Time) {
	n := 0
	for n < len(b.ended) && !now.Before(b.ended[n].Add(b.per)) {
		n++
	}
	b.ended = b.ended[n:]
}

// end ends a request of a class of which sent copies may have reached the platform, and
// heeds what the answer says of limits; the status is zero when there was none.
// It returns the pause a 429 began, zero when it began none.
func (b *Budget) end(c edge.Class, sent, status int, header http.Header) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.inFlight--
	for range sent {
		b.ended = append(b.ended, now)
	}
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
	for _, limit := range wire.ParseLimits(header) {
		b.heed(limit, now)
	}
	if status == http.StatusTooManyRequests {
		pause := b.pause(wire.RetryAfter(header), now)
		b.count(now, c, sent, true)
		return pause
	}
	b.count(now, c, sent, false)
	if status != 0 && !now.Before(b.resume) {
		b.strikes = 0
	}
	return 0
}

// heed believes a Ratelimit header that leaves less than we do. Requests in
// flight may or may not be in its count already; they are taken not to be.
func (b *Budget) heed(limit wire.Limit, now time.Time) {
	left := limit.Left - b.inFlight
	if left >= b.requests-b.inFlight-len(b.ended) {
		return
	}
	until := now.Add(min(limit.Reset, wire.MaxPause))
	if now.Before(b.told.until) {
		left = min(left, b.told.left) // answers overtake each other
	}
	b.told = told{left, until}
}

// pause holds back every call. Of requests that were in flight together only
// the first to come back begins a pause; the others can make it longer.
func (b *Budget) pause(said time.Duration, now time.Time) time.Duration {
	paused := now.Before(b.resume)
	if said == 0 {
		if paused {
			return 0
		}
		b.strikes++
		said = retry.Throttled.Delay(b.strikes)
	}
	if resume := now.Add(said); resume.After(b.resume) {
		b.resume = resume
	}
	if paused {
		return 0
	}
	return said
}
