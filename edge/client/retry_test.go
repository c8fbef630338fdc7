package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// happening is how a server brings an outcome about, and what the classes of
// requests must make of it. A creation is sent once, whatever happens; a removal,
// a roll and a trial are sent as often as an update.
type happening struct {
	handler  http.HandlerFunc // nil: nobody listens
	sentinel error
	reads    int // attempts when it happens every time
	updates  int
	unknown  bool // the outcome of an update or a removal is then unknown
	orphan   bool // that of a creation or a roll is
	succeeds bool
}

var happenings = map[outcome][]happening{
	succeeded: {
		{handler: answerAll, reads: 1, updates: 1, succeeds: true},
	},
	throttled: {
		{handler: answer(429, failure(971, "slow down"), "Retry-After", "3"), sentinel: edge.ErrThrottled, reads: 5, updates: 5},
		{handler: answer(429, "slow down"), sentinel: edge.ErrThrottled, reads: 5, updates: 5},
	},
	conflicted: {
		{handler: answer(409, failure(0, "a write is under way")), reads: 5, updates: 5},
		{handler: answer(409, "Conflict"), reads: 5, updates: 5},
		{handler: answer(409, "Con", "Content-Length", "9"), reads: 5, updates: 5},
	},
	notSent: {
		{handler: nil, sentinel: edge.ErrUnavailable, reads: 5, updates: 5},
	},
	cut: {
		{handler: hangUp, sentinel: edge.ErrUnavailable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: stall, sentinel: edge.ErrUnavailable, reads: 1, // its time is over then; see deadline_test.go
			updates: 1, unknown: true, orphan: true},
	},
	failed: {
		{handler: answer(500, failure(0, "sorry")), sentinel: edge.ErrUnavailable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(502, "<html><title>Bad gateway</title>"), sentinel: edge.ErrUnavailable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(503, "half", "Content-Length", "9"), sentinel: edge.ErrUnavailable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(503, "", "Retry-After", "3"), sentinel: edge.ErrUnavailable, reads: 5, updates: 1, unknown: true, orphan: true},
	},
	garbled: {
		{handler: answer(200, entryJSON[:40]), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(200, entryJSON[:40], "Content-Length", "200"), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(200, "<html>Sign in</html>"), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(206, entryJSON), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(200, strings.Replace(entryJSON, "{", `{"success":false,`, 1)), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(200, strings.Replace(entryJSON, "{", "{\"\xff\":1,", 1)), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true, orphan: true},
		{handler: answer(303, "", "Location", "http://elsewhere.example/"), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true, orphan: true},
	},
	mumbled: {
		{handler: answer(404, failure(10003, "no")[:30], "Content-Length", "90"), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true},
		{handler: answer(400, "", "Content-Length", "90"), sentinel: edge.ErrUnreadable, reads: 5, updates: 1, unknown: true},
	},
	contradicted: {
		{handler: answer(200, failure(20106, "parameters")), reads: 5, updates: 1, orphan: true},
	},
	redirected: {
		{handler: answer(301, "", "Location", "http://elsewhere.example/"), sentinel: edge.ErrUnreadable, reads: 1, updates: 1},
	},
	refused: {
		{handler: answer(400, failure(20125, "blank")), sentinel: edge.ErrInvalid, reads: 1, updates: 1},
		{handler: answer(401, failure(1000, "who?")), sentinel: edge.ErrUnauthenticated, reads: 1, updates: 1},
		{handler: answer(403, failure(9109, "no")), sentinel: edge.ErrForbidden, reads: 1, updates: 1},
		{handler: answer(403, failure(10000, "Authentication error")), sentinel: edge.ErrForbidden, reads: 1, updates: 1},
		{handler: answer(404, failure(10003, "none")), sentinel: edge.ErrEntryPointNotFound, reads: 1, updates: 1},
		{handler: answer(405, ""), sentinel: edge.ErrNotOffered, reads: 1, updates: 1},
		{handler: answer(501, ""), sentinel: edge.ErrNotOffered, reads: 1, updates: 1},
	},
}

// stall reads the request and never answers.
func stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

var senders = map[class]func(*Client) error{read: get, update: patch, remove: del, create: post, roll: rollToken, trial: try}

// Every cell of the table in retry.go, as a server brings it about.
func TestRetryTable(t *testing.T) {
	for o, classes := range verdicts {
		if o == withheld { // not what a server brings about; see TestWritesTell
			for _, class := range []class{create, update, remove, roll} {
				if classes[class] != final {
					t.Errorf("a %s that is withheld is %q", class, classes[class])
				}
			}
			continue
		}
		if len(happenings[o]) == 0 || len(classes) != len(senders) {
			t.Errorf("outcome %q is not tested for all classes", o)
		}
		for i, h := range happenings[o] {
			for class := range senders {
				t.Run(fmt.Sprintf("%s %d %s", o, i, class), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { h.check(t, class) })
				})
			}
		}
	}
}

func (h happening) check(t *testing.T, cl class) {
	s := serve(t, h.handler)
	s.refuse = h.handler == nil
	c := s.client(t, nil)
	attempts := map[class]int{read: h.reads, update: h.updates, remove: h.updates, create: 1, roll: h.updates, trial: h.updates}[cl]
	err := senders[cl](c)
	if got := s.attempts(); got != attempts {
		t.Errorf("%d attempts, want %d", got, attempts)
	}
	if sent := int64(len(s.arrivals())); c.Requests() != sent || c.config.Budget.State().Used != int(sent) {
		t.Errorf("counted %d requests, the budget %d, want %d", c.Requests(), c.config.Budget.State().Used, sent)
	}
	if h.sentinel != nil && !errors.Is(err, h.sentinel) {
		t.Errorf("got %v, want %v", err, h.sentinel)
	}
	if h.succeeds != (err == nil) {
		t.Errorf("got %v", err)
	}
	if got, want := errors.Is(err, edge.ErrOutcomeUnknown), h.unknown && (cl == update || cl == remove) || h.orphan && (cl == create || cl == roll); got != want {
		t.Errorf("outcome unknown: %v, want %v: %v", got, want, err)
	}
	if attempts > 1 {
		wantText(t, err, "(tried 5 times)")
	}
}

// attempts counts dials where nobody listens, requests otherwise.
func (s *server) attempts() int {
	if s.refuse {
		return s.dials
	}
	return len(s.arrivals())
}

// What passes is waited for, a little longer each time.
func TestReadRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(502, ""), answer(200, `{"success":tr`), answer(200, failure(0, "not now")), answer(200, entryJSON)))
		c := s.client(t, nil)
		begin := time.Now()
		must.Do(t, get(c))
		seen := s.arrivals()
		for i, pause := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
			got := seen[i+1].at.Sub(seen[i].at)
			if got < pause*3/4 || got > pause*5/4 {
				t.Errorf("pause %d was %v, want about %v", i+1, got, pause)
			}
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestUpdateRecoversFromThrottling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(429, "", "Retry-After", "30"), answer(200, "")))
		begin := time.Now()
		must.Do(t, patch(s.client(t, nil)))
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("took %v, want the 30 s of Retry-After", took)
		}
	})
}

// A 409 holds back the call that got it, and no other one.
func TestConflictHoldsBackOneCall(t *testing.T) {
	for name, send := range map[string]func(*Client) error{"read": get, "update": patch} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, inTurn(answer(409, failure(0, "a write is under way")), answer(200, entryJSON)))
				c, begin := s.client(t, nil), time.Now()
				done := make(chan error)
				go func() { done <- send(c) }()
				synctest.Wait()
				if state := c.config.Budget.State(); state.Pause != 0 {
					t.Errorf("the budget pauses for %v", state.Pause)
				}
				if err := get(c); err != nil || time.Since(begin) != 0 {
					t.Errorf("another call took %v: %v", time.Since(begin), err)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
				if took := time.Since(begin); took < 375*time.Millisecond || took > 625*time.Millisecond {
					t.Errorf("took %v, want one ordinary pause", took)
				}
			})
		})
	}
}

// The transport repeats a read by itself when a kept connection turns out to be
// closed. The platform counts that request, and so do we.
func TestRequestsCountsTheTransportsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, inTurn(answer(200, entryJSON), hangUp, answer(200, entryJSON)))
		c := s.client(t, nil)
		for range 2 {
			must.Do(t, get(c))
		}
		if seen := len(s.arrivals()); seen != 3 || c.Requests() != 3 || c.config.Budget.State().Used != 3 {
			t.Errorf("%d requests arrived, the client counted %d, the budget %d, want 3",
				seen, c.Requests(), c.config.Budget.State().Used)
		}
	})
}

func TestContext(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{"in flight": stall, "between attempts": answer(502, ""), "throttled": answer(429, "")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := serve(t, handler).client(t, nil)
				ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
				defer cancel()
				_, err := c.EntryPoint(ctx, testZone, edge.PhaseFirewallManaged)
				if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, edge.ErrUnavailable) {
					t.Errorf("got %v", err)
				}
				wantText(t, err, "GET /zones/")
			})
		})
	}
}

// An update that was on its way when the context ended may have taken effect.
func TestCanceledUpdateIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, stall).client(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := c.Send(ctx, edge.UpdateRule(testZone, testEntry, testRule, edge.Rule{}))
		if !errors.Is(err, context.Canceled) || !errors.Is(err, edge.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
	})
}

func TestConcurrencyIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inFlight, most atomic.Int64
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			now := inFlight.Add(1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			time.Sleep(time.Second)
			inFlight.Add(-1)
			answer(200, entryJSON)(w, r)
		})
		c := s.client(t, func(config *Config) { config.Concurrency = 3 })
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { check(t, get(c)) })
		}
		wg.Wait()
		if most.Load() != 3 || len(s.arrivals()) != 10 {
			t.Errorf("up to %d of %d requests in flight, want 3 of 10", most.Load(), len(s.arrivals()))
		}
	})
}

// TestFailedIsTold: of each try that failed, by what it failed with, and of none that was
// called off.
func TestFailedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []error
		count := func(config *Config) { config.Failed = func(err error) { told = append(told, err) } }
		s := serve(t, inTurn(answer(502, ""), answer(200, `{"success":tr`), answer(404, failure(10003, "none"))))
		if err := get(s.client(t, count)); !errors.Is(err, edge.ErrEntryPointNotFound) {
			t.Fatal(err)
		}
		for i, want := range []error{edge.ErrUnavailable, edge.ErrUnreadable, edge.ErrEntryPointNotFound} {
			if len(told) != 3 || !errors.Is(told[i], want) {
				t.Fatalf("told %v", told)
			}
		}

		told = nil
		c := serve(t, stall).client(t, count)
		if err := get(c); !errors.Is(err, edge.ErrUnavailable) || len(told) != 1 || !errors.Is(told[0], edge.ErrUnavailable) {
			t.Errorf("%v: told %v", err, told)
		}
		told = nil
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.EntryPoint(ctx, testZone, edge.PhaseFirewallManaged); err == nil || len(told) != 0 {
			t.Errorf("%v: told %v", err, told)
		}
	})
}
