package setup

import (
	"log/slog"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// Reading is what a command has that only reads the platform.
type Reading struct {
	Lanes reconcile.Lanes // one for each credential for rulesets; their writers refuse
	Names *directory.Names
	Quota cli.Quota // of all credentials
	Close func()    // gives the rest of the budgets back

	meters meters // of each lane
}

// ReadPlatform connects to the platform with each credential for rulesets, to read.
func ReadPlatform(s Settings, log *slog.Logger) (Reading, error) { return s.connect(ToPlan, log) }

// connect makes the clients of all credentials. For a purpose that writes, lanes have writers.
func (s Settings) connect(why Purpose, log *slog.Logger) (r Reading, err error) {
	s.ends = !why.serves()
	part := func(b schema.Budget) schema.Budget { return b }
	if why.serves() {
		part = s.beyondReviews
	}
	if r.Lanes, r.meters, err = s.dialAll(why, part, log); err != nil {
		return r, err
	}
	for i, c := range s.Lanes() {
		r.Lanes.All[i].Budget = s.with(c).requestBudget()
	}
	r.Quota = cli.Quota{Budget: quotaOf(r.Lanes), Meter: r.meters}
	r.Names, r.Close = NewNames(s, r.Lanes, log), r.meters.close
	return r, nil
}

// onClose has something done before all else when it is closed.
func (r *Reading) onClose(do func()) {
	rest := r.Close
	r.Close = func() { do(); rest() }
}

// NewNames finds the ids of zones and accounts, each account by its own credential. A
// platform of which nothing is said but its address is asked only for what has no declared
// id.
func NewNames(s Settings, lanes reconcile.Lanes, log *slog.Logger) *directory.Names {
	config := directory.Config{Now: time.Now, Log: log, OnlyUndeclared: s.Platform.Profile == ""}
	if s.Platform.Profile == "" || s.Platform.Extended() {
		config.Of = func(account string) edge.Directory {
			i := lanes.Index(account)
			if i < 0 {
				return nil
			}
			return lanes.All[i].Reader
		}
	}
	return directory.New(config)
}
