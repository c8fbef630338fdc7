package reconcile

import (
	"context"
	"log/slog"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
)

// SmallPush is up to how many zones a commit may change to count as a small push, which
// nothing else keeps waiting. Zones that return to what was last proved in them do not
// count: those that a revert finds untouched, and those that its commit had just begun.
const SmallPush = 20

// ShortestGap returns the shortest time between two ticks that follow each other
// within a week from a moment, in the time zone of that moment; between the first
// two where they are further apart. Zero is a schedule that ticks no more.
func ShortestGap(schedule cron.Schedule, from time.Time) time.Duration {
	if steady, ok := schedule.(cron.ConstantDelaySchedule); ok {
		return steady.Delay
	}
	last := schedule.Next(from)
	next := schedule.Next(last)
	if last.IsZero() || next.IsZero() {
		return 0
	}
	shortest := next.Sub(last)
	for end := from.AddDate(0, 0, 7); !next.IsZero() && next.Before(end); {
		last, next = next, schedule.Next(next)
		if gap := next.Sub(last); !next.IsZero() && gap < shortest {
			shortest = gap
		}
	}
	return shortest
}

// Pace is a [Reporter] that warns in a log of a sweep schedule that cannot hold:
// once, and again when the numbers are others. It is not safe for concurrent use.
type Pace struct {
	Log *slog.Logger

	told diff.Overload // zero while the schedule holds
}

// Report implements [Reporter].
func (p *Pace) Report(ctx context.Context, r Report) {
	if r.Sweep == 0 {
		return // the run did not come to know its commit
	}
	overload := r.Plan.Requests.Overload
	switch {
	case overload == nil && p.told.Requests > 0:
		p.told = diff.Overload{}
		p.Log.InfoContext(ctx, "the sweep schedule can hold again", "zones", r.Declared, "requests", r.Sweep)
	case overload != nil && *overload != p.told:
		p.told = *overload
		p.Log.WarnContext(ctx, "the budget cannot hold the sweep schedule", "overload", overload.String(), "zones", overload.Zones, "requests", overload.Requests,
			"interval", time.Duration(overload.Interval).String(), "holds", time.Duration(overload.Holds).String(), "hint", overload.Hint())
	}
}
