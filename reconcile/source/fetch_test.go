package source

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

// server is git, and may be away in several ways.
type server struct {
	mu      sync.Mutex
	away    string // "": it answers
	head    string
	fetches int
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches
}

// idle is how long a fetch waits for a server that says nothing.
const idle = 10 * time.Second

func (s *server) set(away, head string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.head = away, head
}

// Fetch is answered as the server is when it begins: a connection that hangs hangs on when
// the server is well again.
func (s *server) Fetch(ctx context.Context) (string, error) {
	s.mu.Lock()
	s.fetches++
	away, head := s.away, s.head
	s.mu.Unlock()
	took := 50 * time.Millisecond
	switch away {
	case "hangs":
		took = idle
	case "stops":
		took = time.Hour
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(took):
	}
	if away != "" {
		return "", errors.New("git " + away)
	}
	return head, nil
}

func (s *server) Compile(_ context.Context, commit string) (desired.State, []desired.Problem, error) {
	return desired.State{Commit: commit}, nil, nil
}

// follow runs a source, and says when a commit was proposed.
func follow(ctx context.Context, s *Source) (proposed func(commit string) bool) {
	var mu sync.Mutex
	newest := ""
	go s.Run(ctx, func() string { mu.Lock(); defer mu.Unlock(); return newest }, func(bool) {}, func(_ context.Context, p reconcile.Proposal) {
		mu.Lock()
		defer mu.Unlock()
		if p.Err == nil {
			newest = p.Commit
		}
	}, func(desired.State) {})
	return func(commit string) bool { mu.Lock(); defer mu.Unlock(); return newest == commit }
}

// TestAPushAfterAnOutage: however git was away and for how long, a push is seen seconds
// after it is well again; after a connection that hung, as soon as that is given up. Someone
// who pokes has not to wait for that. Nor is git asked too often while it is away.
func TestAPushAfterAnOutage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"hangs", "refuses"}).Draw(rt, "kind")
		lasts := rapid.SampledFrom([]time.Duration{time.Millisecond, 4 * time.Second, 20 * time.Second, 5 * time.Minute, time.Hour}).Draw(rt, "lasts")
		lasts += time.Duration(rapid.IntRange(0, 60_000).Draw(rt, "more")) * time.Millisecond
		every := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(rt, "every")
		pokes := rapid.Bool().Draw(rt, "pokes")
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			git := &server{head: "c1"}
			s := New(Config{Source: git, Compiler: git, Schedule: cron.Every(every), Now: time.Now})
			proposed := follow(ctx, s)
			time.Sleep(3 * time.Second)
			git.set(kind, "c1")
			s.Poke()
			before := git.count()
			time.Sleep(lasts)
			if n, most := git.count()-before, int(lasts/(2*time.Second))+5; n > most {
				rt.Errorf("%d fetches in %s, more than %d", n, lasts, most)
			}
			git.set("", "c2")
			most := max(10*time.Second, min(every, time.Minute)) + idle + time.Second
			if every == time.Hour && s.Progress().Failures == 0 {
				most = every // it was away between two looks
			}
			if pokes {
				most = 5 * time.Second
				s.Poke()
			}
			began := time.Now()
			for !proposed("c2") {
				if time.Sleep(100 * time.Millisecond); time.Since(began) > time.Hour {
					break
				}
			}
			if took := time.Since(began); took > most {
				rt.Errorf("git %s for %s: the push was seen after %s, more than %s", kind, lasts, took, most)
			}
		})
	})
}

// TestOverdue: a look that goes on for several times as long as there is between two is overdue, and
// one that waits for its time is not.
func TestOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		git := &server{head: "c1"}
		s := New(Config{Source: git, Compiler: git, Schedule: cron.Every(time.Minute), Now: time.Now})
		follow(ctx, s)
		time.Sleep(59 * time.Second)
		git.set("stops", "c2")
		time.Sleep(3*time.Minute - time.Second)
		if began := s.Progress().Looking; began.IsZero() || s.Overdue(time.Now()) {
			t.Errorf("overdue already, or no look goes on: it began %s ago", time.Since(began))
		}
		if time.Sleep(5 * time.Second); !s.Overdue(time.Now()) {
			t.Error("a look that goes on for three minutes is not overdue")
		}
	})
}

// TestAFetchThatTakesLong is not ended again and again by those who poke, nor by the source
// itself: a server that has become slow, or a large commit, is waited for.
func TestAFetchThatTakesLong(t *testing.T) {
	for _, pokes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			git := &server{head: "c1"}
			slow := &slowServer{server: git}
			s := New(Config{Source: slow, Compiler: git, Schedule: cron.Every(time.Second), Now: time.Now})
			proposed := follow(ctx, s)
			time.Sleep(3 * time.Second)
			git.set("refuses", "")
			time.Sleep(5 * time.Second)
			slow.set(40 * time.Second)
			git.set("", "c2")
			for range 600 {
				if time.Sleep(time.Second); pokes {
					s.Poke()
				}
			}
			if !proposed("c2") {
				t.Errorf("pokes %v: the commit was never fetched", pokes)
			}
		})
	}
}

// slowServer takes some time before it answers.
type slowServer struct {
	*server
	mu    sync.Mutex
	takes time.Duration
}

func (s *slowServer) set(takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes = takes
}

func (s *slowServer) Fetch(ctx context.Context) (string, error) {
	s.mu.Lock()
	takes := s.takes
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(takes):
		return s.server.Fetch(ctx)
	}
}
