package reconcile

import (
	"context"
	"os"
	"time"

	"github.com/robfig/cron/v3"
)

// Loop runs a [Reconciler], one run at a time: a sync looks at git and reconciles
// what a new commit changed; the slices of a sweep look at every zone, a few at a
// time, spread over the interval of [Reconciler.Sweep].
//
// These are two lanes. A slice is over in a moment, and none begins while somebody
// waits for a sync; so what is pushed is live at once, however large the fleet.
type Loop struct {
	Reconciler *Reconciler
	Reporters  []Reporter
	// Sync ticks; a tick that comes while a run goes on waits, and more become one.
	Sync <-chan time.Time
	// Wake asks for a sync at once, and Look for a look at every zone; nil never does.
	Wake <-chan struct{}
	Look <-chan os.Signal

	picture picture
}

// Run reconciles what is new, or everything where that is not known, and then goes
// on with syncs and slices until ctx ends. A write in flight is finished first.
func (l *Loop) Run(ctx context.Context) {
	l.once(ctx, Order{Trigger: TriggerSweep, FallBack: true, ChangedOnly: true})
	for ctx.Err() == nil {
		select { // what is pushed comes before the sweep
		case <-l.Sync:
			l.sync(ctx)
		case <-l.Wake:
			l.sync(ctx)
		case <-l.Look:
			l.lookNow()
		default:
		}
		// One is enough: who wakes without end must not keep drift from being seen.
		if ctx.Err() == nil && !l.slice(ctx) {
			l.wait(ctx)
		}
	}
}

// wait returns when the next slice is due, or after something else.
func (l *Loop) wait(ctx context.Context) {
	var due <-chan time.Time
	if wait, ok := l.Reconciler.NextSlice(); ok {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-due:
	case <-l.Sync:
		l.sync(ctx)
	case <-l.Wake:
		l.sync(ctx)
	case <-l.Look:
		l.lookNow()
	}
}

func (l *Loop) lookNow() {
	l.Reconciler.LookNow()
	l.picture.begin()
}

func (l *Loop) sync(ctx context.Context) {
	l.once(ctx, Order{Trigger: TriggerSync, FallBack: true, ChangedOnly: true})
}

func (l *Loop) once(ctx context.Context, order Order) {
	l.report(ctx, l.Reconciler.Run(ctx, order))
}

// slice makes one if it is due, and reports whether it was.
func (l *Loop) slice(ctx context.Context) bool {
	if wait, ok := l.Reconciler.NextSlice(); !ok || wait > 0 {
		return false
	}
	if l.Reconciler.overtaken(ctx) {
		l.Reconciler.sweep.failed(l.Reconciler.Now()) // should the sync not find that commit
		l.sync(ctx)
		return true
	}
	report, round := l.Reconciler.Slice(ctx)
	if report != nil {
		l.report(ctx, *report)
	}
	if round {
		l.report(ctx, l.picture.sum(l.Reconciler))
		if l.Reconciler.delayed.lookAgain() && ctx.Err() == nil {
			l.sync(ctx)
		}
	}
	return true
}

func (l *Loop) report(ctx context.Context, report Report) {
	if !report.Sum {
		l.picture.add(report)
	}
	for _, reporter := range l.Reporters {
		reporter.Report(context.WithoutCancel(ctx), report)
	}
}

// Ticks turns a cron expression into ticks until ctx ends. A tick nobody has
// taken yet stands for all that come after it. A nil zone is UTC.
func Ticks(ctx context.Context, expression string, zone *time.Location) (<-chan time.Time, error) {
	schedule, err := ParseSchedule(expression, zone)
	if err != nil {
		return nil, err
	}
	ticks := make(chan time.Time, 1)
	runner := cron.New()
	runner.Schedule(schedule, cron.FuncJob(func() {
		select {
		case ticks <- time.Now():
		default:
		}
	}))
	runner.Start()
	context.AfterFunc(ctx, func() { runner.Stop() })
	return ticks, nil
}
