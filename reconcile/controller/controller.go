// Package controller is the daemon: it puts the parts together and does none of their
// work.
//
//	source ──proposes──▶ control ──decides──▶ queue ──▶ workers ──▶ outcomes ──▶ reports
//
// The source runs in a goroutine of its own. Each credential has a lane of its own: a
// queue, workers that take one zone at a time from it, and what it may send (lanes.go).
// Control, outcomes and reports are shared by all lanes. The tokens are the one item of a queue of their own, and a tick asks control
// what time and people have brought. None of them waits for another: a git server that
// hangs, a zone that never answers or a commit of ten thousand zones costs the rest
// nothing.
//
// A zone's way is in zones.go, the tokens' in tokens.go, a commit's in commits.go; what
// is reported of them in reports.go.
package controller

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
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

// Config is what a [Controller] is made from. Source, Lanes and Records are required.
type Config struct {
	Source  *source.Source
	Good    reconcile.GoodCommit // keeps the accepted commit in the store of git; nil: nothing does
	Records control.Records
	Guards  reconcile.Guards

	Lanes  reconcile.Lanes  // one for each credential
	Tokens TokenWork        // nil: tokens are not read
	Names  *directory.Names // finds the ids of zones; nil: all must be declared

	// Sweep says how often each zone is read without a reason; nil never. Interval is the
	// shortest between two sweeps; zero is not known.
	Sweep    cron.Schedule
	Interval time.Duration
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
	Unkept() map[diff.ID]string
	CheckSink(s desired.Sink) error
}

// Controller runs the parts. Make it with [New].
type Controller struct {
	Config
	control   *control.Control
	lanes     *lanes
	tokens    *queue.Queue[struct{}]
	names     *names
	sweep     *turns
	retries   *retries
	seen      *seen.Cache
	tokenLoop *tokenLoop
	reports   *reports
	outcomes  *outcomes
	// publishing is held while a commit comes into force, until the queue has all of it.
	publishing sync.Mutex
	save       chan *control.Generation // declarations to be put on record; the newest counts
	stateTries stateTries               // of tick alone
}

// New puts the parts together. It reads what is on record.
func New(ctx context.Context, config Config) (*Controller, error) {
	config = config.withDefaults()
	c := &Controller{
		Config: config, sweep: &turns{schedule: config.Sweep}, outcomes: newOutcomes(time.Now()), save: make(chan *control.Generation, 1),
	}
	c.tokens = queue.New(queue.Config[struct{}]{Workers: 1})
	c.reports = newReports(c)
	c.names = &names{Names: config.Names, c: c, poked: make(chan struct{}, 1)}
	c.retries, c.seen = newRetries(), &seen.Cache{}
	c.lanes = &lanes{of: config.Lanes}
	for _, of := range config.Lanes.All {
		c.lanes.all = append(c.lanes.all, c.newLane(of))
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
		Records: config.Records, Guards: config.Guards, Now: time.Now, Log: config.Log, Foresee: c.lanes.foresee,
		Ruleset:   c.lanes.ruleset,
		CheckSink: config.checkSink(), DriftFor: config.Interval, Within: config.Lanes.Within,
	})
	c.tokenLoop.control = c.control
	for _, lane := range c.lanes.all {
		lane.work.control, lane.work.worker.Gate = c.control, c.control
	}
	if state, ok := c.control.InForce(); ok && err == nil {
		err = config.Lanes.Check(state)
	}
	return c, err
}

// newLane makes the work with one credential. What is known of zones is shared with the
// others, and what is known of the platform is not.
func (c *Controller) newLane(of reconcile.Lane) *lane {
	if of.Room == nil {
		of.Room = func(edge.Class, int) int { return 1 << 20 }
	}
	if of.Pause == nil {
		of.Pause = func() time.Duration { return 0 }
	}
	of.Credential = cmp.Or(of.Credential, outage.CredentialZones)
	l := &lane{Lane: of, outages: c.Outages}
	if len(c.Lanes.All) > 1 {
		l.outages = c.Outages.Lane(of.Name, of.Credential)
	}
	l.admission = &admission{
		budget: of.Budget, room: of.Room, sweep: c.sweep, shares: &shares{budget: of.Budget}, breaker: newBreaker(2 * of.AtOnce()),
	}
	l.queue = queue.New(queue.Config[edge.Scope]{Workers: of.AtOnce(), Admit: l.admission.admit})
	accounts := zone.NewAccounts(of.Reader, time.Now)
	accounts.Documented, accounts.Urgent = c.Guards.Documented, true
	l.work = &zoneWork{
		lane: l, lanes: c.lanes, sweep: c.sweep, retries: c.retries, seen: c.seen, reports: c.reports, outcomes: c.outcomes,
		worker: &zone.Worker{Reader: of.Reader, Writer: of.Writer, Accounts: accounts, Indexes: &diff.Indexes{}, Names: c.Names, Now: time.Now},
	}
	return l
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
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
	for _, lane := range c.lanes.all {
		for range lane.AtOnce() {
			all.Go(func() { lane.work.run(ctx) })
		}
	}
	all.Wait()
	lingering, cancel := reconcile.Lingering(ctx)
	defer cancel()
	c.recordSwept(lingering)
}
