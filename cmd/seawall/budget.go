package main

import (
	"cmp"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/client"
	"github.com/seawall-dev/seawall/reconcile"
)

// budget is what the daemon has for everything but reviews of pull requests.
func (s settings) budget() diff.Budget {
	b := s.Budget
	b.Requests, b.Per = cmp.Or(b.Requests, client.DefaultRequests), cmp.Or(b.Per, client.DefaultPer)
	if s.Forge != nil {
		_, b = reviewBudget(b)
	}
	return diff.Budget{Requests: b.Requests, Per: b.Per}
}

// interval is the shortest between two sweeps of the daemon in the week after a
// moment; zero where no schedule is configured.
func (s settings) interval(from time.Time) time.Duration {
	schedule, err := cron.ParseStandard(s.Schedule.Sweep)
	if err != nil {
		return 0 // there is none; the schema holds the form of one that is
	}
	zone := cmp.Or(s.Schedule.Timezone, time.UTC)
	return reconcile.ShortestGap(schedule, from.In(zone))
}
