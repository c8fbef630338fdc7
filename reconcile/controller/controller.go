// Package controller is the daemon: it puts the parts together and does none of their
// work.
//
//	source ──proposes──▶ control ──decides──▶ queue ──▶ workers ──▶ outcomes ──▶ reports
//
// The source runs in a goroutine of its own, each worker takes one zone at a time from
// the queue, the tokens are the one item of a queue of their own, and a tick asks control
// what time and people have brought. None of them waits for another: a git server that
// hangs, a zone that never answers or a commit of ten thousand zones costs the rest
// nothing.
//
// A zone's way is in zones.go, the tokens' in tokens.go, a commit's in commits.go; what
// is told of them in reports.go.
package controller

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/seen"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/token"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Config is what a [Controller] is made from. Source, Reader, Writer and Records are
// required.
type Config struct {
	Source  *source.Source
	Good    reconcile.GoodCommit // keeps the accepted commit in the store of git; nil: nothing does
	Records control.Records
	Guards  reconcile.Guards

	Reader edge.Reader
	Writer edge.Writer
	Tokens TokenWork // nil: tokens are not looked at

	// Concurrency bounds how many zones are worked on at once; zero is 16.
	Concurrency int
	// Sweep says how often each zone is looked at without a reason; nil never.
	Sweep cron.Schedule
	// Budget is what requests are held to, and Interval the shortest between two sweeps;
	// zero is not known. Room returns how many requests may be sent at once so that some
	// are kept; nil is as many as anyone likes.
	Budget   diff.Budget
	Interval time.Duration
	Room     func(keep int) int
	Requests func() int64 // HTTP requests sent so far; nil counts none

	Deprecations reconcile.Deprecations // nil says nothing
	Reporters    []reconcile.Reporter
	Outages      *outage.Tracker     // notes what fails, and what does not; nil: one that nobody reads
	Begin        func(commit string) // told of each commit that is accepted; must return at once
	Look         <-chan os.Signal    // asks for a look at every zone now
	Log          *slog.Logger        // nil discards
}

// TokenWork is the work on the tokens of a credential: a [*token.Worker], or a
// [token.Observer] that writes nothing.
type TokenWork interface {
	Work(ctx context.Context, scope token.Scope, guard token.Guard) token.Outcome
	Due(ctx context.Context, declared []desired.Token) (map[string]bool, error)
	Unkept() map[edge.TokenID]string
	CheckSink(s desired.Sink) error
}

// Controller runs the parts. Make it with [New].
type Controller struct {
	Config
	control  *control.Control
	worker   *zone.Worker
	seen     *seen.Cache
	zones    *queue.Queue[edge.ZoneID]
	tokens   *queue.Queue[struct{}]
	sweep    *turns
	shares   *shares
	retries  *retries
	breaker  *breaker
	reports  *reports
	outcomes *outcomes
	// deciding is held while a commit comes into force, until the queue has all of it.
	deciding sync.Mutex
	swept    atomic.Int64             // how many zones waited for their turn at the last tick
	asked    atomic.Int64             // Unix nanoseconds at which a look at every zone was asked for last
	save     chan *control.Generation // declarations to be put on record; the newest counts
}

// New puts the parts together. It reads what is on record.
func New(ctx context.Context, c Config) (*Controller, error) {
	if c.Concurrency <= 0 {
		c.Concurrency = 16
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Room == nil {
		c.Room = func(int) int { return 1 << 20 }
	}
	if c.Outages == nil {
		c.Outages = outage.New(outage.Config{})
	}
	if c.Begin == nil {
		c.Begin = func(string) {}
	}
	ctl := &Controller{
		Config: c, seen: &seen.Cache{}, sweep: &turns{schedule: c.Sweep}, shares: &shares{budget: c.Budget}, retries: newRetries(),
		breaker: newBreaker(2 * c.Concurrency), outcomes: newOutcomes(time.Now()), save: make(chan *control.Generation, 1),
	}
	ctl.worker = &zone.Worker{
		Reader: c.Reader, Writer: c.Writer, Accounts: zone.NewAccounts(c.Reader, time.Now), Indexes: &diff.Indexes{}, Now: time.Now,
	}
	ctl.zones = queue.New(queue.Config[edge.ZoneID]{Workers: c.Concurrency, Admit: ctl.admit})
	ctl.tokens = queue.New(queue.Config[struct{}]{Workers: 1})
	ctl.reports = newReports(ctl)
	var err error
	ctl.control, err = control.New(ctx, control.Config{
		Records: c.Records, Guards: c.Guards, Now: time.Now, Log: c.Log, Foresee: ctl.foresee, CheckSink: ctl.checkSink(),
		DriftFor: c.Interval,
	})
	ctl.worker.Gate = ctl.control
	return ctl, err
}

func (c *Controller) checkSink() func(desired.Sink) error {
	if c.Tokens == nil {
		return nil
	}
	return c.Tokens.CheckSink
}

// foresee plans a zone from what was last seen of it and of its account.
func (c *Controller) foresee(t zone.Task) (diff.Plan, bool) {
	entry, ok := c.seen.Get(t.Zone().ID)
	if !ok {
		return diff.Plan{}, false
	}
	s := zone.Sight{EntryPoint: entry.EntryPoint, At: entry.At}
	if s.Account, ok = c.worker.Accounts.Last(t.Account()); !ok {
		return diff.Plan{}, false
	}
	return zone.Plan(t, s, c.worker.Indexes), true
}

// InForce returns the state in force, false while there is none. It must not be
// changed.
func (c *Controller) InForce() (desired.State, bool) { return c.control.InForce() }

// Run works until ctx ends. A write that was sent is finished and proved first.
func (c *Controller) Run(ctx context.Context) {
	c.begin(ctx)
	var all sync.WaitGroup
	for _, part := range []func(context.Context){c.follow, c.tick, c.keepStates, c.lookNow, c.workTokens} {
		all.Go(func() { part(ctx) })
	}
	for range c.Concurrency {
		all.Go(func() { c.workZones(ctx) })
	}
	all.Wait()
	lingering, cancel := reconcile.Lingering(ctx, grace)
	defer cancel()
	c.recordSwept(lingering)
}
