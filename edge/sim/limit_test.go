package sim_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

// testClock is a clock that a test moves.
type testClock struct{ offset atomic.Int64 }

func (c *testClock) now() time.Time {
	return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.offset.Load()))
}

func (c *testClock) advance(d time.Duration) { c.offset.Add(int64(d)) }

func wantLimit(t *testing.T, got reply, status int, limit, retryAfter string) {
	t.Helper()
	if got.status != status || got.header.Get("Ratelimit") != limit || got.header.Get("Retry-After") != retryAfter {
		t.Errorf("%d, Ratelimit %s, Retry-After %s; want %d, %s, %s",
			got.status, got.header.Get("Ratelimit"), got.header.Get("Retry-After"), status, limit, retryAfter)
	}
}

func TestRateLimit(t *testing.T) {
	var clock testClock
	r := start(t, sim.Config{Now: clock.now, RateLimit: sim.RateLimit{Requests: 2, Per: time.Minute}})
	ask := func() reply { return call(t, r, "GET", shopPath, "") }

	first := ask()
	wantLimit(t, first, 200, `"default";r=1;t=60`, "")
	if policy := first.header.Get("Ratelimit-Policy"); policy != `"default";q=2;w=60` {
		t.Errorf("Ratelimit-Policy %s", policy)
	}
	clock.advance(30 * time.Second)
	wantLimit(t, ask(), 200, `"default";r=0;t=30`, "")
	wantLimit(t, ask(), 429, `"default";r=0;t=60`, "60") // from now on for a whole window
	other, err := send(t, "GET", r.BaseURL+shopPath, "", "Authorization: Bearer "+r.TokensToken.Reveal())
	must.Do(t, err)
	wantLimit(t, other, 200, `"default";r=1;t=60`, "") // another credential has a budget of its own
	clock.advance(59500 * time.Millisecond)
	wantLimit(t, ask(), 429, `"default";r=0;t=1`, "1")
	clock.advance(500 * time.Millisecond)
	wantLimit(t, ask(), 200, `"default";r=1;t=60`, "")
}

func TestRateLimitHeadersOnFailuresToo(t *testing.T) {
	var clock testClock
	r := start(t, sim.Config{Now: clock.now})
	wantLimit(t, call(t, r, "GET", newPath, ""), 404, `"default";r=1199;t=300`, "")
	stranger, err := send(t, "GET", r.BaseURL+shopPath, "")
	must.Do(t, err)
	wantLimit(t, stranger, 400, `"default";r=1199;t=300`, "")
}

func TestRateLimitOff(t *testing.T) {
	r := start(t, sim.Config{RateLimit: sim.RateLimit{Requests: 1, Off: true}})
	for range 3 {
		wantLimit(t, call(t, r, "GET", shopPath, ""), 200, "", "")
	}
}

func TestRateLimitIsSet(t *testing.T) {
	r := start(t, sim.Config{RateLimit: sim.RateLimit{Requests: 1, Per: time.Minute}})
	wantStatuses(t, statuses(t, r, 2, "GET", shopPath, ""), 200, 429)
	r.SetRateLimit(sim.RateLimit{Requests: 2, Per: time.Minute})
	wantStatuses(t, statuses(t, r, 3, "GET", shopPath, ""), 200, 200, 429)
	r.SetRateLimit(sim.RateLimit{Off: true})
	wantStatuses(t, statuses(t, r, 3, "GET", shopPath, ""), 200, 200, 200)
}

func TestRateLimitWhenTheClockIsSetBack(t *testing.T) {
	var clock testClock
	r := start(t, sim.Config{Now: clock.now, RateLimit: sim.RateLimit{Requests: 1, Per: time.Minute}})
	wantStatuses(t, statuses(t, r, 2, "GET", shopPath, ""), 200, 429)
	clock.advance(-time.Hour)
	wantStatuses(t, statuses(t, r, 1, "GET", shopPath, ""), 200)
}
