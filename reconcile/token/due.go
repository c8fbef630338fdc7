package token

import (
	"context"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

// Due returns the keys of declared tokens that need work although nothing was
// declared anew: a successor has to be made, a secret still waits for its sink, or
// a lost creation can be looked for. It goes by the ledger alone, and may be asked
// while the worker works. Where the ledger is in doubt nothing is due: the next
// work says so often enough.
func (w *Worker) Due(ctx context.Context, declared []desired.Token) (map[string]bool, error) {
	if len(declared) == 0 {
		return nil, nil
	}
	live, err := w.Memory.Tokens(ctx)
	if err != nil || live.Unknown != "" {
		return nil, err
	}
	lists := func(owner edge.AccountID) bool {
		return owner == "" && w.Reader != nil || owner != "" && w.Accounts != nil
	}
	return planner.Secrets.Due(declared, live, lists, w.Now()), nil
}
