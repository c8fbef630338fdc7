package directory

import (
	"cmp"
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// resolve is [Names.Resolve].
func (f *facts) resolve(state desired.State) desired.State {
	state, f.last = f.after(f.last, state)
	f.settled()
	return state
}

// after resolves a state after another one: zones that are declared as before, and whose names
// have the same ids since, keep what they were found to have. After nil, all are found anew.
//
// An id goes to one of the zones that claim it: to one that declares it, else to the first whose
// name has it, else to the first whose name had it formerly. No zone that is found by its name
// claims more than one. So a zone whose name has its id keeps it unless another one claims it
// now; and those that got none, or one that their name had formerly, claim anew each time.
func (f *facts) after(last *resolved, state desired.State) (desired.State, *resolved) {
	if !byName(state) {
		return state, nil
	}
	if last == nil {
		last = &resolved{}
	}
	r := resolver{
		facts: f, given: state.Accounts, now: &resolved{accounts: slices.Clone(state.Accounts)},
		lists: make([]*list, len(state.Accounts)), own: make([]bool, len(state.Accounts)),
		taken: map[edge.Scope]bool{}, former: map[*list]map[string]string{},
	}
	for i, was := range byKey(last.accounts, state.Accounts, func(a *desired.Account) string { return a.Key }) {
		if a := &r.now.accounts[i]; a.ByName {
			a.ID = r.account(*a)
		}
		r.zones(i, was, last)
	}
	r.claim()
	if len(last.accounts) > 0 && len(r.taken) > 0 {
		r.contest()
	}
	r.give()
	state.Accounts = r.now.accounts
	state.Tokens = desired.WithOwners(state.Tokens, state.Accounts)
	return state, r.now
}

// resolved is what a state came to.
type resolved struct {
	accounts []desired.Account   // shared with whom they were given to
	formerly map[edge.Scope]bool // ids that zones have because they had them formerly
}

// resolver is what is needed to resolve one state.
type resolver struct {
	facts  *facts
	given  []desired.Account
	now    *resolved
	lists  []*list // by account: what is known of its zones
	own    []bool  // by account: its list of zones is not shared
	open   []claim
	taken  map[edge.Scope]bool // ids that are claimed anew, and whether a zone has them
	former map[*list]map[string]string
}

// claim is the id that a zone is to have, zero for none.
type claim struct {
	desired.Index
	id       edge.Scope
	formerly bool
}

// byName reports whether anything in a state is found by its name.
func byName(state desired.State) bool {
	for i := range state.Accounts {
		if state.Accounts[i].ByName {
			return true
		}
		for j := range state.Accounts[i].Zones {
			if state.Accounts[i].Zones[j].ByName {
				return true
			}
		}
	}
	return false
}

// byKey ranges over the places of a list, each with what has the same key in an earlier list;
// nil for none. Both are sorted; where they are not, there is nil more often.
func byKey[T any](before, list []T, key func(*T) string) iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		n := 0
		for i := range list {
			for n < len(before) && key(&before[n]) < key(&list[i]) {
				n++
			}
			var was *T
			if n < len(before) && key(&before[n]) == key(&list[i]) {
				was = &before[n]
				n++
			}
			if !yield(i, was) {
				return
			}
		}
	}
}

// zones has the zones of an account keep what they had, and notes those that are to claim an id.
func (r *resolver) zones(i int, was *desired.Account, last *resolved) {
	a, given := &r.now.accounts[i], r.given[i].Zones
	if was == nil {
		was = &desired.Account{}
	}
	if same(was.Zones, given) {
		a.Zones = was.Zones
	}
	r.lists[i] = r.facts.zonesOf(a.ID)
	changed := r.lists[i].changed
	for j, before := range byKey(was.Zones, given, func(z *desired.Zone) string { return z.Key }) {
		z := &given[j]
		switch {
		case z.Scope.Level == edge.LevelAccount:
			r.set(desired.Index{Account: i, Zone: j}, desired.AccountScope(*a))
		case !z.ByName:
			if before == nil || before.ByName || before.Scope != z.Scope {
				r.taken[z.Scope] = true // what is declared counts before what is found
			}
		case was.ID == a.ID && found(before, z) && !last.formerly[before.Scope] && (len(changed) == 0 || !changed[desired.FoldName(z.Name)]):
			r.set(desired.Index{Account: i, Zone: j}, before.Scope)
		default:
			r.open = append(r.open, claim{Index: desired.Index{Account: i, Zone: j}})
		}
	}
}

// found reports whether a zone of a name had an id that was found by this name before.
func found(before, z *desired.Zone) bool {
	return before != nil && before.ByName && before.Name == z.Name && !desired.Sought(before.Scope.ID)
}

// same reports whether zones are the very same as others, but for the ids that those were found
// to have.
func same(resolved, given []desired.Zone) bool {
	if len(given) == 0 || len(resolved) != len(given) {
		return false
	}
	for i := range given {
		z := given[i]
		if z.ByName || z.Scope.Level == edge.LevelAccount {
			z.Scope = resolved[i].Scope
		}
		if !z.Is(resolved[i]) {
			return false
		}
	}
	return true
}

// set gives a zone an id.
func (r *resolver) set(at desired.Index, id edge.Scope) {
	a := &r.now.accounts[at.Account]
	if a.Zones[at.Zone].Scope == id {
		return
	}
	if !r.own[at.Account] {
		a.Zones, r.own[at.Account] = slices.Clone(a.Zones), true
	}
	a.Zones[at.Zone].Scope = id
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

// claim has zones claim ids.
func (r *resolver) claim() {
	for n := range r.open {
		c := &r.open[n]
		account, z := r.now.accounts[c.Account].ID, &r.given[c.Account].Zones[c.Zone]
		if desired.Sought(account) {
			continue
		}
		l := r.lists[c.Account]
		id := l.found(z.Name)
		if c.formerly = id == ""; c.formerly {
			id = r.kept(l, z.Scope.ID, z.Name)
		}
		c.id = edge.ZoneScope(edge.ZoneID(id))
		if _, claimed := r.taken[c.id]; !claimed && id != "" {
			r.taken[c.id] = false
		}
	}
}

// contest adds the claims of the other zones to ids that are claimed.
func (r *resolver) contest() {
	open := r.open
	for i := range r.now.accounts {
		zones := r.now.accounts[i].Zones
		for j := range zones {
			at, z := desired.Index{Account: i, Zone: j}, &zones[j]
			if len(open) > 0 && open[0].Index == at {
				open = open[1:]
				continue
			}
			switch _, claimed := r.taken[z.Scope]; {
			case !claimed || z.Scope.Level == edge.LevelAccount:
			case z.ByName:
				r.open = append(r.open, claim{Index: at, id: z.Scope})
			default:
				r.taken[z.Scope] = true
			}
		}
	}
	slices.SortFunc(r.open, func(a, b claim) int { return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Zone, b.Zone)) })
}

// give gives each id to the first that claims it, and stand-ins to those that have none.
func (r *resolver) give() {
	for _, formerly := range []bool{false, true} {
		for n := range r.open {
			c := &r.open[n]
			if c.formerly != formerly {
				continue
			}
			if c.id.IsZero() || r.taken[c.id] {
				c.id = edge.ZoneScope(desired.SoughtZone(r.now.accounts[c.Account].Key, r.given[c.Account].Zones[c.Zone].Key))
			} else if r.taken[c.id] = true; formerly {
				r.now.had(c.id)
			}
			r.set(c.Index, c.id)
		}
	}
}

// had notes that a zone has an id because it had it formerly.
func (r *resolved) had(id edge.Scope) {
	if r.formerly == nil {
		r.formerly = map[edge.Scope]bool{}
	}
	r.formerly[id] = true
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
