// Package daemon is seawall run: the controller with its web server, socket, reviews of pull
// requests, lock and signals. A reload replaces one daemon by the next.
package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	gosync "sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/heap"
	"github.com/seawall-dev/seawall/cmd/seawall/internal/setup"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/worker/hugepages"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/notify"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/review"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// Serve runs daemons one after the other: each reload ends one and begins the
// next. serving is told the address of the page of the first; nil: no one is.
func Serve(ctx context.Context, t *cli.Terminal, o setup.Options, serving func(page string)) error {
	hugepages.Stop()
	heard := signals{make(chan os.Signal, 1), make(chan os.Signal, 1)}
	heard.notify()
	defer heard.stop()

	d, err := newDaemon(ctx, t, o, &manager{serving: serving}, nil)
	if err != nil && ctx.Err() != nil {
		return nil // it was told to end while it waited for its database
	}
	if err != nil {
		return err
	}
	bounded, stop := context.WithCancel(ctx)
	defer stop()
	heap.Follow(bounded, heap.ToStay)
	go d.manager.watchdog(bounded, d.log)
	manager, log := d.manager, d.log // d is another one after a reload, and none at the end
	context.AfterFunc(ctx, func() { manager.stopping(log) })
	for d != nil {
		if d, err = runUntilReload(ctx, t, d, o, heard); err != nil {
			return err
		}
	}
	return nil
}

// signals are those to a daemon that do not end it.
type signals struct{ reload, look chan os.Signal }

// Daemon is one generation of the service: a configuration and what it needs.
type Daemon struct {
	settings  setup.Settings
	assembly  *setup.Assembly
	log       *slog.Logger
	health    *status.Status
	sync      cron.Schedule
	sweep     cron.Schedule
	listener  net.Listener // nil until it listens
	reviews   *review.Service
	notices   *notify.Service // nil: no one is to be notified
	peers     *peers
	traces    *setup.Traces   // nil: none are made
	outages   *outage.Tracker // the same for each generation
	lock      *stateLock
	elsewhere provedElsewhere
	replica   *replica                              // the same for each generation with these leases; nil: this process is alone
	heart     atomic.Pointer[controller.Controller] // nil until it runs
	waits     *waiting                              // what it says of itself until then
	manager   *manager                              // the same for each generation
	sessions  *login.Sessions                       // the same for each generation
	login     *login.Guard                          // in front of the pages
	tls       *tls.Config                           // of listen; nil: without
	reverts   *reverts                              // the same for each generation
	changes   *controller.Changes                   // the same for each generation
	weakened  atomic.Pointer[[]inspect.Weakening]   // of the last days; nil: not read yet
}

// stateLock keeps other daemons away from a state folder.
type stateLock struct {
	dir     string
	release func()
}

// lockState takes the lock of the configured state folder, unless it is the one that
// is held already.
func lockState(s setup.Settings, held *stateLock) (*stateLock, error) {
	if s.Dir != "" {
		return &stateLock{release: func() {}}, nil
	}
	if held != nil && held.dir == s.StateDir {
		return held, nil
	}
	if err := setup.MakeStateDir(s.StateDir); err != nil {
		return nil, err
	}
	release, err := ledger.LockState(s.StateDir)
	if err != nil {
		return nil, err
	}
	return &stateLock{s.StateDir, release}, nil
}

// newDaemon puts a daemon together. before is the one whose lock and sessions it takes over; nil where
// there is none.
func newDaemon(ctx context.Context, t *cli.Terminal, o setup.Options, m *manager, before *Daemon) (_ *Daemon, err error) {
	s, err := setup.ReadSettings(t, o)
	if err != nil {
		return nil, err
	}
	fillForFolder(&s)
	d := &Daemon{manager: m, sessions: login.NewSessions(), reverts: newReverts(), changes: controller.NewChanges()}
	var held *stateLock
	if before != nil {
		held, d.sessions, d.reverts, d.changes, d.outages = before.lock, before.sessions, before.reverts, before.changes, before.outages
	}
	s.Failed = func(err error) { d.health.PlatformError(err) }
	log, err := d.newLog(t, o, s) //nolint:contextcheck // a collector is asked with the context of the daemon
	if err != nil {
		return nil, err
	}
	lock, err := lockState(s, held)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && lock != held {
			lock.release()
		}
	}()
	d.settings, d.log, d.lock = s, log, lock
	d.waits = newWaiting(s, d.shares())
	if before != nil {
		return d, d.begin(ctx, before.replica)
	}
	return d, d.insist(ctx, func() error {
		if err := d.awaitDatabase(ctx); err != nil {
			return err
		}
		return d.begin(ctx, nil)
	})
}

// begin makes what needs the ledger. joined is the replica that the daemon before was; nil: none.
func (d *Daemon) begin(ctx context.Context, joined *replica) error {
	a, err := setup.Assemble(ctx, d.settings, d.settings.Serving(), d.log)
	if err != nil {
		return err
	}
	d.assembly = a
	if d.replica, err = joinLeases(ctx, d.settings, a.Lanes, joined, d.changes.Note, d.log); err != nil {
		a.Close()
		return err
	}
	if err = d.settings.AgreeSeal(ctx, d.memory(), d.log); err != nil {
		if a.Close(); d.replica != joined {
			d.replica.leave()
		}
		return err
	}
	if d.replica != joined {
		d.replica.run(ctx)
	}
	if d.outages == nil {
		d.outages = outage.New(outage.Config{Now: time.Now, Tell: d.tellOutages()}) //nolint:contextcheck // the end of an outage is logged whatever has ended
	}
	if err = d.newParts(); err != nil { //nolint:contextcheck // a forge is asked with the context of each call
		if a.Close(); d.replica != joined {
			d.replica.leave()
		}
	}
	return err
}

// newLog makes the logger, and what sends traces: lines of work that has a span have its ids.
func (d *Daemon) newLog(t *cli.Terminal, o setup.Options, s setup.Settings) (*slog.Logger, error) {
	format, level := o.LogFormat, o.LogLevel
	if format == "auto" && s.Log.Format != "" {
		format = s.Log.Format
	}
	if level == "info" && s.Log.Level != "" {
		level = s.Log.Level
	}
	log, err := t.Logger(format, level)
	if err != nil {
		return nil, err
	}
	if d.traces, err = setup.NewTraces(s.Traces, log); err == nil && d.traces != nil {
		log = slog.New(trace.Handler(log.Handler()))
	}
	return log, err
}

// newParts makes what tells people and programs how the daemon is, and who may ask.
func (d *Daemon) newParts() (err error) {
	if err = d.watch(); err != nil {
		return err
	}
	if d.reviews, err = d.newReviews(); err != nil {
		return err
	}
	if d.notices, err = d.newNotifications(); err != nil {
		return err
	}
	if err = d.joinReplicas(); err != nil {
		return err
	}
	return d.newLogin()
}

// inForce returns the state in force, false while there is none.
func (d *Daemon) inForce() (desired.State, bool) {
	heart := d.heart.Load()
	if heart == nil {
		return desired.State{}, false
	}
	return heart.InForce()
}

// listen opens the configured address, unless it is open.
func (d *Daemon) listen(ctx context.Context) error {
	if d.listener != nil {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", d.settings.Listen)
	if err != nil {
		return cli.Fail(err, "listen in the configuration sets the address of /healthz, /readyz and /metrics")
	}
	d.listener = listener
	return nil
}

// reload makes the next daemon. An address of its own is opened at once, so
// that one that cannot be has the old daemon stay; the old one's comes free
// only when that ends.
func reload(ctx context.Context, t *cli.Terminal, d *Daemon, o setup.Options) (*Daemon, error) {
	if _, err := d.assembly.Records.Standing(ctx); errors.Is(err, ledger.ErrGone) {
		return nil, err // the next would begin with an empty one
	}
	next, err := newDaemon(ctx, t, o, d.manager, d)
	if err != nil {
		return nil, err
	}
	if state, ok := d.inForce(); ok {
		err = next.assembly.Lanes.Check(state)
	}
	if err == nil && next.settings.Listen != d.settings.Listen {
		err = next.listen(ctx)
	}
	if err != nil {
		next.close(d)
		return nil, err
	}
	return next, nil
}

// close gives back what a daemon that does not run has: the ledger first, so that another
// daemon that has the state folder finds it closed. What another one goes on with stays: the
// lock, and the leases.
func (d *Daemon) close(other *Daemon) {
	d.assembly.Close()
	if other == nil || d.replica != other.replica {
		d.replica.leave()
	}
	if other == nil || d.lock != other.lock {
		d.lock.release()
	}
	_ = d.settings.CloseDatabase() // nothing is under way
}

// fillForFolder gives a daemon without a configuration file its schedule.
func fillForFolder(s *setup.Settings) {
	if s.Schedule.Sync == "" {
		s.Schedule.Sync, s.Schedule.Sweep, s.Schedule.Timezone = "@every 1m", "@every 2h", time.UTC
	}
	if s.Listen == "" {
		s.Listen = "127.0.0.1:8710"
		s.Health.Status, s.Web.Pages = true, true
	}
	if s.Health.SourceStale == 0 {
		s.Health.SourceStale = 15 * time.Minute
	}
}

// runUntilReload runs a daemon until ctx ends, which returns nil, or until a reload
// succeeds, which returns the next one.
func runUntilReload(ctx context.Context, t *cli.Terminal, d *Daemon, o setup.Options, heard signals) (*Daemon, error) {
	running, cancel := context.WithCancel(ctx) // what the next one begins goes on after this one
	done := make(chan error, 1)
	go func() { done <- d.run(running, heard.look) }()
	for {
		select {
		case err := <-done:
			cancel()
			d.close(nil)
			if err == nil {
				d.log.Info("stopped")
			}
			return nil, err
		case <-heard.reload:
			d.manager.reloading(d.log)
			next, err := reload(ctx, t, d, o)
			if err != nil {
				d.tellReload(ctx, err)
				d.manager.ready(d.log, "the configuration was not reloaded; the old one stays")
				continue
			}
			d.log.Info("the configuration is reloaded")
			cancel()
			err = <-done
			next.outages.Continue(next.tellOutages()) //nolint:contextcheck // the end of an outage is logged whatever has ended
			d.close(next)
			return next, err
		}
	}
}

// tellReload logs why a reload failed, each mistake with its place; nothing where the daemon is to end,
// which is no mistake in the configuration.
func (d *Daemon) tellReload(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	var m *cli.FileError
	if errors.As(err, &m) {
		for _, p := range m.Problems {
			d.log.Error("a mistake in the configuration", "problem", p.String(), "hint", p.Hint)
		}
	}
	d.log.Error("the configuration was not reloaded; the old one stays", "error", err.Error(), "hint", firstHint(err))
}

// run is the service, until ctx ends. A signal to look has it look at every zone.
func (d *Daemon) run(ctx context.Context, look <-chan os.Signal) error {
	reviews, err := reconcile.Ticks(ctx, d.settings.Schedule.Sync, d.settings.Schedule.Timezone)
	if err != nil {
		return err
	}
	if err := d.listen(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ctx, sendTraces := d.traces.Begin(ctx)
	defer sendTraces()
	git := d.assembly.Look(d.sync)
	pages, err := withHooks(d.served(ctx), d.settings.Hooks, d.health.Webhook, d.log, d.peers.pokes(git, d.reviews)) //nolint:contextcheck // other replicas ask for as long as this one runs
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() {
		served <- status.Serve(ctx, withTLS(d.listener, d.tls), pages)
		stop()
	}()
	closeSocket := d.serveSocket(ctx)
	defer closeSocket()
	slog.SetDefault(d.log) // what libraries say of themselves goes the same way
	setup.LogSandbox(d.settings.Workers, sandbox.Here(), d.log)
	if d.settings.Guards.Observing {
		d.log.Warn("observing only: changes are planned and reported, and none is written", "mode", "observe")
	}
	d.tellServing()
	looks := d.peers.looks(ctx, look)
	var heart *controller.Controller
	err = d.insist(ctx, func() (err error) {
		heart, err = d.controller(ctx, git, looks)
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			err = nil // it was told to end while it began
		}
		stop()
		return errors.Join(err, <-served)
	}
	d.heart.Store(heart)
	d.replica.tell(d.peers)
	d.readWeakened(ctx)
	d.changes.Note()
	alive := func() bool { return len(d.health.Stuck()) == 0 }
	d.manager.alive.Store(&alive)
	d.manager.ready(d.log, "serving "+d.listener.Addr().String())
	var beside gosync.WaitGroup
	d.runShared(ctx, &beside, reviews)
	if d.memory() != nil {
		beside.Go(func() { d.reverts.serve(ctx, d.revertNeeds(heart)) }) //nolint:contextcheck // a revert goes on while the daemon ends
	}
	heart.Run(ctx)
	stop()
	beside.Wait()
	return <-served
}

// tellServing says where the daemon serves.
func (d *Daemon) tellServing() {
	page := d.pageAddress()
	if tell := d.manager.serving; tell != nil {
		tell(page)
		d.manager.serving = nil // a reload is no news
	}
	d.log.Info("serving", "address", d.listener.Addr().String(), "page", page, "sync", d.settings.Schedule.Sync, "sweep", d.settings.Schedule.Sweep)
}

// pageAddress is where browsers find the page.
func (d *Daemon) pageAddress() string {
	web := d.settings.Web
	switch {
	case !web.Pages:
		return "none"
	case web.URL != "":
		return web.URL + "/"
	case web.TLS != nil:
		return "https://" + d.listener.Addr().String() + "/"
	}
	return "http://" + d.listener.Addr().String() + "/"
}

// controller makes the controller of the daemon, which reports to the log, to health and to
// the forge.
func (d *Daemon) controller(ctx context.Context, git *source.Source, look <-chan os.Signal) (*controller.Controller, error) {
	memory, _ := d.assembly.Records.(reconcile.LogMemory) // without a ledger there is none
	rulesets, _ := d.assembly.Records.(reconcile.RulesetMemory)
	reporters := []reconcile.Reporter{
		&reconcile.Logger{Log: d.log, Memory: memory}, &reconcile.Pace{Log: d.log}, &reconcile.Horizon{Log: d.log}, &reconcile.Sunset{Log: d.log}, d.health, d.reviews,
	}
	return controller.New(ctx, controller.Config{
		Source: git, Good: d.assembly.Good, First: d.assembly.First, Records: d.assembly.Records, Guards: d.assembly.Guards, Lanes: d.assembly.Lanes,
		Tokens: d.assembly.TokenWork(), Names: d.assembly.Names, Sweep: d.sweep, Interval: d.assembly.Interval, Leases: d.leases(), News: d.replica.latest(), Replicas: d.replica.show, Requests: d.assembly.Requests, Deprecations: d.assembly.Deprecations, Reporters: reporters, Begin: d.reviews.Begin, Look: look, Rulesets: rulesets,
		Telling: controller.Telling{Log: d.log, Outages: d.outages, Changes: d.changes, Published: d.published},
	})
}
