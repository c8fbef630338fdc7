// Package status tells other programs how a daemon is: whether it lives, whether
// it can be relied on, and numbers to watch.
//
//	s := status.New(status.Config{Now: time.Now, Sweep: schedule, Version: version})
//	loop.Reporters = append(loop.Reporters, s)
//	err := status.Serve(ctx, listener, s.Handler())
//
// A [Status] is a [reconcile.Reporter], and asks the daemon how it is when it is asked
// itself. It serves, to GET and HEAD:
//
//	/healthz   200 while its parts make progress, else 503 and why; restart it then
//	/readyz    200 while what git says is looked after, else 503 and why, a reason a line
//	/metrics   numbers for Prometheus; docs/metrics.md lists them
//
// A commit that is held does not make a daemon unready: it goes on with the last
// good one, and a restart would mend nothing. What a number was not observed for
// yet has no number: before the first full run there is no count of zones,
// rather than a count of none.
package status

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Schedule says when the next tick comes after a time; the zero time means
// never, and never comes after never. It is what robfig/cron calls a Schedule.
type Schedule interface {
	Next(time.Time) time.Time
}

// Config is what a [Status] is made from.
type Config struct {
	Now     func() time.Time // required
	Sweep   Schedule         // nil: the sweep is never overdue, and no zone
	Sync    Schedule         // of looks at git; nil: none
	Version string           // of the program, for seawall_build_info
	// Look says how the daemon is; nil, and a status without a time, say nothing.
	Look   func() inspect.Status
	Bounds Bounds
}

// Status gathers what runs report. It is safe for concurrent use.
type Status struct {
	config  Config
	started time.Time
	metrics *metrics

	mu        sync.Mutex
	acted     bool      // a valid commit was acted on: the platform has answered, or nothing is declared
	lastSweep time.Time // the end of the last full run, zero before
	stuck     map[diff.ID]bool
}

var _ reconcile.Reporter = (*Status)(nil)

// New starts to watch; until the first full run, the sweep is counted from now.
func New(config Config) *Status {
	if config.Look == nil {
		config.Look = func() inspect.Status { return inspect.Status{} }
	}
	s := &Status{config: config, started: config.Now(), stuck: map[diff.ID]bool{}}
	s.metrics = newMetrics(config.Version, func() bool { return len(s.NotReady(config.Look())) == 0 }, config.Look)
	return s
}

// Report implements [reconcile.Reporter].
func (s *Status) Report(_ context.Context, r reconcile.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metrics.countRun(r)
	if !r.Slice && !r.Sum {
		s.metrics.showCommit(r)
	}
	s.metrics.showControl(r)
	complete := r.Full && r.Err == nil
	s.acted = s.acted || observed(r)
	if complete {
		s.lastSweep = r.Finished
		s.metrics.showSweep(r)
		clear(s.stuck)
	}
	s.followStuck(r)
	if !s.lastSweep.IsZero() {
		s.metrics.set(nonConvergent, float64(len(s.stuck)))
	}
}

// observed reports whether the platform has answered about something that is declared,
// or nothing is.
func observed(r reconcile.Report) bool {
	s := r.Plan.Summary
	return r.Err == nil && (r.Full && s.Zones == 0 || s.Zones > s.Unknown+s.Forbidden || s.Tokens > 0)
}

// followStuck keeps the deployments whose change the platform did not keep.
func (s *Status) followStuck(r reconcile.Report) {
	for _, settled := range r.Plan.Settled {
		delete(s.stuck, settled.ID)
	}
	for _, c := range r.Plan.Changes {
		if c.Refused != nil && c.Refused.Guard == diff.GuardNonConvergent {
			s.stuck[c.ID()] = true
		}
	}
	for _, result := range r.Results {
		switch result.Outcome {
		case reconcile.NonConvergent:
			s.stuck[result.Change.ID()] = true
		case reconcile.Converged:
			delete(s.stuck, result.Change.ID())
		default: // it says nothing about what the platform keeps
		}
	}
}

// NotReady returns the reasons why a daemon cannot be relied on that is as a look says,
// none if it can.
func (s *Status) NotReady(look inspect.Status) []string {
	if !look.Unread.IsZero() {
		return look.NotReady // nothing else is known yet
	}
	return append(s.unready(look), s.config.stale(look)...)
}

// Stuck returns why a daemon makes no progress, none if it does. A restart may help.
func (s *Status) Stuck() []string { return s.config.stuck(s.config.Look()) }

// unready returns those that reports tell of. After a start the commit in force may be that of the
// ledger. One of several replicas need not have read a zone: another may have had its turn.
func (s *Status) unready(look inspect.Status) []string {
	inForce, shared := look.Commit.InForce != "", look.Replicas != nil
	s.mu.Lock()
	defer s.mu.Unlock()
	reasons := []string{}
	switch {
	case s.acted, shared && inForce:
	case inForce:
		reasons = append(reasons, "no zone and no token was read since the start")
	default:
		reasons = append(reasons, "no valid commit was accepted yet")
	}
	if due := s.sweepDue(); !due.IsZero() && s.config.Now().After(due) && !shared {
		since := "no full run has ended since the start"
		if !s.lastSweep.IsZero() {
			since = "the last full run ended at " + instant(s.lastSweep)
		}
		reasons = append(reasons, fmt.Sprintf("the sweep is overdue since %s: %s", instant(due), since))
	}
	return reasons
}

// sweepDue is when a full run should have ended at the latest: one tick for it
// to begin, and the time up to the next for it to take.
func (s *Status) sweepDue() time.Time {
	if s.config.Sweep == nil {
		return time.Time{}
	}
	return s.config.Sweep.Next(s.config.Sweep.Next(latest(s.started, s.lastSweep)))
}

// Handler serves the three paths.
func (s *Status) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", probe(s.Stuck))
	mux.Handle("GET /readyz", probe(func() []string { return s.NotReady(s.config.Look()) }))
	mux.Handle("GET /metrics", s.metrics.handler())
	return mux
}

// probe answers 200, or 503 with the reasons against it.
func probe(against func() []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if reasons := against(); len(reasons) > 0 {
			answer(w, http.StatusServiceUnavailable, reasons...)
			return
		}
		answer(w, http.StatusOK, "ok")
	})
}

// answer writes lines of text that no one may keep.
func answer(w http.ResponseWriter, code int, lines ...string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	// A probe that hung up needs no answer.
	_, _ = fmt.Fprintln(w, strings.Join(lines, "\n"))
}
