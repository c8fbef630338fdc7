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
	places map[edge.Scope]place
	labels map[edge.Scope]guard.Labels
	prints []string // of all zones, by number

	self    *identity
	since   *step         // how it came out of the one before; nil: not zone by zone
	earlier guard.Earlier // what zones were before its commit
}

// place is where a zone is in the state; number is its place among all zones, from 0.
type place struct{ account, zone, number int }

// identity tells generations apart, and keeps none of them in memory.
type identity struct{ _ byte }

// step is how a generation came out of the one before, where both have the same zones: these
// were replaced, and these of them declare something else. All other zones are the very same.
type step struct {
	before   *identity
	replaced []desired.Index
	changed  map[edge.Scope]bool
}

// newGeneration prepares a state. Where it has the zones of the generation before, with those
// that a commit touches in their places, the rest is shared with that.
func newGeneration(state desired.State, before *Generation) *Generation {
	if before != nil {
		if replaced, ok := desired.Replaced(before.State, state); ok {
			return before.with(state, replaced)
		}
	}
	n := state.Zones()
	g := &Generation{
		self: new(identity), State: state, size: sizeOf(state), places: make(map[edge.Scope]place, n),
		labels: make(map[edge.Scope]guard.Labels, n), prints: make([]string, 0, n),
	}
	var changed map[edge.Scope]bool
	if before != nil {
		changed = diff.ChangedZones(before.State, state)
	}
	for i, account := range state.Accounts {
		for j, z := range account.Zones {
			g.places[z.Scope], g.labels[z.Scope] = place{i, j, len(g.prints)}, z.Labels
			fingerprint := ""
			if before != nil && !changed[z.Scope] {
				fingerprint = before.declaration(z.Scope)
			}
			if fingerprint == "" {
				fingerprint = z.Fingerprint(account)
			}
			g.prints = append(g.prints, fingerprint)
		}
	}
	return g
}

// with is the generation after g in which zones were replaced.
func (g *Generation) with(state desired.State, replaced []desired.Index) *Generation {
	next := &Generation{
		self: new(identity), State: state, size: g.size, places: g.places, labels: g.labels, prints: slices.Clone(g.prints),
		since: &step{before: g.self, replaced: replaced, changed: diff.Changed(g.State, state, replaced)},
	}
	next.size.Tokens = len(state.Tokens)
	ownLabels := false
	for _, at := range replaced {
		account, was := state.Accounts[at.Account], g.State.Accounts[at.Account].Zones[at.Zone]
		z := account.Zones[at.Zone]
		next.size.Deployments += len(z.Deployments) - len(was.Deployments)
		next.size.Others += len(z.Others) - len(was.Others)
		if !maps.Equal(z.Labels, was.Labels) {
			if !ownLabels {
				next.labels, ownLabels = maps.Clone(g.labels), true
			}
			next.labels[z.Scope] = z.Labels
		}
		if next.since.changed[z.Scope] {
			next.prints[g.places[z.Scope].number] = z.Fingerprint(account)
		}
	}
	return next
}

// after is how g came out of a generation; nil where that is not known zone by zone.
func (g *Generation) after(before *Generation) *step {
	if g == nil || before == nil || g.since == nil || g.since.before != before.self {
		return nil
	}
	return g.since
}

// Replaced are the zones that g has otherwise than the generation before it: all others are the
// very same. It is false where g has not the same zones, or did not come out of that one.
func (g *Generation) Replaced(before *Generation) ([]edge.Scope, bool) {
	step := g.after(before)
	if step == nil {
		return nil, false
	}
	ids := make([]edge.Scope, len(step.replaced))
	for i, at := range step.replaced {
		ids[i] = g.State.Accounts[at.Account].Zones[at.Zone].Scope
	}
	return ids, true
}

// Task is a zone as this generation declares it, false where it does not.
func (g *Generation) Task(id edge.Scope) (zone.Task, bool) {
	at, ok := g.places[id]
	if !ok {
		return zone.Task{}, false
	}
	return zone.Task{State: zone.Of(g.State, at.account, at.zone), Fingerprint: g.prints[at.number]}, true
}

// Declares reports whether a zone is declared.
func (g *Generation) Declares(id edge.Scope) bool {
	_, ok := g.places[id]
	return ok
}

// Number is the place of a zone in [Generation.Zones], from 0; false where it is not declared.
func (g *Generation) Number(id edge.Scope) (int, bool) {
	at, ok := g.places[id]
	return at.number, ok
}

// declaration is the fingerprint of a zone's declaration, empty where it is not declared.
func (g *Generation) declaration(id edge.Scope) string {
	if at, ok := g.places[id]; ok {
		return g.prints[at.number]
	}
	return ""
}

// Zones ranges over the declared zones.
func (g *Generation) Zones() iter.Seq[edge.Scope] {
	return func(yield func(edge.Scope) bool) {
		for _, z := range g.State.EachZone() {
			if !yield(z.Scope) {
				return
			}
		}
	}
}

// sizeOf is how much a state declares.
func sizeOf(s desired.State) guard.Size {
	return guard.Size{Zones: s.Zones(), Deployments: s.Deployments(), Tokens: len(s.Tokens), Others: s.Others()}
}
