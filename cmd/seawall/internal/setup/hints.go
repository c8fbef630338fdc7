package setup

import (
	"errors"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/reconcile"
)

// Explain adds what to try to an error of a run.
func Explain(err error) error {
	if advice := adviceOf(err); advice != "" {
		return cli.Fail(err, advice)
	}
	if errors.Is(err, reconcile.ErrInvalid) {
		return cli.Fail(err, "nothing was sent; seawall validate checks a folder without a network")
	}
	return err
}

// adviceOf is the hint of a failure of git, of the ledger or of a question; empty for none.
func adviceOf(err error) string {
	var known interface{ Advice() string }
	if errors.As(err, &known) {
		return known.Advice()
	}
	return ""
}

// HintsOf collects the hints that an error carries.
func HintsOf(err error) []string {
	var shown *cli.HintError
	if errors.As(err, &shown) && len(shown.Hints) > 0 {
		return append([]string{}, shown.Hints...)
	}
	if advice := adviceOf(err); advice != "" {
		return []string{advice}
	}
	return nil
}
