package reconcile

import (
	"maps"
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// fleet is what is worked out of a whole state once, so that a run over a part of
// it costs what the part costs.
type fleet struct {
	accounts []desired.Account
	zones    map[edge.ZoneID]diff.Labels
	ring     func() ring // worked out when the sweep first needs it
}

// fleetOf returns the fleet of a state, the one before where it is the very same.
func (r *Reconciler) fleetOf(state desired.State) *fleet {
	if f := r.fleet; f != nil && same(f.accounts, state.Accounts) {
		return f
	}
	f := &fleet{accounts: state.Accounts, zones: make(map[edge.ZoneID]diff.Labels, state.Zones())}
	f.ring = sync.OnceValue(func() ring { return newRing(state.Accounts) })
	for _, account := range state.Accounts {
		for _, zone := range account.Zones {
			f.zones[zone.ID] = zone.Labels
		}
	}
	r.fleet = f
	return f
}

func same(a, b []desired.Account) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// declares reports whether a zone is one of the fleet.
func (f *fleet) declares(id edge.ZoneID) bool {
	_, ok := f.zones[id]
	return ok
}

// at returns the accounts with the zones of some stops alone.
func (f *fleet) at(stops []stop) []desired.Account {
	zones := map[int][]desired.Zone{}
	for _, s := range stops {
		zones[s.account] = append(zones[s.account], f.accounts[s.account].Zones[s.zone])
	}
	accounts := make([]desired.Account, 0, len(zones))
	for _, i := range slices.Sorted(maps.Keys(zones)) {
		account := f.accounts[i]
		account.Zones = zones[i]
		accounts = append(accounts, account)
	}
	return accounts
}
