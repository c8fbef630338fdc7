package control

import (
	"iter"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Generation is an accepted commit's declarations, ready to be worked on zone by
// zone. It is never changed; the next commit is another one.
type Generation struct {
	State desired.State

	size   guard.Size // how much it declares
	sought int        // zones of which the id is not known
	places map[edge.Scope]place
	labels map[edge.Scope]guard.Labels
	prints [][]string // of all zones, as the accounts have them

	self    *identity
	since   *step         // how it came out of the one before; nil: it is the first
	earlier guard.Earlier // what zones were before its commit
}

// place is where a zone is in the state; number is its place among all zones, from 0.
type place struct {
	desired.Index
	number int
}

// identity tells generations apart, and keeps none of them in memory.
type identity struct{ _ byte }

// step is how a generation came out of the one before: these zones were there or are there now, and
// these declare something else. All other zones are the very same.
type step struct {
	desired.Difference
	before  *identity
	changed map[edge.Scope]bool
	gone    []edge.Scope // that are declared no longer
	is      []edge.Scope // of [desired.Difference.Is]
}

// newGeneration prepares a state. What it has in common with the generation before, if there is one,
// is shared with that or copied, and not worked out again.
func newGeneration(state desired.State, before *Generation) *Generation {
	g := &Generation{self: new(identity), State: state}
	if before == nil {
		before = &Generation{}
	}
	differ := desired.Differ(before.State, state)
	changed := diff.Changed(before.State, state, differ)
	g.size, g.sought = before.size, before.sought
	g.count(before.State, differ.Was, -1)
	g.count(state, differ.Is, 1)
	g.size.Tokens = len(state.Tokens)
	if differ.Same {
		g.share(before, differ.Is, changed)
	} else {
		g.copy(before, changed)
	}
	if before.self != nil {
		g.since = &step{Difference: differ, before: before.self, changed: changed}
		for _, at := range differ.Was {
			if _, z := at.In(before.State); !g.Declares(z.Scope) {
				g.since.gone = append(g.since.gone, z.Scope)
			}
		}
		for _, at := range differ.Is {
			_, z := at.In(state)
			g.since.is = append(g.since.is, z.Scope)
		}
	}
	return g
}

// count has zones at some places of a state count so many times.
func (g *Generation) count(state desired.State, at []desired.Index, times int) {
	for _, at := range at {
		_, z := at.In(state)
		g.size.Zones += times
		g.size.Deployments += times * len(z.Deployments)
		g.size.Others += times * z.Guarded()
		if desired.Sought(z.Scope.ID) {
			g.sought += times
		}
	}
}

// share has what the generation before has, which has the same zones at the same places.
func (g *Generation) share(before *Generation, is []desired.Index, changed map[edge.Scope]bool) {
	g.places, g.labels, g.prints = before.places, before.labels, slices.Clone(before.prints)
	ownLabels, own := false, map[int]bool{}
	for _, at := range is {
		account, z := at.In(g.State)
		if !maps.Equal(g.labels[z.Scope], z.Labels) {
			if !ownLabels {
				g.labels, ownLabels = maps.Clone(g.labels), true
			}
			g.labels[z.Scope] = z.Labels
		}
		if !changed[z.Scope] {
			continue
		}
		if at := g.places[z.Scope]; !own[at.Account] {
			g.prints[at.Account], own[at.Account] = slices.Clone(g.prints[at.Account]), true
		}
		g.print(g.places[z.Scope].Index, z.Fingerprint(*account))
	}
}

func (g *Generation) print(at desired.Index, fingerprint string) {
	g.prints[at.Account][at.Zone] = fingerprint
}

// copy puts the zones at their places.
func (g *Generation) copy(before *Generation, changed map[edge.Scope]bool) {
	n, number := g.State.Zones(), 0
	g.places, g.labels, g.prints = make(map[edge.Scope]place, n), make(map[edge.Scope]guard.Labels, n), make([][]string, len(g.State.Accounts))
	for i := range g.State.Accounts {
		account := &g.State.Accounts[i]
		g.prints[i] = make([]string, len(account.Zones))
		for j := range account.Zones {
			z, at := &account.Zones[j], desired.Index{Account: i, Zone: j}
			g.places[z.Scope], g.labels[z.Scope] = place{at, number}, z.Labels
			fingerprint := before.declaration(z.Scope)
			if changed[z.Scope] {
				fingerprint = z.Fingerprint(*account)
			}
			g.print(at, fingerprint)
			number++
		}
	}
}

// after is how g came out of a generation; nil where it came out of another one.
func (g *Generation) after(before *Generation) *step {
	if g == nil || before == nil || g.since == nil || g.since.before != before.self {
		return nil
	}
	return g.since
}

// Same reports whether two generations are of the same decision. One of them may hold values of the
// declarations that lie elsewhere in memory; see [Control.Adopt].
func (g *Generation) Same(as *Generation) bool {
	return g == as || g != nil && as != nil && g.self != nil && g.self == as.self
}

// is tells it from others without holding it; nil for none.
func (g *Generation) is() *identity {
	if g == nil {
		return nil
	}
	return g.self
}

// Differs returns the zones that g has otherwise than a generation, and reports whether it has the
// same zones at the same places: all others are the very same as there. It is false where g did not
// come out of that one.
func (g *Generation) Differs(before *Generation) (zones []edge.Scope, same, ok bool) {
	if g != nil && g.Same(before) {
		return nil, true, true
	}
	step := g.after(before)
	if step == nil {
		return nil, false, false
	}
	return step.is, step.Same, true
}

// Task is a zone as this generation declares it, false where it does not.
func (g *Generation) Task(id edge.Scope) (zone.Task, bool) {
	at, ok := g.places[id]
	if !ok {
		return zone.Task{}, false
	}
	return zone.Task{State: zone.Of(g.State, at.Account, at.Zone), Fingerprint: g.prints[at.Account][at.Zone]}, true
}

// Declares reports whether a zone is declared.
func (g *Generation) Declares(id edge.Scope) bool {
	_, ok := g.places[id]
	return ok
}

// Named reports whether it declares a zone or an account by its name.
func (g *Generation) Named() bool {
	for a, z := range g.State.EachZone() {
		if z.Name != "" || a.Name != "" {
			return true
		}
	}
	return false
}

// Number is the place of a zone in [Generation.Zones], from 0; false where it is not declared.
func (g *Generation) Number(id edge.Scope) (int, bool) {
	at, ok := g.places[id]
	return at.number, ok
}

// Proves reports whether a proof, given by its fingerprint, is of what is declared for a zone.
func (g *Generation) Proves(id edge.Scope, fingerprint string) bool {
	return fingerprint != "" && g.declaration(id) == fingerprint
}

// declaration is the fingerprint of a zone's declaration, empty where it is not declared.
func (g *Generation) declaration(id edge.Scope) string {
	if at, ok := g.places[id]; ok {
		return g.prints[at.Account][at.Zone]
	}
	return ""
}

// At is a declared zone, with its account. Neither may be changed.
func (g *Generation) At(id edge.Scope) (*desired.Account, *desired.Zone) {
	return g.places[id].In(g.State)
}

// Zones ranges over the declared zones.
func (g *Generation) Zones() iter.Seq[edge.Scope] {
	return func(yield func(edge.Scope) bool) {
		for i := range g.State.Accounts {
			zones := g.State.Accounts[i].Zones
			for j := range zones {
				if !yield(zones[j].Scope) {
					return
				}
			}
		}
	}
}

// sizeOf is how much a state declares.
func sizeOf(s desired.State) guard.Size {
	return guard.Size{Zones: s.Zones(), Deployments: s.Deployments(), Tokens: len(s.Tokens), Others: s.Guarded()}
}
