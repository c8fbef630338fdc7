package control

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// A commit that declares a few zones otherwise, in a fleet of any size, costs what these cost: limits,
// the memory of settings and the sets below are kept from one generation to the next. What they are
// made of is the declaration of each zone, what it was before its commit, and what is on record of it.
// Whatever changes one of these notes the zone as moved, and the next generation looks at those alone.

// scopes is a set of zones.
type scopes map[edge.Scope]struct{}

func (s scopes) add(id edge.Scope) { s[id] = struct{}{} }

// known is what is kept of zones from one generation to the next.
type known struct {
	// of is the generation for which limits, memory and work are right but for moved zones; nil: for
	// none, and they are made anew.
	of    *identity
	moved scopes
	work  scopes // zones of that generation whose declaration was not proved
	loose scopes // zones on record that may not be declared
}

func newKnown() known { return known{moved: scopes{}, work: scopes{}, loose: scopes{}} }

// follows reports whether what is known is of the generation that another one came out of.
func (k *known) follows(g *Generation) bool {
	return k.of != nil && g.since != nil && g.since.before == k.of
}

// move notes what a generation has otherwise than the one before it. What accounts are under decides
// about all of their zones.
func (zs *zones) move(before, g *Generation) {
	zs.loosen(before, g)
	if !zs.known.follows(g) {
		return
	}
	accounts := zs.memory.accounts
	if len(g.State.LeftOut)+len(before.State.LeftOut) > 0 || !maps.Equal(accounts.IDs, idsOf(g.State)) || !maps.Equal(accounts.Bound, zs.onRecord.Bound) {
		zs.known.of = nil
		return
	}
	for _, id := range g.since.is {
		zs.known.moved.add(id)
	}
	for _, id := range g.since.gone {
		zs.known.moved.add(id)
	}
	for _, earlier := range []iter.Seq[edge.Scope]{maps.Keys(before.earlier), maps.Keys(g.earlier)} {
		for id := range earlier {
			zs.known.moved.add(id)
		}
	}
}

// loosen notes the zones on record that a generation may not declare any more, whether or not the rest
// of what is known is of the one before it.
func (zs *zones) loosen(before, g *Generation) {
	if step := g.after(before); step != nil {
		for _, id := range step.gone {
			zs.known.loose.add(id)
		}
		return
	}
	for id := range zs.records {
		zs.known.loose.add(id)
	}
}

// changed are the zones of a generation about which limits and memory may have to say something
// else than before: those that have moved, or all that it declares.
func (zs *zones) changed(g *Generation) iter.Seq[edge.Scope] {
	if zs.known.follows(g) {
		return maps.Keys(zs.known.moved)
	}
	return g.Zones()
}

// follow has what is known be of a generation, for which limits and memory were brought up to date.
func (zs *zones) follow(g *Generation) {
	if !zs.known.follows(g) {
		zs.known.work = scopes{}
	}
	for id := range zs.changed(g) {
		zs.weigh(g, id)
	}
	maps.DeleteFunc(zs.known.loose, func(id edge.Scope, _ struct{}) bool { return g.Declares(id) || zs.records[id] == nil })
	zs.known.of, zs.known.moved = g.self, scopes{}
}

// weigh notes whether a zone is commit work.
func (zs *zones) weigh(g *Generation, id edge.Scope) {
	if g.Declares(id) && zs.unproved(g, id) {
		zs.known.work.add(id)
	} else {
		delete(zs.known.work, id)
	}
}

// commitWork are the zones whose declaration was not proved, in their order.
func (zs *zones) commitWork(g *Generation) (ids []edge.Scope) {
	if zs.known.of == g.self {
		return g.inOrder(maps.Keys(zs.known.work))
	}
	for id := range g.Zones() {
		if zs.unproved(g, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// inOrder are some of its zones in the order of all.
func (g *Generation) inOrder(zones iter.Seq[edge.Scope]) []edge.Scope {
	return slices.SortedFunc(zones, func(a, b edge.Scope) int { return cmp.Compare(g.places[a].number, g.places[b].number) })
}

// undeclared are the zones on record that a generation does not declare; none while the
// id of a zone is not known: one of them may be the one that is sought.
func (zs *zones) undeclared(g *Generation) (ids []edge.Scope) {
	if g.sought > 0 {
		return nil
	}
	for id := range zs.known.loose {
		if _, there := zs.records[id]; there && !g.Declares(id) {
			ids = append(ids, id)
		}
	}
	return ids
}
