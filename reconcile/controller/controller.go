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
// is reported of them in reports.go.
package controller

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/deployment"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
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
	Tokens TokenWork        // nil: tokens are not read
	Names  *directory.Names // finds the ids of zones; nil: all must be declared

	// Concurrency bounds how many zones are worked on at once; zero is 16.
	Concurrency int
	// Sweep says how often each zone is read without a reason; nil never.
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
	Begin        func(commit string) // told of each commit that is accepted; must return at once
	Look         <-chan os.Signal    // asks for a look at every zone now
	Telling
}

// Telling is where a [Controller] tells what happens, beside its reports.
type Telling struct {
	Log     *slog.Logger    // nil discards
	Outages *outage.Tracker // notes what fails, and what does not; nil: one that no one reads
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
	control   *control.Control
	zones     *queue.Queue[edge.ZoneID]
	tokens    *queue.Queue[struct{}]
	names     *names
	sweep     *turns
	admission *admission
	zoneWork  *zoneWork
	tokenLoop *tokenLoop
	reports   *reports
	outcomes  *outcomes
	// deciding is held while a commit comes into force, until the queue has all of it.
	deciding sync.Mutex
	save     chan *control.Generation // declarations to be put on record; the newest counts
}

// New puts the parts together. It reads what is on record.
func New(ctx context.Context, config Config) (*Controller, error) {
	config = config.withDefaults()
	c := &Controller{
		Config: config, sweep: &turns{schedule: config.Sweep}, outcomes: newOutcomes(time.Now()), save: make(chan *control.Generation, 1),
	}
	c.admission = &admission{
		budget: config.Budget, room: config.Room, sweep: c.sweep, outcomes: c.outcomes,
		shares: &shares{budget: config.Budget}, breaker: newBreaker(2 * config.Concurrency),
	}
	c.zones = queue.New(queue.Config[edge.ZoneID]{Workers: config.Concurrency, Admit: c.admission.admit})
	c.tokens = queue.New(queue.Config[struct{}]{Workers: 1})
	c.reports = newReports(c)
	c.names = &names{Names: config.Names, c: c, poked: make(chan struct{}, 1)}
	accounts := zone.NewAccounts(config.Reader, time.Now)
	accounts.Documented = config.Guards.Documented
	c.zoneWork = &zoneWork{
		worker: &zone.Worker{
			Reader: config.Reader, Writer: config.Writer, Accounts: accounts, Indexes: &deployment.Indexes{}, Names: config.Names, Now: time.Now,
		},
		seen: &seen.Cache{}, queue: c.zones, sweep: c.sweep, admission: c.admission, retries: newRetries(),
		reports: c.reports, outcomes: c.outcomes, outages: config.Outages,
	}
	c.tokenLoop = &tokenLoop{
		work: config.Tokens, queue: c.tokens, sweep: c.sweep, reports: c.reports, outcomes: c.outcomes, outages: config.Outages,
		deprecations: config.Deprecations,
	}
	err := c.Names.Recall(ctx)
	if err != nil {
		return c, err
	}
	c.control, err = control.New(ctx, control.Config{
		Records: config.Records, Guards: config.Guards, Now: time.Now, Log: config.Log, Foresee: c.zoneWork.foresee,
		CheckSink: config.checkSink(), DriftFor: config.Interval,
	})
	c.zoneWork.control, c.zoneWork.worker.Gate, c.tokenLoop.control = c.control, c.control, c.control
	return c, err
}

func (c Config) withDefaults() Config {
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
		c.Outages = outage.New(outage.Config{Now: time.Now})
	}
	if c.Names == nil {
		c.Names = directory.New(directory.Config{Now: time.Now})
	}
	if c.Begin == nil {
		c.Begin = func(string) {}
	}
	if c.Deprecations == nil {
		c.Deprecations = func(desired.State, time.Time) []deprecation.Notice { return nil }
	}
	return c
}

func (c Config) checkSink() func(desired.Sink) error {
	if c.Tokens == nil {
		return nil
	}
	return c.Tokens.CheckSink
}

// InForce returns the state in force, false while there is none. It must not be
// changed.
func (c *Controller) InForce() (desired.State, bool) { return c.control.InForce() }

// Run works until ctx ends. A write that was sent is finished and proved first.
func (c *Controller) Run(ctx context.Context) {
	c.begin(ctx)
	var all sync.WaitGroup
	for _, part := range []func(context.Context){c.follow, c.tick, c.keepStates, c.lookNow, c.tokenLoop.run, c.names.run} {
		all.Go(func() { part(ctx) })
	}
	for range c.Concurrency {
		all.Go(func() { c.zoneWork.run(ctx) })
	}
	all.Wait()
	lingering, cancel := reconcile.Lingering(ctx, grace)
	defer cancel()
	c.recordSwept(lingering)
}
