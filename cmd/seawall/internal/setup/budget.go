package setup

import (
	"cmp"
	"errors"
	"fmt"
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

// requestBudget is what the daemon has for everything but reviews of pull requests.
func (s Settings) requestBudget() diff.Budget {
	b := s.Budget
	b.Requests, b.Per = cmp.Or(b.Requests, client.DefaultRequests), cmp.Or(b.Per, client.DefaultPer)
	b = s.beyondReviews(b)
	return diff.Budget{Requests: b.Requests, Per: b.Per}
}

// sweepInterval is the shortest between two sweeps of the daemon in the week after a
// moment; zero where no schedule is configured.
func sweepInterval(s schema.Schedule, from time.Time) time.Duration {
	schedule, err := reconcile.ParseSchedule(s.Sweep, s.Timezone)
	if err != nil {
		return 0 // there is none; the schema holds the form of one that is
	}
	return reconcile.ShortestGap(schedule, from)
}

// UserState returns the folder in which Seawall keeps what a user's runs have in common,
// and makes it: seawall in XDG_STATE_HOME, or in ~/.local/state. One that others may
// write to is an error: they could have this user's runs wait for ever.
func UserState() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // the standard has a relative one ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding the state folder of the user: %w", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(base, "seawall")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err == nil && OthersWrite(info) {
		err = fmt.Errorf("others may write to %s", dir)
	}
	return dir, err
}

// sharedBudget is one that all processes with this credential and state folder
// share. A plan where there is no such folder has no one to share with, and must
// not make one. Without a configuration the folder is the user's own: the platform
// counts what two plans in a row send, whoever configured them.
func (s Settings) sharedBudget(credential schema.SecretRef, log *slog.Logger) *client.Budget {
	budget := client.NewBudget(s.Budget.Requests, s.Budget.Per)
	if s.InPostgres() {
		return s.overDatabase(budget, credential, log)
	}
	dir := s.StateDir
	if dir == "" {
		var err error
		if dir, err = UserState(); err != nil {
			log.Warn("the request budget is not shared with other runs", "error", err.Error(),
				"hint", "one run after the other may be throttled; set XDG_STATE_HOME to a folder of your own")
			return budget
		}
	} else if _, err := os.Stat(dir); err != nil && !s.keepsState {
		return budget
	}
	budget.Share(client.Sharing{
		Store: &client.CountFile{
			Path: filepath.Join(dir, "budget"), BaseURL: s.Platform.BaseURL,
			Credential: func() (edge.Secret, error) { return ReadToken(credential) },
		},
		Quota: s.totalRequests, Class: s.why.class(),
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

// overDatabase shares a budget with the processes of all machines.
// A plan before the first daemon has no one to share with, and makes no tables.
func (s Settings) overDatabase(budget *client.Budget, credential schema.SecretRef, log *slog.Logger) *client.Budget {
	if !s.keepsState && s.vacant() {
		return budget
	}
	budget.Share(client.Sharing{
		Store: &client.CountTable{
			Database: s.Database, BaseURL: s.Platform.BaseURL,
			Credential: func() (edge.Secret, error) { return ReadToken(credential) },
		},
		Quota: s.totalRequests, Class: s.why.class(),
		Tell: func(err error) {
			log.Warn("the request budget that replicas share is not known", "error", err.Error(), "hint", "see state.postgres in the configuration, and seawall doctor")
		},
	})
	return budget
}

// reviewShare is the part of the budget that reviews of pull requests may take,
// one in so many requests: anybody can open a pull request, and it must not keep
// a fleet from being looked after.
const reviewShare = 10

// reviewPart is what reviews have of a budget.
func reviewPart(b schema.Budget) schema.Budget {
	b.Requests = max(1, b.Requests/reviewShare)
	return b
}

// beyondReviews is what is left of a budget for everything else.
func (s Settings) beyondReviews(b schema.Budget) schema.Budget {
	if s.Forge != nil {
		b.Requests = max(1, b.Requests-reviewPart(b).Requests)
	}
	return b
}
