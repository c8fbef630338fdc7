package zone

import (
	"context"
	"maps"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// look looks at the earlier phases of accounts, and adds those of zones, which were looked at
// with each.
func (r *reader) look(ctx context.Context, accounts *Accounts) error {
	if r.looks == nil {
		return nil
	}
	for _, account := range r.state.Accounts {
		asked, err := accounts.Look(ctx, account.ID)
		if r.seen.Looked += asked; err != nil {
			return err
		}
		for _, zone := range account.Zones {
			maps.Copy(r.seen.Live.Ahead, r.looks.Of(zone))
		}
		accounts.WithAhead(account.ID, r.seen.Live.Ahead)
	}
	return nil
}

// ahead are the earlier phases of a zone and of its account, among many.
func (a All) ahead(account edge.AccountID, z desired.Zone) map[edge.Place]diff.Ahead {
	some := map[edge.Place]diff.Ahead{}
	for _, scope := range []edge.Scope{edge.AccountScope(account), z.Scope} {
		for _, phase := range diff.PhasesAhead {
			if seen, looked := a.Live.Ahead[scope.At(phase)]; looked {
				some[scope.At(phase)] = seen
			}
		}
	}
	return some
}

// notLookedAt says which earlier phases of a zone and of its account nobody has looked at.
func (s Sight) notLookedAt(t Task) []diff.NotLookedAt {
	read := func(edge.Scope) bool { return s.Err() == nil }
	return diff.Unlooked(t.State, read, func(at edge.Place) (seen diff.Ahead, looked bool) {
		seen, looked = s.Ahead[at]
		return seen, looked
	})
}
