package setup

import (
	"log/slog"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
)

// Reading is what a command has that only reads the platform.
type Reading struct {
	Lanes reconcile.Lanes // one for each credential for rulesets; their writers refuse
	Names *directory.Names
	Quota cli.Quota // of all credentials
	Close func()    // gives the rest of the budgets back
}

// ReadPlatform connects to the platform with each credential for rulesets, to read.
func ReadPlatform(s Settings, log *slog.Logger) (Reading, error) {
	s.TotalRequests = s.Budget.Requests
	lanes, _, budgets, err := s.connect(ToPlan, log)
	if err != nil {
		return Reading{}, err
	}
	return Reading{
		Lanes: lanes, Names: NewNames(s, lanes, log),
		Quota: cli.Quota{Budget: quotaOf(lanes), Meter: budgets}, Close: budgets.close,
	}, nil
}
