package setup

import (
	"errors"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// Explain adds what to try to an error of a run.
func Explain(err error) error {
	var git *gitrepo.Error
	var memory *ledger.Error
	var hinted interface {
		error
		Hints() []string
	}
	switch {
	case errors.As(err, &hinted):
		return cli.Fail(err, hinted.Hints()...)
	case errors.As(err, &git) && git.Hint != "":
		return cli.Fail(err, git.Hint)
	case errors.As(err, &memory) && memory.Hint != "":
		return cli.Fail(err, memory.Hint)
	case errors.Is(err, reconcile.ErrInvalid):
		return cli.Fail(err, "nothing was sent; seawall validate checks a folder without a network")
	}
	return err
}

// HintsOf collects the hints that an error carries.
func HintsOf(err error) []string {
	var told *cli.Failure
	var git *gitrepo.Error
	var memory *ledger.Error
	switch {
	case errors.As(err, &told) && len(told.Hints) > 0:
		return append([]string{}, told.Hints...)
	case errors.As(err, &git) && git.Hint != "":
		return []string{git.Hint}
	case errors.As(err, &memory) && memory.Hint != "":
		return []string{memory.Hint}
	}
	return nil
}
