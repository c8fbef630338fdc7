package client

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// after is a handler that takes its time.
func after(d time.Duration, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
			h(w, r)
		case <-r.Context().Done():
		}
	}
}

// However a platform fails to answer, a read takes ReadTimeout at most.
func TestReadEndsInTime(t *testing.T) {
	for name, test := range map[string]struct {
		handler  http.HandlerFunc
		timeout  time.Duration
		attempts int
		want     []string
	}{
		"no answer":               {stall, 0, 1, []string{"no answer from 127.0.0.1:8700 within 10s"}},
		"another bound":           {stall, 3 * time.Second, 1, []string{"no answer from 127.0.0.1:8700 within 3s"}},
		"slow failures":           {after(3*time.Second, answer(503, "")), 0, 3, []string{"within 10s (tried 3 times; before: 503 Service Unavailable)"}},
		"in a pause between them": {after(time.Second, answer(409, "busy")), 5300 * time.Millisecond, 3, []string{"within 5.3s (tried 3 times; before: 409 Conflict"}},
		"time for several":        {stall, 45 * time.Second, 3, []string{"within 45s (tried 3 times; before: "}}, // each request ends by itself
		"half an answer": {func(w http.ResponseWriter, r *http.Request) {
			answer(200, entryJSON[:40])(w, r)
			w.(http.Flusher).Flush()
			stall(w, r)
		}, 0, 1, []string{"within 10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, test.handler)
				c := s.client(t, func(config *Config) { config.ReadTimeout = test.timeout })
				want, begin := 10*time.Second, time.Now()
				if test.timeout > 0 {
					want = test.timeout
				}
				err := get(c)
				if took := time.Since(begin); took != want {
					t.Errorf("took %v, want %v", took, want)
				}
				if !errors.Is(err, edge.ErrUnavailable) || errors.Is(err, edge.ErrUnreadable) {
					t.Errorf("got %v", err)
				}
				wantText(t, err, append(test.want, "GET /zones/")...)
				if n := len(s.arrivals()); n != test.attempts || c.Requests() != int64(n) {
					t.Errorf("%d requests arrived, %d were counted, want %d", n, c.Requests(), test.attempts)
				}
				synctest.Wait()
				if state := c.config.Budget.State(); state.Used != test.attempts {
					t.Errorf("the budget counts %d", state.Used)
				}
			})
		})
	}
}

// An answer that comes in time is taken, however long it was in doubt.
func TestReadSucceedsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(after(4*time.Second, answer(503, "")), after(4*time.Second, answer(200, entryJSON))))
		check(t, get(s.client(t, nil)))
	})
}

// What makes an attempt wait before it is sent is not the platform's doing, and
// does not count.
func TestReadDoesNotCountWaiting(t *testing.T) {
	failOnce := func() http.HandlerFunc { return inTurn(answer(502, ""), answer(200, entryJSON)) }
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		config  func(*Config)
		least   time.Duration
	}{
		"for the first attempt": {answer(200, entryJSON), func(c *Config) {
			c.Budget = NewBudget(1, time.Minute)
			must.Do(t, c.Budget.take(t.Context(), manySlots(), untold))
			c.Budget.done(1, 200, nil)
		}, time.Minute},
		"for the budget": {failOnce(), func(c *Config) { c.Budget = NewBudget(1, time.Minute) }, time.Minute},
		"for a pause of the credential": {
			inTurn(answer(429, "", "Retry-After", "60"), answer(429, "", "Retry-After", "60"), answer(200, entryJSON)), nil, 2 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, begin := serve(t, test.handler).client(t, test.config), time.Now()
				check(t, get(c))
				if took := time.Since(begin); took < test.least {
					t.Errorf("took %v, want %v at least", took, test.least)
				}
			})
		})
	}
	t.Run("for its turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fail := failOnce()
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					fail(w, r)
					return
				}
				after(15*time.Second, answer(200, entryJSON))(w, r)
			}).client(t, func(config *Config) { config.Concurrency = 1 })
			begin, done := time.Now(), make(chan error)
			go func() { done <- get(c) }()
			synctest.Wait() // the read has failed, and is to be repeated
			check(t, patch(c))
			check(t, <-done)
			if took := time.Since(begin); took < 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	})
}

// A wait does not give a read more time than it had: what it used before counts.
func TestReadKeepsWhatItUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(after(6*time.Second, answer(429, "", "Retry-After", "60")), stall))
		c, begin := s.client(t, nil), time.Now()
		err := get(c)
		if took := time.Since(begin); took != 70*time.Second {
			t.Errorf("took %v, want 6 s, a pause of 60 s, and 4 s", took)
		}
		wantText(t, err, "within 10s", "before: 429 Too Many Requests")
	})
}

// A write has time of its own for each attempt.
func TestWriteHasItsOwnTime(t *testing.T) {
	for class, send := range map[class]func(*Client) error{update: patch, remove: del, create: post} {
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, after(19*time.Second, answer(200, tokenJSON))).client(t, nil)
				check(t, send(c))
				c, begin := serve(t, stall).client(t, nil), time.Now()
				err := send(c)
				if took := time.Since(begin); took != 20*time.Second || !errors.Is(err, edge.ErrOutcomeUnknown) {
					t.Errorf("after %v: %v", took, err)
				}
				wantText(t, err, "no answer from 127.0.0.1:8700 within 20s")
			})
		})
	}
}
