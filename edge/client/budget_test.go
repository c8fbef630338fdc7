package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/internal/wire"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/integration/must"
)

// The law of the budget: however many callers there are and however long their
// requests are under way, no span of the length Per sees more than Requests
// requests arrive; and the budget is used up, not merely kept.
func TestBudgetLaw(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			quota, callers, rounds := 1+rnd.IntN(20), 1+rnd.IntN(12), 4
			slowest := time.Duration(1+rnd.IntN(5000)) * time.Millisecond
			const per = 10 * time.Second
			b := NewBudget(quota, per)
			begin := time.Now()
			arrivals := load(t, b, callers, quota*rounds, slowest, rnd)
			for i := quota; i < len(arrivals); i++ {
				if span := arrivals[i].Sub(arrivals[i-quota]); span < per {
					t.Fatalf("seed %d: %d requests arrived within %v, want at most %d in %v", seed, quota+1, span, quota, per)
				}
			}
			// Each round ends with a span; within one, callers take turns.
			most := time.Duration(rounds) * (per + time.Duration(quota/callers+2)*slowest)
			if took := time.Since(begin); took > most {
				t.Errorf("seed %d: took %v, want at most %v", seed, took, most)
			}
		})
	}
}

// load sends n requests from several callers and returns when they arrived, in
// order.
func load(t *testing.T, b *Budget, callers, n int, slowest time.Duration, rnd *rand.Rand) []time.Time {
	var mu sync.Mutex
	var arrivals []time.Time
	some := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(rnd.Int64N(int64(slowest)/2 + 1))
	}
	work := make(chan struct{}, n)
	for range n {
		work <- struct{}{}
	}
	close(work)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range work {
				if err := b.take(t.Context(), manySlots(), untold); err != nil {
					t.Error(err)
				}
				time.Sleep(some())
				mu.Lock()
				arrivals = append(arrivals, time.Now())
				mu.Unlock()
				time.Sleep(some())
				b.done(1, 200, nil)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(arrivals, time.Time.Compare)
	return arrivals
}

func TestBudgetDoesNotSlowDownASmallRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(0, 0)
		begin := time.Now()
		for range DefaultRequests {
			must.Do(t, b.take(t.Context(), manySlots(), untold))
			b.done(1, 200, nil)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("1200 requests took %v", took)
		}
		if got := b.State(); got.Used != DefaultRequests || got.Left != 0 {
			t.Errorf("got %+v", got)
		}
		if err := b.take(t.Context(), manySlots(), untold); err != nil || time.Since(begin) != DefaultPer {
			t.Errorf("the next came after %v, %v", time.Since(begin), err)
		}
	})
}

func TestBudgetWaitsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		must.Do(t, b.take(ctx, manySlots(), untold))
		if err := b.take(ctx, manySlots(), untold); !errors.Is(err, context.DeadlineExceeded) { // all in flight
			t.Errorf("got %v", err)
		}
		b.done(1, 200, nil)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.take(ctx, manySlots(), untold); !errors.Is(err, context.DeadlineExceeded) { // used up
			t.Errorf("got %v", err)
		}
	})
}

func limitHeader(left, reset int) http.Header {
	return http.Header{wire.HeaderLimit: {wire.Limit{Name: "default", Left: left, Reset: time.Duration(reset) * time.Second}.String()}}
}

func TestRatelimitHeader(t *testing.T) {
	for name, c := range map[string]struct {
		headers []http.Header // of the answers so far
		left    int
		wait    time.Duration // before the request after those that are left
	}{
		"more than we think":           {[]http.Header{limitHeader(500, 30)}, 9, time.Minute},
		"less than we think":           {[]http.Header{limitHeader(4, 30)}, 4, 30 * time.Second},
		"nothing left":                 {[]http.Header{limitHeader(0, 30)}, 0, 30 * time.Second},
		"an older answer comes late":   {[]http.Header{limitHeader(2, 30), limitHeader(3, 30)}, 1, 30 * time.Second},
		"a reset that is out of reach": {[]http.Header{limitHeader(0, 1<<30)}, 0, 300 * time.Second},
		"already reset":                {[]http.Header{limitHeader(0, 0)}, 9, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewBudget(9+len(c.headers), time.Minute)
				for _, h := range c.headers {
					take(t, b)
					b.done(1, 200, h)
				}
				if got := b.State().Left; got != c.left {
					t.Errorf("%d left, want %d", got, c.left)
				}
				begin := time.Now()
				for range c.left {
					take(t, b)
				}
				if since := time.Since(begin); since != 0 {
					t.Errorf("waited %v for what was left", since)
				}
				for range c.left {
					b.done(1, 200, nil)
				}
				take(t, b)
				if since := time.Since(begin); since != c.wait {
					t.Errorf("waited %v, want %v", since, c.wait)
				}
			})
		})
	}
}

// Requests in flight are taken not to be in the platform's count yet.
func TestRatelimitHeaderBesideOthers(t *testing.T) {
	b := NewBudget(100, time.Minute)
	for range 3 {
		take(t, b)
	}
	b.done(1, 200, limitHeader(5, 30))
	if got := b.State().Left; got != 3 {
		t.Errorf("%d left of 5 with 2 in flight, want 3", got)
	}
}

func take(t *testing.T, b *Budget) {
	t.Helper()
	must.Do(t, b.take(t.Context(), manySlots(), untold))
}

// One throttled call makes all of them wait, those of other clients of the same
// credential too, and they wait once.
func TestThrottlingPausesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(0, 0)
		s := serve(t, inTurn(answer(429, failure(edge.CodeThrottled, "slow down"), "Retry-After", "120"), answer(200, entryJSON)))
		share := func(config *Config) { config.Budget = budget }
		first, second := s.client(t, share), s.client(t, share)
		begin := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { check(t, get(first)) })
		synctest.Wait()
		for range 5 {
			wg.Go(func() { check(t, get(second)) })
			wg.Go(func() { check(t, patch(first)) })
		}
		if pause := budget.State().Pause; pause != 2*time.Minute {
			t.Errorf("the pause is %v", pause)
		}
		wg.Wait()
		for i, a := range s.arrivals() {
			if since := a.at.Sub(begin); i == 0 && since != 0 || i > 0 && since != 2*time.Minute {
				t.Errorf("request %d arrived after %v", i, since)
			}
		}
		if n := len(s.arrivals()); n != 12 {
			t.Errorf("%d requests, want 12", n)
		}
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Without a Retry-After the pauses grow; answers to requests that were in
// flight together count as one.
func TestThrottlingWithoutRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(0, 0)
		for _, want := range []time.Duration{2, 4, 8, 16} {
			for range 3 {
				take(t, b)
			}
			begin := time.Now()
			for range 3 {
				b.done(1, http.StatusTooManyRequests, nil)
			}
			take(t, b)
			if got := time.Since(begin); got != want*time.Second {
				t.Errorf("waited %v, want %v s", got, int(want))
			}
			b.done(0, 0, nil)
		}
		take(t, b)
		b.done(1, 200, nil)
		take(t, b)
		if pause := b.done(1, http.StatusTooManyRequests, nil); pause != retry.Throttled.First {
			t.Errorf("after a success the pause is %v", pause)
		}
	})
}

// A pause that was said is believed up to the platform's window.
func TestRetryAfterIsCapped(t *testing.T) {
	for said, want := range map[int]time.Duration{7: 7 * time.Second, 300: 5 * time.Minute, 86400: 5 * time.Minute} {
		b := NewBudget(0, 0)
		take(t, b)
		if got := b.done(1, http.StatusTooManyRequests, http.Header{"Retry-After": {strconv.Itoa(said)}}); got != want {
			t.Errorf("Retry-After: %d makes a pause of %v, want %v", said, got, want)
		}
	}
}

// TestBudgetCountsWaits: however requests wait, for the quota or for others in flight, and
// whether or not they are called off.
func TestBudgetCountsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1, time.Minute)
		must.Do(t, b.take(t.Context(), manySlots(), untold))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_ = b.take(ctx, manySlots(), untold) // in flight
		if got := b.State().Waited; got != 5*time.Second {
			t.Errorf("waited %v", got)
		}
		b.done(1, 200, nil)
		var all sync.WaitGroup
		all.Go(func() {
			if err := b.take(t.Context(), manySlots(), untold); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if got := b.State().Waited; got != 65*time.Second {
			t.Errorf("waited %v", got)
		}
	})
}

// done ends a request of the budget's own class.
func (b *Budget) done(sent, status int, header http.Header) time.Duration {
	return b.end(b.Class(), sent, status, header)
}
