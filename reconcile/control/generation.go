package control

import (
	"iter"

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
	prints map[edge.Scope]string

	earlier guard.Earlier // what zones were before its commit
}

// place is where a zone is in the state; number is its place among all zones, from 0.
type place struct{ account, zone, number int }

// newGeneration prepares a state. Zones that before declares the same keep their
// fingerprints: a commit that touches one zone costs one.
func newGeneration(state desired.State, before *Generation) *Generation {
	n := state.Zones()
	g := &Generation{
		State: state, size: sizeOf(state), places: make(map[edge.Scope]place, n),
		labels: make(map[edge.Scope]guard.Labels, n), prints: make(map[edge.Scope]string, n),
	}
	known := map[edge.Scope]string{}
	if before != nil {
		changed := diff.ChangedZones(before.State, state)
		for id, fingerprint := range before.prints {
			if !changed[id] {
				known[id] = fingerprint
			}
		}
	}
	number := 0
	for i, account := range state.Accounts {
		for j, z := range account.Zones {
			g.places[z.Scope], g.labels[z.Scope] = place{i, j, number}, z.Labels
			number++
			fingerprint, ok := known[z.Scope]
			if !ok {
				fingerprint = z.Fingerprint(account)
			}
			g.prints[z.Scope] = fingerprint
		}
	}
	return g
}

// Task is a zone as this generation declares it, false where it does not.
func (g *Generation) Task(id edge.Scope) (zone.Task, bool) {
	at, ok := g.places[id]
	if !ok {
		return zone.Task{}, false
	}
	return zone.Task{State: zone.Of(g.State, at.account, at.zone), Fingerprint: g.prints[id]}, true
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
func (g *Generation) declaration(id edge.Scope) string { return g.prints[id] }

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
