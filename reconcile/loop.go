package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// Loop runs a [Reconciler] on two schedules, one run at a time: sync looks at
// git and reconciles what a new commit changed; sweep looks at every zone.
type Loop struct {
	Reconciler *Reconciler
	Reporters  []Reporter
	// Sync and Sweep tick; a tick that comes while a run goes on waits, and more
	// of the same kind become one.
	Sync, Sweep <-chan time.Time
	// Wake asks for a sync at once; nil never does.
	Wake <-chan struct{}
}

// Run reconciles everything once and then on every tick, until ctx ends. A
// write in flight is finished first.
func (l *Loop) Run(ctx context.Context) {
	l.sweep(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		default:
		}
		select { // a new commit before the look at everything
		case <-l.Sync:
			l.sync(ctx)
		case <-l.Wake:
			l.sync(ctx)
		default:
		}
		if ctx.Err() == nil { // one is enough: who wakes without end must not keep drift from being seen
			select {
			case <-l.Sweep:
				l.sweep(ctx)
				continue
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-l.Sync:
			l.sync(ctx)
		case <-l.Wake:
			l.sync(ctx)
		case <-l.Sweep:
			l.sweep(ctx)
		}
	}
}

func (l *Loop) sweep(ctx context.Context) {
	l.once(ctx, Order{Trigger: TriggerSweep, FallBack: true})
}

func (l *Loop) sync(ctx context.Context) {
	l.once(ctx, Order{Trigger: TriggerSync, FallBack: true, ChangedOnly: true})
}

func (l *Loop) once(ctx context.Context, order Order) {
	report := l.Reconciler.Run(ctx, order)
	for _, reporter := range l.Reporters {
		reporter.Report(context.WithoutCancel(ctx), report)
	}
}

// Ticks turns a cron expression into ticks until ctx ends. A tick nobody has
// taken yet stands for all that come after it. A nil zone is UTC.
func Ticks(ctx context.Context, expression string, zone *time.Location) (<-chan time.Time, cron.Schedule, error) {
	schedule, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, nil, fmt.Errorf("reading schedule %q: %w", expression, err)
	}
	if zone == nil {
		zone = time.UTC
	}
	ticks := make(chan time.Time, 1)
	runner := cron.New(cron.WithLocation(zone))
	runner.Schedule(schedule, cron.FuncJob(func() {
		select {
		case ticks <- time.Now():
		default:
		}
	}))
	runner.Start()
	context.AfterFunc(ctx, func() { runner.Stop() })
	return ticks, schedule, nil
}
