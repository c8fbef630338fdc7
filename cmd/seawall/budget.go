package main

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
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
	schedule, err := reconcile.ParseSchedule(s.Schedule.Sweep, s.Schedule.Timezone)
	if err != nil {
		return 0 // there is none; the schema holds the form of one that is
	}
	return reconcile.ShortestGap(schedule, from)
}

// sharedBudget is one that all processes with this credential and state folder
// share. A plan where there is no such folder has nobody to share with, and must
// not make one.
func (s settings) sharedBudget(credential schema.SecretRef, log *slog.Logger) *client.Budget {
	budget := client.NewBudget(s.Budget.Requests, s.Budget.Per)
	if _, err := os.Stat(s.StateDir); s.StateDir == "" || err != nil && !s.keepsState {
		return budget
	}
	budget.Share(client.Sharing{
		Store: client.CountFile{
			Path: filepath.Join(s.StateDir, "budget"), BaseURL: s.Platform.BaseURL,
			Credential: func() (edge.Secret, error) { return readToken(credential) },
		},
		Quota: s.quota,
		Tell: func(err error) {
			if errors.Is(err, client.ErrCountLost) {
				log.Warn("the shared count of requests could not be read; half of the budget is taken to be used up")
				return
			}
			log.Warn("the request budget is not shared with other processes; this one takes half of it", "error", err.Error())
		},
	})
	return budget
}
