package setup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/revert"
)

// Revert is one revert with the records of a ledger. It needs the history, so a repository.
func (a *Assembly) Revert(records any, show reconcile.Progress) (*revert.Run, error) {
	history, ok := records.(revert.Records)
	if !ok {
		return nil, errors.New("there is no ledger, so there is no history to revert")
	}
	return &revert.Run{
		Records: history, Guards: a.Guards, Lanes: a.Lanes, Requests: a.Requests, Progress: show, Now: time.Now, Log: a.Log,
		Compile: func(ctx context.Context, commit string) (desired.State, error) {
			state, problems, err := a.Declared.Compiler.Compile(ctx, commit)
			if err == nil && len(desired.Errors(problems)) > 0 {
				err = fmt.Errorf("%w: %s", reconcile.ErrInvalid, desired.Errors(problems)[0])
			}
			return state, err
		},
	}, nil
}

// Reverted says what a revert has come to, behind what became of each change.
func Reverted(planned *revert.Planned, report reconcile.Report) string {
	back := map[edge.Scope]bool{}
	for _, result := range report.Results {
		if result.Outcome == reconcile.Converged {
			back[result.Change.Scope] = true
		}
	}
	text := fmt.Sprintf("%s put back; the commit is stopped in %s that it had not reached\n",
		cli.Plural(len(back), "zone", "zones"), cli.Plural(planned.Stopped(), "zone", "zones"))
	if len(back)+planned.Stopped() > 0 {
		text += "the zones are held until git changes them; seawall hold list shows them\n"
	}
	return text
}
