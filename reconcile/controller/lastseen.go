package controller

import (
	"maps"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// lastSeen keeps what the entry points of each zone were when it was read last, and what the
// accounts of each lane have. Many zones can then be planned without a request: to count what
// a commit changes, or to show how a fleet is. It is safe for concurrent use.
//
// It is never the ground for a write: each write reads first. What was written is
// forgotten before it is sent, so that nothing here is older than our own writes.
type lastSeen struct {
	of       reconcile.Lanes
	accounts []accountsSeen // of each lane
	looks    *zone.Looks    // at earlier phases
	names    zone.Names     // know the plans of zones

	mu    sync.Mutex
	zones map[edge.Scope]zone.Places
	plans map[edge.Scope]*diff.Memory
	away  map[edge.Scope]bool // read here though another process works on them: to count a commit, or with the last of a lease
}

// accountsSeen is what is known of the accounts of one lane.
type accountsSeen struct {
	*zone.Accounts
	indexes *diff.Indexes
}

func newLastSeen(of reconcile.Lanes, names zone.Names, guards reconcile.Guards) *lastSeen {
	s := &lastSeen{of: of, names: names, looks: zone.NewLooks(guards.Looking, time.Now), zones: map[edge.Scope]zone.Places{}, plans: map[edge.Scope]*diff.Memory{}, away: map[edge.Scope]bool{}}
	for _, credential := range of.All {
		accounts := zone.NewAccounts(credential.Reader, time.Now)
		accounts.Documented, accounts.Urgent = guards.Documented, true
		s.accounts = append(s.accounts, accountsSeen{accounts, &diff.Indexes{}})
	}
	return s
}

// put keeps what was seen, in the place of what there is.
func (s *lastSeen) put(id edge.Scope, seen zone.Places) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zones[id] = seen
}

// drop forgets what was seen of a zone.
func (s *lastSeen) drop(id edge.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.zones, id)
}

// leave forgets what was seen of zones that another process works on from now on.
func (s *lastSeen) leave(g *control.Generation, theirs func(edge.Scope) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range g.Zones() {
		if theirs(id) {
			s.forget(id)
		}
	}
}

// readAway notes that a zone was read here which another process works on.
func (s *lastSeen) readAway(id edge.Scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away[id] = true
}

// forgetAway forgets what was seen of such zones: others have written to them since. theirs reports
// whether another process still works on a zone.
func (s *lastSeen) forgetAway(theirs func(edge.Scope) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.away {
		if theirs(id) {
			s.forget(id)
		}
	}
}

// forget forgets a zone; the caller holds the lock.
func (s *lastSeen) forget(id edge.Scope) {
	delete(s.zones, id)
	delete(s.plans, id)
	delete(s.away, id)
}

// memory spares planning a zone again where nothing differs. Only who works on the zone may
// use it.
func (s *lastSeen) memory(id edge.Scope) *diff.Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.plans[id]
	if m == nil {
		m = m.Renew()
		s.plans[id] = m
	}
	return m
}

// keep forgets the zones that a generation does not declare any more. What a look has put here of
// a zone that was gone by then is forgotten as soon as there is more than zones are declared.
func (s *lastSeen) keep(g *control.Generation, gone []edge.Scope) {
	for _, accounts := range s.accounts {
		accounts.Keep(g.State)
	}
	s.looks.Forget(gone, g.State.Zones(), g.Declares)
	s.mu.Lock()
	defer s.mu.Unlock()
	zone.Forget(s.zones, gone, g.State.Zones(), g.Declares)
	zone.Forget(s.plans, gone, g.State.Zones(), g.Declares)
	maps.DeleteFunc(s.away, func(id edge.Scope, _ bool) bool { return !g.Declares(id) })
}

// plan plans a zone from what was last seen of it and of its account; false where that is
// not known.
func (s *lastSeen) plan(t zone.Task) (diff.Plan, bool) {
	sight, known := s.sight(t)
	if !known {
		return diff.Plan{}, false
	}
	t.Today = time.Now()
	return zone.Plan(t, sight, s.accounts[s.of.Index(t.Account().Key)].indexes), true
}

// sight is what was last seen of a zone and of its account; false where that is not known, or
// not all that the zone declares.
func (s *lastSeen) sight(t zone.Task) (zone.Sight, bool) {
	i := s.of.Index(t.Account().Key)
	s.mu.Lock()
	places, seen := s.zones[t.Zone().Scope]
	s.mu.Unlock()
	if i < 0 || !seen {
		return zone.Sight{}, false
	}
	account, known := s.accounts[i].Last(t.Account())
	sight := zone.Sight{Account: account, Places: places, Plan: s.names.Plan(t.Account().ID, t.Zone().Scope), Ahead: s.accounts[i].WithAhead(t.Account().ID, s.looks.Of(t.Zone()))}
	return sight, known && sight.Covers(t.Zone(), t.Prunable)
}

// read reports whether the entry points of a zone are known, if only that there are none.
func (s *lastSeen) read(id edge.Scope) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, seen := s.zones[id]
	return seen
}

// ahead is what was seen of a place in an earlier phase, of an account of a state or of one of
// its zones; false where no one looks there.
func (s *lastSeen) ahead(state desired.State) func(edge.Place) (diff.Ahead, bool) {
	of := map[edge.Scope]int{}
	for _, account := range state.Accounts {
		of[edge.AccountScope(account.ID)] = s.of.Index(account.Key)
	}
	return func(place edge.Place) (diff.Ahead, bool) {
		id, account := place.Scope.Account()
		if !account {
			return s.looks.At(place)
		}
		if i, known := of[place.Scope]; known && i >= 0 {
			return s.accounts[i].Ahead(id), true
		}
		return diff.Ahead{}, false
	}
}

// ruleset is the id of a managed ruleset, as last listed; empty where that is not known.
func (s *lastSeen) ruleset(of desired.Account, ref desired.RulesetRef) edge.RulesetID {
	if i := s.of.Index(of.Key); i >= 0 {
		return s.accounts[i].Named(of, ref)
	}
	return ""
}
