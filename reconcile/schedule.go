package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// ParseSchedule reads a cron expression whose times are those of a zone; nil is
// UTC.
func ParseSchedule(expression string, zone *time.Location) (cron.Schedule, error) {
	schedule, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, fmt.Errorf("reading schedule %q: %w", expression, err)
	}
	if _, steady := schedule.(cron.ConstantDelaySchedule); steady {
		return schedule, nil
	}
	if zone == nil {
		zone = time.UTC
	}
	return zoned{schedule, zone}, nil
}

// zoned is a schedule by the clock of a zone, whatever that of the times it is
// asked with.
type zoned struct {
	cron.Schedule
	zone *time.Location
}

// Next implements [cron.Schedule].
func (z zoned) Next(t time.Time) time.Time { return z.Schedule.Next(t.In(z.zone)) }

// Interval is the time between two ticks of a schedule that follow each other. The
// zero value knows none yet.
type Interval struct{ from, to time.Time }

// farthest is how far the tick before a moment is looked for.
const farthest = 5 * 366 * 24 * time.Hour

// At returns the length of the interval that a moment is in; zero where no tick
// follows or none came before.
func (i *Interval) At(schedule cron.Schedule, now time.Time) time.Duration {
	if steady, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return steady.Delay
	}
	if now.Before(i.from) || !now.Before(i.to) {
		*i = intervalAround(schedule, now)
	}
	return i.to.Sub(i.from)
}

func intervalAround(schedule cron.Schedule, now time.Time) Interval {
	next := schedule.Next(now)
	if next.IsZero() {
		return Interval{}
	}
	for back := time.Minute; back <= farthest; back *= 2 {
		last := schedule.Next(now.Add(-back))
		if last.After(now) {
			continue // none within that time
		}
		for following := schedule.Next(last); !following.After(now); following = schedule.Next(last) {
			last = following
		}
		return Interval{last, next}
	}
	return Interval{}
}

// Ticks turns a cron expression into ticks until ctx ends. A tick no one has
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
