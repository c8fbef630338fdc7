package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/signal"
	gosync "sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/worker/sandbox"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/source"
	"github.com/seawall-dev/seawall/reconcile/status"
)

func newRun(t *terminal) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run as a daemon: reconcile on every commit and on a schedule",
		Long: `Fetch git on the sync schedule, and apply the changes of a new commit at once. Read
every zone once per interval of the sweep schedule, spread over the interval. The
first run covers everything. A later start covers everything too, if that needs no
more than a quarter of the request budget.

The daemon serves /healthz, /readyz and /metrics on the configured address, and
/hook/git if webhooks are configured. seawall status and seawall why ask it over a
socket in its state folder. If a forge is configured, it comments on open pull
requests what a merge would change.

SIGTERM finishes the write in flight and ends with 0. SIGHUP reads the
configuration again; if it has a mistake, that is logged and the old configuration
stays. SIGUSR1 reads every zone now, as fast as the request budget allows.`,
		Example: "  seawall run --config /etc/seawall/config.cue",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return t.serve(cmd.Context(), o) },
	}
	o.addTo(cmd)
	return cmd
}

// serve runs daemons one after the other: each reload ends one and begins the
// next.
func (t *terminal) serve(ctx context.Context, o options) error {
	heard := signals{make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(heard.reload, syscall.SIGHUP)
	signal.Notify(heard.look, syscall.SIGUSR1)
	defer signal.Stop(heard.reload)
	defer signal.Stop(heard.look)

	d, err := t.newDaemon(ctx, o, nil)
	if err != nil {
		return err
	}
	bounded, stop := context.WithCancel(ctx)
	defer stop()
	go boundHeap(bounded)
	for d != nil {
		if d, err = t.generation(ctx, d, o, heard); err != nil {
			return err
		}
	}
	return nil
}

// signals are those to a daemon that do not end it.
type signals struct{ reload, look chan os.Signal }

// daemon is one generation of the service: a configuration and what it needs.
type daemon struct {
	settings
	*assembly
	listener net.Listener // nil until it listens
	desk     *desk        // nil where no forge is configured
	begin    func(commit string)
	outages  *outage.Tracker
	lock     *stateLock
	heart    atomic.Pointer[controller.Controller] // nil until it runs
}

// stateLock keeps other daemons away from a state folder.
type stateLock struct {
	dir     string
	release func()
}

// lockState takes the lock of the configured state folder, unless it is the one that
// is held already.
func (s settings) lockState(held *stateLock) (*stateLock, error) {
	if s.dir != "" {
		return &stateLock{release: func() {}}, nil
	}
	if held != nil && held.dir == s.StateDir {
		return held, nil
	}
	release, err := ledger.LockState(s.StateDir)
	if err != nil {
		return nil, explain(err)
	}
	return &stateLock{s.StateDir, release}, nil
}

// newDaemon puts a daemon together. before is the lock that the one before it holds;
// nil where there is none.
func (t *terminal) newDaemon(ctx context.Context, o options, before *stateLock) (_ *daemon, err error) {
	s, err := t.settings(o)
	if err != nil {
		return nil, err
	}
	s.fillForFolder()
	s.failures = &failureCount{}
	format, level := o.logFormat, o.logLevel
	if format == "auto" && s.Log.Format != "" {
		format = s.Log.Format
	}
	if level == "info" && s.Log.Level != "" {
		level = s.Log.Level
	}
	log, err := t.logger(format, level)
	if err != nil {
		return nil, err
	}
	lock, err := s.lockState(before)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && lock != before {
			lock.release()
		}
	}()
	a, err := assemble(ctx, s, s.serving(), log)
	if err != nil {
		return nil, err
	}
	d := &daemon{settings: s, assembly: a, lock: lock, outages: outage.New(outage.Config{Now: time.Now, Tell: outage.Log(log)})}
	if d.desk, err = d.newDesk(); err != nil {
		a.close()
		return nil, err
	}
	return d, nil
}

// inForce returns the state in force, false while there is none.
func (d *daemon) inForce() (desired.State, bool) {
	heart := d.heart.Load()
	if heart == nil {
		return desired.State{}, false
	}
	return heart.InForce()
}

// listen opens the configured address, unless it is open.
func (d *daemon) listen() error {
	if d.listener != nil {
		return nil
	}
	listener, err := net.Listen("tcp", d.Listen)
	if err != nil {
		return fail(err, "listen in the configuration sets the address of /healthz, /readyz and /metrics")
	}
	d.listener = listener
	return nil
}

// reload makes the next daemon. An address of its own is opened at once, so
// that one that cannot be has the old daemon stay; the old one's comes free
// only when that ends.
func (t *terminal) reload(ctx context.Context, d *daemon, o options) (*daemon, error) {
	next, err := t.newDaemon(ctx, o, d.lock)
	if err != nil || next.Listen == d.Listen {
		return next, err
	}
	if err := next.listen(); err != nil {
		next.close()
		if next.lock != d.lock {
			next.lock.release()
		}
		return nil, err
	}
	return next, nil
}

// fillForFolder gives a daemon without a configuration file its schedule.
func (s *settings) fillForFolder() {
	if s.Schedule.Sync == "" {
		s.Schedule.Sync, s.Schedule.Sweep, s.Schedule.Timezone = "@every 1m", "@every 2h", time.UTC
	}
	if s.Listen == "" {
		s.Listen = "127.0.0.1:8710"
		s.Health.Status = true
	}
	if s.Health.SourceStale == 0 {
		s.Health.SourceStale = 15 * time.Minute
	}
}

// generation runs a daemon until ctx ends, which returns nil, or until a reload
// succeeds, which returns the next one.
func (t *terminal) generation(ctx context.Context, d *daemon, o options, heard signals) (*daemon, error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- d.run(ctx, heard.look) }()
	defer d.close()
	for {
		select {
		case err := <-done:
			cancel()
			d.lock.release()
			return nil, err
		case <-heard.reload:
			next, err := t.reload(ctx, d, o)
			if err != nil {
				d.tellReload(err)
				continue
			}
			d.log.Info("the configuration is reloaded")
			cancel()
			err = <-done
			if next.lock != d.lock {
				d.lock.release()
			}
			return next, err
		}
	}
}

// tellReload logs why a reload failed, each mistake with its place.
func (d *daemon) tellReload(err error) {
	var m *badFile
	if errors.As(err, &m) {
		for _, p := range m.problems {
			d.log.Error("a mistake in the configuration", "problem", p.String(), "hint", p.Hint)
		}
	}
	attrs := []any{"error", err.Error()}
	var f *failure
	if errors.As(err, &f) && len(f.hints) > 0 {
		attrs = append(attrs, "hint", f.hints[0])
	}
	d.log.Error("the configuration was not reloaded; the old one stays", attrs...)
}

// schedules are the configured ones, parsed.
type schedules struct {
	reviews     <-chan time.Time // when pull requests are looked at
	sync, sweep cron.Schedule
}

func (d *daemon) schedules(ctx context.Context) (s schedules, err error) {
	if s.reviews, err = reconcile.Ticks(ctx, d.Schedule.Sync, d.Schedule.Timezone); err != nil {
		return s, err
	}
	if s.sync, err = reconcile.ParseSchedule(d.Schedule.Sync, d.Schedule.Timezone); err != nil {
		return s, err
	}
	s.sweep, err = reconcile.ParseSchedule(d.Schedule.Sweep, d.Schedule.Timezone)
	return s, err
}

// run is the service, until ctx ends. A signal to look has it look at every zone.
func (d *daemon) run(ctx context.Context, look <-chan os.Signal) error {
	s, err := d.schedules(ctx)
	if err != nil {
		return err
	}
	if err := d.listen(); err != nil {
		return err
	}
	health := d.newHealth(s.sync, s.sweep)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	git := d.assembly.look(s.sync)
	pages, err := withHooks(d.pages(health), d.Hooks, func() { d.desk.poke(); git.Poke() }, d.log)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() {
		served <- status.Serve(ctx, d.listener, pages)
		stop()
	}()
	closeSocket := d.serveSocket(ctx, health)
	defer closeSocket()
	slog.SetDefault(d.log) // what libraries say of themselves goes the same way
	logSandbox(d.Workers, sandbox.Here(), d.log)
	if d.Guards.Observing {
		d.log.Warn("observing only: changes are planned and reported, and none is written", "mode", "observe")
	}
	d.log.Info("serving", "address", d.listener.Addr().String(), "sync", d.Schedule.Sync, "sweep", d.Schedule.Sweep)
	heart, err := d.controller(ctx, git, s.sweep, health, look)
	if err != nil {
		stop()
		return errors.Join(explain(err), <-served)
	}
	d.heart.Store(heart)
	var beside gosync.WaitGroup
	if d.desk != nil {
		beside.Go(func() { d.desk.run(ctx, s.reviews) })
	}
	heart.Run(ctx)
	stop()
	beside.Wait()
	d.log.Info("stopped")
	return <-served
}

// controller makes the controller of the daemon, which reports to the log, to health and to
// the forge.
func (d *daemon) controller(ctx context.Context, git *source.Source, sweep cron.Schedule, health *status.Status, look <-chan os.Signal) (*controller.Controller, error) {
	reporters := []reconcile.Reporter{
		&reconcile.Logger{Log: d.log}, &reconcile.Pace{Log: d.log}, &reconcile.Horizon{Log: d.log}, &reconcile.Sunset{Log: d.log}, health,
	}
	if d.desk != nil {
		reporters = append(reporters, d.desk.merges)
	}
	return controller.New(ctx, controller.Config{
		Source: git, Good: d.good, Records: d.records, Guards: d.guards, Reader: d.reader, Writer: d.writer,
		Tokens: d.tokenWork(d.serving()), Concurrency: d.concurrency, Sweep: sweep, Budget: d.assembly.quota.Budget, Interval: d.assembly.interval,
		Room: d.assembly.quota.meter.Room, Requests: d.requests, Deprecations: d.deprecations, Reporters: reporters, Begin: d.begin, Look: look,
		Telling: controller.Telling{Log: d.log, Outages: d.outages},
	})
}
