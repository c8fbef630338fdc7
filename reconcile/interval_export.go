package reconcile

import (
	"time"

	"github.com/robfig/cron/v3"
)

// Interval is the time between two ticks of a schedule that follow each other. The
// zero value knows none yet.
type Interval struct{ known interval }

// At returns the length of the interval that a moment is in; zero where no tick
// follows or none came before.
func (i *Interval) At(schedule cron.Schedule, now time.Time) time.Duration {
	return i.known.at(schedule, now)
}
