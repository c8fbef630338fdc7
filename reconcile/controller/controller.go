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
// A commit's way is in commits.go, a zone's in zones.go, the tokens' in tokens.go; what is
// reported of them in reports.go; what they say when they are asked in status.go, why.go and
// fleet.go. A file knows only what stands below it: no part knows the controller.
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
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Config is what a [Controller] is made from. Source, Lanes and Records are required.
type Config struct {
	Source  *source.Source
	Good    reconcile.GoodCommit // keeps the accepted commit in the store of git; nil: nothing does
	First   *PushFirst           // nil: no one else asks whether a push is under way
	Records control.Records
	Guards  reconcile.Guards
	// Leases say which of the work is this process's own, while others do the rest over the same
	// records; nil: all of it is.
	Leases   reconcile.Leases
	onRecord bool // nothing is run: see [OnRecord]
	// News returns what a look at the records has shown a moment ago; false where they do not answer.
	// Nil: each tick reads them.
	News func() (reconcile.News, bool)
	// Replicas says which processes do what, for those who ask; nil, and nil of it: there is only this one.
	Replicas func() *inspect.Replicas

	Lanes  reconcile.Lanes  // one for each credential
	Tokens TokenWork        // nil: tokens are not read
	Names  *directory.Names // finds the ids of zones; nil: all must be declared

	// Sweep says how often each zone is read without a reason; nil never. Interval is the
	// shortest between two sweeps; zero is not known.
	Sweep    cron.Schedule
	Interval time.Duration
	// Tick is how often the ledger is asked what people and other processes have put there;
	// zero is once a second. A test of many days asks less often.
	Tick     time.Duration
	Requests reconcile.Requests // nil counts none

	Deprecations reconcile.Deprecations // nil says nothing
	Reporters    []reconcile.Reporter
	Begin        func(commit string) // told of each commit that is accepted; must return at once
	Look         <-chan os.Signal    // asks for a look at every zone now
	// Rulesets keeps the versions of managed rulesets; nil keeps none, and none is told of.
	Rulesets reconcile.RulesetMemory
	Telling
}

// Telling is where a [Controller] tells what happens, beside its reports.
type Telling struct {
	Log     *slog.Logger    // nil discards
	Outages *outage.Tracker // notes what fails, and what does not; nil: one that no one reads
	Changes *Changes        // notes what pages show otherwise than before; nil: one that no one reads
	// Published is told what a new version of a managed ruleset means; nil is not.
	Published func(radar.Report)
}

// Controller runs the parts. Make it with [New].
type Controller struct {
	parts
	commits   *commits
	ticks     *ticks
	nameLoop  *nameLoop
	zones     []*zoneWork // of each lane
	tokenLoop *tokenLoop
	rulesets  *rulesetLoop
	leaseLoop *leaseLoop
	asks      *asks
}

// New puts the parts together, each from those that it stands on. It reads what is on record.
func New(ctx context.Context, config Config) (*Controller, error) {
	config = config.withDefaults()
	if err := config.Names.Recall(ctx); err != nil {
		return nil, err
	}
	seen, sweep, retries := newLastSeen(config.Lanes, config.Names, config.Guards), &turns{schedule: config.Sweep}, newRetries()
	lanes := newLanes(config.Lanes, config.Leases, config.Guards.Looking, sweep, seen, config.Outages, config.First)
	proofs := &provedZones{changes: config.Changes}
	decisions, err := newControl(ctx, config, seen, lanes, proofs)
	if err != nil {
		return nil, err
	}
	fleet := &fleetIndex{control: decisions, lanes: lanes, changes: config.Changes, proofs: proofs}
	outcomes := newOutcomes(time.Now(), fleet)
	tokens := queue.New(queue.Config[struct{}]{Workers: 1})
	reports := &reports{
		to: config.Reporters, control: decisions, lanes: lanes, retries: retries, outages: config.Outages, interval: config.Interval, looking: config.Guards.Looking,
		requests: config.Requests, withTokens: config.Tokens != nil, zones: map[edge.Scope]found{},
	}
	c := &Controller{
		asks: newAsks(),
		parts: parts{
			control: decisions, source: config.Source, lanes: lanes, seen: seen, tokens: tokens, retries: retries, outcomes: outcomes, outages: config.Outages, fleet: fleet,
			leases: config.Leases, replicas: config.Replicas,
		},
		commits: &commits{
			source: config.Source, good: config.Good, accepted: config.Begin, control: decisions, names: config.Names, lanes: lanes, tokens: tokens,
			seen: seen, sweep: sweep, retries: retries, reports: reports, outcomes: outcomes, outages: config.Outages, log: config.Log,
			leases: config.Leases, save: make(chan *control.Generation, 1),
		},
		tokenLoop: &tokenLoop{
			work: config.Tokens, control: decisions, queue: tokens, sweep: sweep, reports: reports, outcomes: outcomes, outages: config.Outages,
			deprecations: config.Deprecations, requests: config.Requests, leases: config.Leases,
		},
	}
	c.nameLoop = &nameLoop{Names: config.Names, commits: c.commits, lanes: lanes, outcomes: outcomes}
	c.ticks = &ticks{
		control: decisions, commits: c.commits, records: config.Records, lanes: lanes, tokens: tokens, retries: retries, reports: reports,
		outages: config.Outages, every: cmp.Or(config.Tick, tickEvery), asked: config.Look, poked: reconcile.NewPokes(), began: outcomes.began, shown: &c.parts,
	}
	c.rulesets = &rulesetLoop{
		radar: reconcile.Radar{Memory: config.Rulesets, Log: config.Log, Told: config.Published}, control: decisions, reports: reports, lanes: lanes,
		poked: reconcile.NewPokes(), current: map[rulesetKey]rulesetRead{}, pending: map[rulesetKey]bool{},
	}
	c.leaseLoop = &leaseLoop{
		leases: config.Leases, control: decisions, commits: c.commits, lanes: lanes, tokens: tokens, records: config.Records, retries: retries,
		reports: reports, seen: seen, outcomes: outcomes, outages: config.Outages, rulesets: c.rulesets, kept: map[*lane]keptLooks{},
	}
	for _, lane := range lanes.all {
		c.zones = append(c.zones, c.newZoneWork(lane, config))
	}
	return c, nil
}

// newControl is what decides, with a lane for each account that is in force.
func newControl(ctx context.Context, config Config, seen *lastSeen, lanes *lanes, proofs *provedZones) (*control.Control, error) {
	decisions, err := control.New(ctx, control.Config{
		Records: config.Records, News: config.News, Guards: config.Guards, Now: time.Now, Log: config.Log, Foresee: seen.plan, Ruleset: seen.ruleset,
		CheckSink: config.checkSink(), DriftFor: config.Interval, Within: config.Lanes.Within, Told: proofs.note,
		Shared: config.onRecord || config.Leases != reconcile.Leases(reconcile.OnlyProcess{}),
		Theirs: lanes.elsewhere,
		Leads:  func() (reconcile.Lease, bool) { return config.Leases.Held(reconcile.LeaseCommits) },
	})
	if err != nil {
		return nil, err
	}
	if state, ok := decisions.InForce(); ok {
		err = config.Lanes.Check(state)
	}
	return decisions, err
}

// newZoneWork is the way of the zones of one lane, through the other parts.
func (c *Controller) newZoneWork(lane *lane, config Config) *zoneWork {
	return &zoneWork{
		lane: lane, lanes: c.lanes, control: c.control, commits: c.commits, seen: c.seen, sweep: c.commits.sweep, retries: c.retries,
		reports: c.commits.reports, outcomes: c.outcomes, rulesets: c.rulesets, asks: c.asks, looking: config.Guards.Looking,
		worker: &zone.Worker{
			Reader: lane.Reader, Writer: lane.Writer, Accounts: lane.accounts.Accounts, Indexes: lane.accounts.indexes, Names: config.Names, Looks: c.seen.looks,
			Gate: c.control, Now: time.Now,
		},
	}
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Outages == nil {
		c.Outages = outage.New(outage.Config{Now: time.Now})
	}
	if c.Changes == nil {
		c.Changes = NewChanges()
	}
	if c.Names == nil {
		c.Names = directory.New(directory.Config{Now: time.Now})
	}
	if c.Leases == nil {
		c.Leases = reconcile.OnlyProcess{}
	}
	if c.Replicas == nil {
		c.Replicas = func() *inspect.Replicas { return nil }
	}
	if c.First == nil {
		c.First = &PushFirst{}
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

// Leads reports whether this process looks at git, decides about commits and tells of what happens.
// It is asked anew each time: see [reconcile.Leases] for when that changes.
func (c *Controller) Leads() bool { return leads(c.leases) }

// Status says how the daemon is, as far as the controller knows: the caller adds the mode, what is
// left of the budget, and what /readyz says. It sends nothing, and costs a look
// at each zone in memory.
func (c *Controller) Status() inspect.Status { return c.view().status() }

// Zones says what is known of the zones that a word means: those declared by this name, or
// the one with this id. Where there are none, near is a name that may have been meant,
// empty for none.
func (c *Controller) Zones(word string) (list inspect.ZoneList, near string) {
	return c.view().named(word)
}

// OrderTokens has something done about tokens while no other work on them goes on; the tokens
// are looked at directly afterwards. do gets a context that ends with the controller, not with
// ctx. It returns when do has. Where that was not begun the error is [ErrNotBegun], or that of
// ctx.
func (c *Controller) OrderTokens(ctx context.Context, do func(ctx context.Context) error) error {
	return c.tokenLoop.order(ctx, do)
}

// RotateToken makes the successor of a token now, through the guards that one which is due
// passes, and returns what became of this token. begin has the first word: nothing is done
// where it fails, and the work has the context that it returns.
func (c *Controller) RotateToken(ctx context.Context, r Rotation, begin func(context.Context) (context.Context, error)) (reconcile.Report, error) {
	return c.tokenLoop.rotate(ctx, r, begin)
}

// Run works until ctx ends: on SIGTERM, and before a reload. No look is begun from then on. A
// write that was sent is finished and proved first (visit.change in reconcile/zone/write.go),
// what became of it is put on record (zoneWork.conclude), and how far the sweep has come is
// the last thing that is written. Each of these has [reconcile.Grace] to end.
func (c *Controller) Run(ctx context.Context) {
	c.commits.begin()
	c.leaseLoop.begin(ctx)
	var all sync.WaitGroup
	for _, part := range []func(context.Context){
		c.commits.follow, c.commits.keepStates, c.ticks.run, c.ticks.lookNow, c.tokenLoop.run, c.nameLoop.run, c.rulesets.run, c.leaseLoop.run,
	} {
		all.Go(func() { part(ctx) })
	}
	for _, work := range c.zones {
		for range work.places() {
			all.Go(func() { work.run(ctx) })
		}
	}
	all.Wait()
	lingering, cancel := reconcile.Lingering(ctx)
	defer cancel()
	c.ticks.recordSwept(lingering)
}
