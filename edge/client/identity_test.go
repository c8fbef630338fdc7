package client

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/edge"
)

// Requests that are alike share a header. Each has the token and the comment of its own moment all the
// same, also where these come back, and nothing of a request with a body.
func TestEachRequestSaysWhoSendsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, entryJSON))
		var token, comment string
		c := s.client(t, func(config *Config) {
			config.Token = func() (edge.Secret, error) { return edge.NewSecret(token), nil }
			config.Comment = func(context.Context) string { return comment }
		})
		steps := []struct {
			token, comment string
			writes         bool
		}{{"first", "a", false}, {"first", "a", false}, {"first", "b", false}, {"second", "b", false}, {"third", "b", true}, {"second", "b", false}, {"first", "a", true}, {"first", "a", false}}
		for _, step := range steps {
			if token, comment = step.token, step.comment; step.writes {
				check(t, patch(c))
			} else {
				check(t, get(c))
			}
		}
		for i, seen := range s.arrivals() {
			step, body := steps[i], ""
			if step.writes {
				body = "application/json"
			}
			h := seen.header
			if h.Get("Authorization") != "Bearer "+step.token || h.Get("User-Agent") != "seawall ("+step.comment+")" || h.Get("Content-Type") != body || h.Get("Accept") != "application/json" {
				t.Errorf("request %d has the header %v, of %+v", i, h, step)
			}
		}
	})
}

// Goroutines share the header, also while the token and the comment change.
func TestRequestsAtOnceShareAHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, answer(200, entryJSON))
		var asked atomic.Int64
		c := s.client(t, func(config *Config) {
			config.Token = func() (edge.Secret, error) {
				return edge.NewSecret(fmt.Sprint("token-", asked.Add(1)%3)), nil
			}
			config.Comment = func(context.Context) string { return fmt.Sprint(asked.Load() % 2) }
		})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					check(t, get(c))
				}
			})
		}
		all.Wait()
		seen := s.arrivals()
		if len(seen) != 160 {
			t.Errorf("%d requests arrived", len(seen))
		}
		for _, one := range seen {
			if len(one.header["Authorization"]) != 1 || len(one.header["User-Agent"]) != 1 {
				t.Errorf("a request has the header %v", one.header)
			}
		}
	})
}
