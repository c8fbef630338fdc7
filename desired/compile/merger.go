package compile

import (
	"reflect"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/meet"
)

// Merger is [Merge] for one commit after the other. Where a commit changes nothing but zones in
// folders that were there before, it costs what these folders cost, beside a copy of the list
// of zones: all else is shared with the state before. Any other commit is merged as a whole.
// The zero value has merged nothing. It is not safe for concurrent use.
//
// What it returns is what Merge does. Neither units nor states may be changed.
type Merger struct {
	units    map[string]Unit // of the commit before, by folder; nil: it is merged as a whole
	several  map[zoneKey]bool
	state    desired.State
	problems []desired.Problem // warnings
	own      meet.Own          // of the tokens
	whole    int               // how many commits were merged as a whole, for tests
}

// zoneKey names a zone of a repository.
type zoneKey struct{ account, zone string }

// Merge is [Merge] of the next commit.
func (m *Merger) Merge(units []Unit, commit string) (desired.State, []desired.Problem) {
	if next, ok := m.next(units); ok {
		m.state = next.at(commit)
		return m.state, problemsAt(m.problems, commit)
	}
	m.whole++
	merging, state, problems := merge(units, commit)
	*m = Merger{whole: m.whole}
	if len(desired.Errors(problems)) > 0 {
		return state, problems
	}
	m.state, m.problems, m.several, m.own = state, problems, merging.several, meet.OwnAddresses(state.Tokens)
	m.units = make(map[string]Unit, len(units))
	for _, u := range units {
		m.units[u.Dir] = u
	}
	if len(m.units) < len(units) {
		m.units = nil // folders are told apart by their names
	}
	return state, problems
}

// next is the state of a commit that changes zones alone; false where it changes anything else.
func (m *Merger) next(units []Unit) (patched, bool) {
	if m.units == nil || len(units) != len(m.units) {
		return patched{}, false
	}
	p := patched{state: m.state, own: m.own, copied: map[int]bool{}}
	var fresh []Unit
	for _, u := range units {
		before, known := m.units[u.Dir]
		switch {
		case !known:
			return patched{}, false
		case u.is(before):
			continue
		case !u.declaresBesides(before):
			return patched{}, false
		}
		for i, a := range u.Accounts {
			if !p.zones(a.Key, before.Accounts[i].Zones, a.Zones, m.several) {
				return patched{}, false
			}
		}
		fresh = append(fresh, u)
	}
	if !p.apply() {
		return patched{}, false
	}
	for _, u := range fresh {
		m.units[u.Dir] = u
	}
	return p, true
}

// is reports whether two units are the very same: one that was kept, or copies of it.
func (u Unit) is(o Unit) bool {
	return u.User == o.User && sameList(u.Accounts, o.Accounts) && sameList(u.Tokens, o.Tokens) && sameList(u.Integrations, o.Integrations) &&
		sameList(u.Calendar, o.Calendar) && sameList(u.Tests, o.Tests) && sameList(u.Named, o.Named) && sameList(u.Problems, o.Problems)
}

func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// declaresBesides reports whether two readings of a folder declare the same at the same
// places, but for what is declared in zones, and no mistakes.
func (u Unit) declaresBesides(o Unit) bool {
	return len(u.Problems) == 0 && len(o.Problems) == 0 && reflect.DeepEqual(u.bare(), o.bare())
}

// bare is a unit without the zones of its accounts, and without what it was read from.
func (u Unit) bare() Unit {
	u.Looked = nil
	u.Accounts = slices.Clone(u.Accounts)
	for i := range u.Accounts {
		u.Accounts[i].Zones = nil
	}
	return u
}

// at is the state at a commit.
func (p patched) at(commit string) desired.State {
	s := bareZones(p.state, func(s desired.State) desired.State { return stamped(s, commit) })
	s.Commit = commit
	return s
}

// bareZones does something to a state without the zones of its accounts, which stay as they are.
func bareZones(s desired.State, do func(desired.State) desired.State) desired.State {
	accounts := s.Accounts
	s.Accounts = slices.Clone(accounts)
	for i := range s.Accounts {
		s.Accounts[i].Zones = nil
	}
	s = do(s)
	for i := range s.Accounts {
		s.Accounts[i].Zones = accounts[i].Zones
	}
	return s
}

// stamped is a declaration with every origin at a commit. What it is made from stays as it is.
func stamped[T any](v T, commit string) T {
	if commit == "" {
		return v
	}
	return desired.MapOrigins(v, func(o desired.Origin) desired.Origin { return o.At(commit) })
}

func problemsAt(problems []desired.Problem, commit string) []desired.Problem {
	if len(problems) == 0 {
		return nil
	}
	return stamped(problems, commit)
}

// severally notes that a zone is declared by more than one folder.
func (m *merger) severally(account, zone string) {
	if m.several == nil {
		m.several = map[zoneKey]bool{}
	}
	m.several[zoneKey{account, zone}] = true
}
