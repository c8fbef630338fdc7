package client

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// Who waits for what other processes have used is told for about how long: until then nothing comes
// free, though it asks again much earlier.
func TestAWaitForOthersIsToldWithItsLength(t *testing.T) {
	for _, quota := range []int{40, 10} { // of the larger one, the last is kept for urgent requests
		synctest.Test(t, func(t *testing.T) {
			store, log := &memoryStore{}, bytes.Buffer{}
			other := shared(store, quota, 5*time.Minute)
			other.share.Class = edge.Question
			for range quota - quota/20*2 {
				take(t, other)
				other.done(1, 200, nil)
			}
			other.Close()
			time.Sleep(time.Minute)
			c := serve(t, answer(200, entryJSON)).client(t, func(config *Config) {
				config.Budget, config.Log = shared(store, quota, 5*time.Minute), slog.New(slog.NewTextHandler(&log, nil))
				config.Budget.share.Class = edge.Question
			})
			var sent sync.WaitGroup
			sent.Go(func() { must.Do(t, get(c)) })
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if got := log.String(); !strings.Contains(got, "waiting for it\" for=4m") || !strings.Contains(got, "--only zone=NAME") {
				t.Errorf("quota %d: told %s", quota, got)
			}
			if got := c.config.Budget.Forecast(); got.Left != 0 || got.Next < 225*time.Second || got.Next > 235*time.Second || got.Kept != (quota == 40) {
				t.Errorf("quota %d: forecast %+v", quota, got)
			}
			sent.Wait()
			c.config.Budget.Close()
		})
	}
}

// Who waits for the budget is told so, and not once a request.
func TestWaitingForTheBudgetIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c := serve(t, answer(200, entryJSON)).client(t, func(config *Config) {
			config.Budget = NewBudget(2, 30*time.Second)
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		for i := range 9 { // 2 at once, then 2 after each 30 s
			must.Do(t, get(c))
			if i == 1 && log.Len() > 0 {
				t.Errorf("told before anything waited: %s", &log)
			}
		}
		// Waits at 0, 30, 60 and 90 s; told at 0 and 60.
		if got := strings.Count(log.String(), "the request budget is used up"); got != 2 {
			t.Errorf("told %d times, want 2:\n%s", got, &log)
		}
	})
}

// A 429 is told once, however many requests were under way with it, and again
// only when it comes again.
func TestThrottlingIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		begin := time.Now()
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second) // so that all eight are under way
			if time.Since(begin) < 30*time.Second {
				answer(429, failure(edge.CodeThrottled, "slow down"), "Retry-After", "60")(w, r)
				return
			}
			answer(200, entryJSON)(w, r)
		}).client(t, func(config *Config) {
			config.Budget, config.Log = shared(&memoryStore{}, 40, 5*time.Minute), slog.New(slog.NewTextHandler(&log, nil))
		})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { check(t, get(c)) })
		}
		all.Go(func() {
			time.Sleep(30 * time.Second) // while the platform throttles
			check(t, get(c))
		})
		all.Wait()
		c.config.Budget.Close()
		if got := strings.Count(log.String(), "the platform throttles this credential"); got != 1 {
			t.Errorf("told %d times, want once:\n%s", got, &log)
		}
		if strings.Contains(log.String(), "is used up") || strings.Contains(log.String(), "is kept for") {
			t.Errorf("a pause that the platform asked for is told as a budget that is used up:\n%s", &log)
		}
		if took := time.Since(begin); took < time.Minute {
			t.Errorf("everything was sent after %v", took)
		}
	})
}

// A wait for other processes, while most of the budget is left, is none for a budget that is
// used up.
func TestUsedUpIsSaidOfTheBudgetAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := shared(&memoryStore{}, 6000, 5*time.Minute)
		take(t, b)
		b.done(1, 200, nil)
		for i := range b.share.purses { // as after a visit in which others came first
			b.share.purses[i].spare, b.share.purses[i].next = 0, time.Now().Add(time.Second)
		}
		if got := waits(b); got != moment {
			t.Errorf("waits for %v with %d left", got, b.share.free)
		}
		b.share.rooms = classCounts{}
		if got := waits(b); got != keptUp {
			t.Errorf("waits for %v where the rest is for other classes", got)
		}
		b.pause(time.Second, time.Now())
		if got := waits(b); got != asked {
			t.Errorf("waits for %v while the platform asked to wait", got)
		}
		b.Close()
	})
}
