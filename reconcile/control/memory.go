package control

import (
	"context"
	"fmt"
	"iter"
	"maps"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// memory is which settings the zones and accounts of a state are under: those that select
// them as they are declared, and those of before that they have not been allowed to leave.
type memory struct {
	settings []guard.Selector
	accounts guard.Accounts
	under    map[edge.Scope][]guard.Selection // of zones that are under more than declared
	declared map[edge.Scope][]guard.Selection // of these
	leaving  []diff.Leaving
	record   reconcile.Memory // to be put on record with the state
}

// proved returns the labels with which a zone was proved last.
type proved func(edge.Scope) (guard.Labels, bool)

// remembered is the memory of a state, after what is on record. declared says which zones it
// has, and known are the zones that have a proof.
func remembered(guards reconcile.Guards, have reconcile.Memory, state desired.State, declared func(edge.Scope) bool, known []edge.Scope, labels proved) memory {
	m := memory{
		settings: guards.Selectors(), under: map[edge.Scope][]guard.Selection{}, declared: map[edge.Scope][]guard.Selection{},
		record: reconcile.Memory{Kept: map[edge.Scope][]guard.Selection{}},
	}
	m.accounts = guards.Accounts.Declaring(idsOf(state), have.Bound)
	m.leaving = m.accounts.Leaving(m.settings)
	m.record.Bound = m.accounts.Bindings(m.settings)
	if len(m.settings) == 0 { // nothing selects a zone
		return m
	}
	leftOut := map[edge.Scope]bool{}
	for account, z := range state.EachZone() {
		m.declare(account, z, have, labels)
	}
	for _, account := range state.LeftOut {
		for _, id := range account.Zones {
			leftOut[id] = true
			kept, _ := m.before(id, have, labels)
			m.keep(id, guard.Remembered(m.settings, m.accounts, kept, guard.Selections(m.settings, m.accounts, account.ID, nil)))
		}
	}
	here := func(id edge.Scope) bool { return leftOut[id] || declared(id) }
	for _, id := range known {
		if !here(id) {
			m.undeclared(id, have, labels)
		}
	}
	for id := range have.Kept {
		if !here(id) {
			m.undeclared(id, have, labels)
		}
	}
	diff.SortLeaving(m.leaving)
	return m
}

// after is the memory of the next generation, in which these zones alone may be otherwise, or have
// another proof. The settings and the accounts are the same, and have is what is on record by now.
func (m memory) after(g *Generation, zones iter.Seq[edge.Scope], have reconcile.Memory, labels proved) memory {
	if len(m.settings) == 0 {
		return m
	}
	again := scopes{}
	m.under, m.declared, m.record.Kept = maps.Clone(m.under), maps.Clone(m.declared), maps.Clone(have.Kept)
	if m.record.Kept == nil {
		m.record.Kept = map[edge.Scope][]guard.Selection{}
	}
	for id := range zones {
		again.add(id)
		delete(m.under, id)
		delete(m.declared, id)
		delete(m.record.Kept, id)
	}
	leaving := m.leaving
	m.leaving = nil
	for _, l := range leaving {
		if _, is := again[l.Scope]; !is {
			m.leaving = append(m.leaving, l)
		}
	}
	for id := range again {
		if g.Declares(id) {
			account, z := g.At(id)
			m.declare(*account, *z, have, labels)
		} else {
			m.undeclared(id, have, labels)
		}
	}
	diff.SortLeaving(m.leaving)
	return m
}

// before is what a zone is under by what is on record, and by its last proof.
func (m *memory) before(id edge.Scope, have reconcile.Memory, labels proved) (kept, proved []guard.Selection) {
	of, _ := labels(id)
	proved = guard.Selections(m.settings, m.accounts, "", of)
	if kept, ok := have.Kept[id]; ok {
		return kept, proved
	}
	return proved, proved
}

// declare adds a declared zone, unless its id is not known.
func (m *memory) declare(account desired.Account, z desired.Zone, have reconcile.Memory, labels proved) {
	if !desired.Sought(z.Scope.ID) {
		kept, proved := m.before(z.Scope, have, labels)
		m.add(account, z, kept, proved)
	}
}

// undeclared adds a zone that is not declared.
func (m *memory) undeclared(id edge.Scope, have reconcile.Memory, labels proved) {
	if kept, ok := have.Kept[id]; ok {
		m.keep(id, guard.Remembered(m.settings, m.accounts, kept, nil))
	} else if _, proved := labels(id); proved {
		kept, _ := m.before(id, have, labels)
		m.keep(id, kept)
	}
}

// add adds a declared zone, which is under what is kept of it, and what it is declared in.
// Nothing is put on record where its last proof says the same, and the next one will.
func (m *memory) add(account desired.Account, z desired.Zone, kept, proved []guard.Selection) {
	declared := guard.Selections(m.settings, m.accounts, desired.Known(account.ID), z.Labels)
	under := guard.Remembered(m.settings, m.accounts, kept, declared)
	if !guard.SameSelections(under, declared) {
		m.under[z.Scope], m.declared[z.Scope] = under, declared
		if left := guard.LeftBy(m.settings, m.accounts, under, declared); len(left) > 0 {
			m.leaving = append(m.leaving, diff.Leaving{Account: account.Key, Zone: z.Key, Scope: z.Scope, Left: left}.Sealed(""))
		}
	}
	if !guard.SameSelections(under, declared) || !guard.SameSelections(under, proved) {
		m.record.Kept[z.Scope] = under
	}
}

// keep puts on record what a zone is under that is not declared.
func (m *memory) keep(id edge.Scope, under []guard.Selection) {
	if len(under) > 0 {
		m.record.Kept[id] = under
	}
}

// idsOf are the ids of accounts by key, where they are known.
func idsOf(state desired.State) map[string]edge.AccountID {
	ids := make(map[string]edge.AccountID, len(state.Accounts))
	add := func(key string, id edge.AccountID) {
		if !desired.Sought(id) {
			ids[key] = id
		}
	}
	for _, a := range state.Accounts {
		add(a.Key, a.ID)
	}
	for _, a := range state.LeftOut {
		add(a.Key, a.ID)
	}
	return ids
}

// declaring says which zones a state has.
func declaring(state desired.State) func(edge.Scope) bool {
	all := make(map[edge.Scope]bool, state.Zones())
	for _, z := range state.EachZone() {
		all[z.Scope] = true
	}
	return func(id edge.Scope) bool { return all[id] }
}

// remember is the memory of a generation.
func (s *state) remember(g *Generation) memory {
	if s.zones.known.follows(g) {
		return s.zones.memory.after(g, s.zones.changed(g), s.zones.onRecord, s.zones.proved)
	}
	var known []edge.Scope
	if len(s.guards.Selectors()) > 0 {
		for id := range s.zones.records {
			known = append(known, id)
		}
	}
	return remembered(s.guards, s.zones.onRecord, g.State, g.Declares, known, s.zones.proved)
}

// proved returns the labels with which a zone was proved last.
func (zs *zones) proved(id edge.Scope) (guard.Labels, bool) {
	z := zs.records[id]
	if z == nil || z.proof.Fingerprint == "" {
		return nil, false
	}
	return z.proof.Labels, true
}

// recallAnew takes what is on record after a person or another process has changed it: of any zone.
func (s *state) recallAnew(have reconcile.Memory) {
	s.zones.known.of = nil
	s.recall(have)
	s.weighAgain()
}

// recall takes what is on record in the place of what was known. What the generation in
// force adds to it counts as if it were on record, unless another process has accepted a
// commit since: it is with the next one.
func (s *state) recall(have reconcile.Memory) {
	s.zones.onRecord = have
	if g := s.current.Load(); g != nil {
		if s.zones.memory = s.remember(g); s.overtaken == "" {
			s.zones.onRecord = s.zones.memory.record
		}
	}
}

// updateMemory brings the memory up to date before a commit takes it over: another process
// may have let a zone leave settings.
func (c *Control) updateMemory(ctx context.Context) error {
	if len(c.Guards.Selectors()) == 0 {
		return nil
	}
	if err := c.readStanding(ctx); err != nil {
		return err
	}
	return c.readMemory(ctx)
}

// readMemory takes what another process has let leave since.
func (c *Control) readMemory(ctx context.Context) error {
	c.mu.Lock()
	stale, mark := c.state.zones.departed != c.state.zones.departedOnRecord, c.state.mark
	c.mu.Unlock()
	if !stale {
		return nil
	}
	// Of zones and declarations it is taken in with the next commit.
	record, err := c.since(ctx, reconcile.Known{Mark: mark, Part: func(sum) bool { return true }})
	if err != nil {
		return fmt.Errorf("recalling what zones have left: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.zones.departed = record.Departures
	c.state.recallAnew(record.Memory)
	return nil
}
