package main

import (
	"context"
	"fmt"
	"time"
)

// row is what was measured of one scenario.
type row struct {
	scenario
	undisturbed, disturbed observation

	recovered   bool // by itself
	recoveredIn time.Duration
	notWaited   bool      // for its recovery, which takes too long
	writes      int       // without a reason
	lines       []logLine // from the beginning of the fault on
	calm, sign  signs     // before the fault, and while it lasts
	unended     bool      // the log does not say that each outage has ended
	restarted   bool      // the daemon had ended, so that it needs a restart
	err         error
	took        time.Duration
}

// measure takes one scenario from start to recovery, below a folder.
func (o options) measure(ctx context.Context, s scenario, dir string) (r row) {
	begin := time.Now()
	r = row{scenario: s.complete(o.quick)}
	defer func() { r.took = time.Since(begin) }()
	f, err := newFixture(ctx, o.binary, dir, r.shape)
	if err != nil {
		r.err = err
		return r
	}
	defer f.stop()
	if r.err = r.before(ctx, f); r.err != nil {
		return r
	}
	read := f.daemon.log.count()
	if r.calm, r.err = f.signs(ctx); r.err != nil {
		return r
	}
	if r.err = r.during(ctx, f); r.err != nil {
		return r
	}
	if f.daemon.Running() {
		if r.sign, r.err = f.signs(ctx); r.err != nil {
			return r
		}
	}
	if r.err = r.after(ctx, f); r.err != nil {
		return r
	}
	if r.notWaited = r.slow != "" && !o.long; !r.notWaited {
		r.err = r.recover(ctx, f)
	}
	r.unended = r.err == nil && !f.awaitEnds(ctx)
	r.lines = f.daemon.log.since(read)
	r.writes, r.restarted = r.tooMany(f), !f.daemon.Running()
	return r
}

// before measures without a fault.
func (r *row) before(ctx context.Context, f *fixture) (err error) {
	l := look{drifts: undisturbedDrifts, every: undisturbedEvery, zones: span(r.drift.first, r.drift.last), pushes: pushCount, patience: time.Minute}
	r.undisturbed, err = f.observe(ctx, l)
	if err == nil && r.undisturbed.drift.missing+r.undisturbed.pushes.missing > 0 {
		err = fmt.Errorf("without any fault, drift is healed after %s and pushes are live after %s",
			r.undisturbed.drift.quantiles(), r.undisturbed.pushes.longest())
	}
	return err
}

// during measures with it.
func (r *row) during(ctx context.Context, f *fixture) (err error) {
	begin := time.Now()
	if r.begin != nil {
		if err := r.begin(ctx, f); err != nil {
			return fmt.Errorf("beginning the fault: %w", err)
		}
	}
	sleep(ctx, r.drift.settle)
	l := look{drifts: r.drift.count, every: r.drift.every, zones: span(r.drift.first, r.drift.last), pushes: pushCount, patience: r.patience}
	if r.drift.none {
		l.drifts = 0
	}
	if r.pushes == pushesNone {
		l.pushes = 0
	}
	r.disturbed, err = f.observe(ctx, l)
	sleep(ctx, r.hold-time.Since(begin))
	return err
}

// after ends the fault.
func (r *row) after(ctx context.Context, f *fixture) error {
	if r.end == nil {
		return nil
	}
	if err := r.end(ctx, f); err != nil {
		return fmt.Errorf("ending the fault: %w", err)
	}
	return nil
}

// recover pushes another commit and waits until every zone is as it says.
func (r *row) recover(ctx context.Context, f *fixture) error {
	if !f.daemon.Running() {
		return nil
	}
	if _, err := f.push(ctx); err != nil {
		return fmt.Errorf("pushing after the fault: %w", err)
	}
	patience := r.recovery
	if r.slow != "" {
		patience = longRecovery
	}
	r.recoveredIn, r.recovered = f.await(ctx, patience, f.agrees)
	return ctx.Err()
}

// longRecovery is how long -long waits for a recovery that is slow.
const longRecovery = 20 * time.Minute

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
