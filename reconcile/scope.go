package reconcile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// scope cuts a state down to what an order asks for, and says whether that is
// all of it.
func (r *Reconciler) scope(state desired.State, order Order) (desired.State, bool, error) {
	if order.Zones != nil || order.Tokens != nil {
		scoped, err := only(state, order.Zones, order.Tokens)
		return scoped, false, err
	}
	if !order.ChangedOnly || r.inForce == nil {
		return state, true, nil
	}
	changed := diff.ChangedZones(*r.inForce, state)
	due := r.pending.due()
	return withZones(state, func(z desired.Zone) bool { return changed[z.ID] || due[z.ID] }), false, nil
}

// only keeps the zones and tokens of the given keys, all of which must exist.
func only(state desired.State, zones, tokens []string) (desired.State, error) {
	found := map[string]bool{}
	scoped := withZones(state, func(z desired.Zone) bool {
		wanted := slices.Contains(zones, z.Key)
		found[z.Key] = found[z.Key] || wanted
		return wanted
	})
	for _, key := range zones {
		if !found[key] {
			return desired.State{}, fmt.Errorf("--only zone=%s: no such zone is declared", key)
		}
	}
	scoped.Tokens = nil
	for _, key := range tokens {
		i := slices.IndexFunc(state.Tokens, func(t desired.Token) bool { return t.Key == key })
		if i < 0 {
			return desired.State{}, fmt.Errorf("--only token=%s: no such token is declared", key)
		}
		scoped.Tokens = append(scoped.Tokens, state.Tokens[i])
	}
	return scoped, nil
}

// withZones returns the state with only the zones that pass, and only the
// accounts that have some.
func withZones(state desired.State, pass func(desired.Zone) bool) desired.State {
	accounts := make([]desired.Account, 0, len(state.Accounts))
	for _, account := range state.Accounts {
		zones := make([]desired.Zone, 0, len(account.Zones))
		for _, zone := range account.Zones {
			if pass(zone) {
				zones = append(zones, zone)
			}
		}
		if account.Zones = zones; len(zones) > 0 {
			accounts = append(accounts, account)
		}
	}
	state.Accounts = accounts
	return state
}

// pending are the zones that a run left unfinished: unreadable, failed or not
// reached. The next sync looks at them again, then the second after that, then
// the fourth, and so on until it works or a sweep comes by.
type pending struct {
	zones map[edge.ZoneID]bool
	skip  int  // syncs to let pass before the next try
	step  int  // how many were let pass before the last one
	tried bool // this run looks at them
}

// longestStep bounds how many syncs may pass between two tries.
const longestStep = 64

// due returns the zones a sync should look at again.
func (p *pending) due() map[edge.ZoneID]bool {
	if p.skip > 0 {
		p.skip--
		return nil
	}
	p.tried = len(p.zones) > 0
	return p.zones
}

// note updates the set after a run over scoped.
func (p *pending) note(report *Report, scoped desired.State) {
	left := maps.Clone(p.zones)
	if left == nil {
		left = map[edge.ZoneID]bool{}
	}
	for _, account := range scoped.Accounts {
		for _, zone := range account.Zones {
			delete(left, zone.ID)
		}
	}
	for _, problem := range report.Plan.Problems {
		if problem.State == diff.Unknown && problem.ZoneID != "" {
			left[problem.ZoneID] = true
		}
	}
	for _, result := range report.Results {
		if result.Outcome == Failed || result.Outcome == NotStarted {
			left[result.Change.ZoneID] = true
		}
	}
	switch {
	case len(left) == 0:
		*p = pending{}
		return
	case p.tried:
		p.step = min(max(1, 2*p.step), longestStep)
		p.skip = p.step
	}
	p.zones, p.tried = left, false
}
