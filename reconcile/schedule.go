package reconcile

import (
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

// interval is the time between two ticks of a schedule that follow each other. The
// zero value knows none yet.
type interval struct{ from, to time.Time }

// farthest is how far the tick before a moment is looked for.
const farthest = 5 * 366 * 24 * time.Hour

// at returns the length of the interval that a moment is in; zero where no tick
// follows or none came before.
func (i *interval) at(schedule cron.Schedule, now time.Time) time.Duration {
	if steady, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return steady.Delay
	}
	if now.Before(i.from) || !now.Before(i.to) {
		*i = intervalAround(schedule, now)
	}
	return i.to.Sub(i.from)
}

func intervalAround(schedule cron.Schedule, now time.Time) interval {
	next := schedule.Next(now)
	if next.IsZero() {
		return interval{}
	}
	for back := time.Minute; back <= farthest; back *= 2 {
		last := schedule.Next(now.Add(-back))
		if last.After(now) {
			continue // none within that time
		}
		for following := schedule.Next(last); !following.After(now); following = schedule.Next(last) {
			last = following
		}
		return interval{last, next}
	}
	return interval{}
}
