package directory

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// resolve is [Names.Resolve].
func (f *facts) resolve(state desired.State) desired.State {
	if !byName(state) {
		return state
	}
	r := resolver{facts: f, taken: map[edge.Scope]bool{}, former: map[*list]map[string]string{}}
	state.Accounts = slices.Clone(state.Accounts)
	for i, a := range state.Accounts {
		if a.ByName {
			state.Accounts[i].ID = r.account(a)
		}
		state.Accounts[i].Zones = slices.Clone(a.Zones)
		for j, z := range a.Zones {
			if z.Scope.Level == edge.LevelAccount {
				state.Accounts[i].Zones[j].Scope = desired.AccountScope(state.Accounts[i])
				continue
			}
			if !z.ByName {
				r.taken[z.Scope] = true // what is declared counts before what is found
			}
		}
	}
	sought := r.each(state, zonesByName(state), func(l *list, z desired.Zone) string { return l.found(z.Name) })
	sought = r.each(state, sought, func(l *list, z desired.Zone) string { return r.kept(l, z.Scope.ID, z.Name) })
	for _, at := range sought {
		z := at.in(state)
		z.Scope = edge.ZoneScope(desired.SoughtZone(state.Accounts[at.account].Key, z.Key))
	}
	state.Tokens = desired.WithOwners(state.Tokens, state.Accounts)
	return state
}

// resolver is what is needed to resolve one state.
type resolver struct {
	facts  *facts
	taken  map[edge.Scope]bool
	former map[*list]map[string]string
}

// place is where a zone is in a state.
type place struct{ account, zone int }

func (p place) in(state desired.State) *desired.Zone {
	return &state.Accounts[p.account].Zones[p.zone]
}

// byName reports whether anything in a state is found by its name.
func byName(state desired.State) bool {
	return len(zonesByName(state)) > 0 || slices.ContainsFunc(state.Accounts, func(a desired.Account) bool { return a.ByName })
}

func zonesByName(state desired.State) (places []place) {
	for i, a := range state.Accounts {
		for j, z := range a.Zones {
			if z.ByName {
				places = append(places, place{i, j})
			}
		}
	}
	return places
}

// account is the id of an account that is found by its name.
func (r *resolver) account(a desired.Account) edge.AccountID {
	l := r.facts.accountsOf(a.Key)
	id := l.found(a.Name)
	if id == "" {
		id = r.kept(l, string(a.ID), a.Name)
	}
	if id == "" {
		return desired.SoughtAccount(a.Key)
	}
	return edge.AccountID(id)
}

// each gives zones the id that a choice has for them, unless another zone has it, and
// returns those that are left.
func (r *resolver) each(state desired.State, places []place, choose func(*list, desired.Zone) string) (left []place) {
	for _, at := range places {
		z, id := at.in(state), edge.Scope{}
		if account := state.Accounts[at.account].ID; !desired.Sought(account) {
			id = edge.ZoneScope(edge.ZoneID(choose(r.facts.zonesOf(account), *z)))
		}
		if id.IsZero() || r.taken[id] {
			left = append(left, at)
			continue
		}
		z.Scope, r.taken[id] = id, true
	}
	return left
}

// found is the one id that the platform has for a name; empty where it has none or
// several.
func (l *list) found(name string) string {
	if ids := l.names[desired.FoldName(name)]; len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// kept is the id that a name had before the platform listed none or several of it, so
// that what is on record of the id is not lost meanwhile. An id that is listed under
// another name is none. Nor is there one where exactly one is listed: another zone has that.
func (r *resolver) kept(l *list, have, name string) string {
	name = desired.FoldName(name)
	if l.found(name) != "" {
		return ""
	}
	if known, ok := l.ids[have]; ok && known.name == name {
		return have
	}
	if r.former[l] == nil {
		r.former[l] = l.formerly()
	}
	return r.former[l][name]
}

// SameIDs reports whether two states that declare the same have the same ids.
func SameIDs(a, b desired.State) bool {
	return slices.EqualFunc(a.Accounts, b.Accounts, func(a, b desired.Account) bool {
		return a.ID == b.ID && slices.EqualFunc(a.Zones, b.Zones, func(a, b desired.Zone) bool { return a.Scope == b.Scope })
	})
}
