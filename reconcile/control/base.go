package control

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What a commit is measured by, for limits and shrink: the zones that were there before it
// and exist, whatever it adds.

// exists reports whether the entry point of a zone was read, or found not to be there, at
// least once.
func (zs *zones) exists(id edge.Scope) bool {
	z, known := zs.records[id]
	return known && (z.read || z.proof.Fingerprint != "" || len(z.applied) > 0)
}

// goOn takes over from an earlier list what is not on record: which zones were read, and what work
// that goes on has come to so far.
func (zs *zones) goOn(earlier zones) {
	for id, before := range earlier.records {
		if before.goesOn() {
			z := zs.of(id)
			z.read, z.sent, z.under, z.settled = before.read, before.sent, before.under, slices.Clone(before.settled)
		}
	}
}

// goesOn reports whether something is known of a zone that is not on record.
func (z *zoneRecord) goesOn() bool { return z.read || z.sent || z.under != "" }

// Read tells that the platform has answered for a zone: it exists.
func (c *Control) Read(id edge.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.read(id)
}

func (s *state) read(id edge.Scope) {
	z, g := s.zones.of(id), s.current.Load()
	if z.read {
		return
	}
	z.read = true
	if g != nil && g.Declares(id) {
		s.measure(g, id)
	}
}

// lately are the declared zones that exist as was read here, and as nothing on record said when the
// commit was accepted.
func (s *state) lately(g *Generation) (list []edge.Scope) {
	for id, z := range s.zones.records {
		if z.read && (z.proof.Fingerprint == "" || z.proof.Commit == g.State.Commit) && g.Declares(id) {
			list = append(list, id)
		}
	}
	return list
}

// join has what all processes have counted count here, and the zones exist that another one has read.
func (s *state) join(list []reconcile.Count, commit, here string) {
	before := s.limits.whole
	s.limits.join(list, commit, here)
	if whole := s.limits.whole; whole != before {
		for _, id := range whole.Read {
			s.read(id)
		}
	}
}

// measure has a declared zone that exists count for shares.
func (s *state) measure(g *Generation, id edge.Scope) {
	if !s.limits.on || !g.Declares(id) || !s.zones.exists(id) {
		return
	}
	labels := []guard.Labels{g.labels[id]}
	if proof := s.zones.of(id).proof; proof.Fingerprint != "" {
		labels = append(labels, proof.Labels)
	}
	s.limits.driftBase.Add(id, labels...)
	if was, there := g.earlier.Labels(id, g.labels[id]); there {
		s.limits.commitBase.Add(id, append(labels[1:], was)...)
	}
}

// measureAgain has a zone count as it is now, in the place of how it counted before.
func (s *state) measureAgain(g *Generation, id edge.Scope) {
	if s.limits.on {
		s.limits.driftBase.Drop(id)
		s.limits.commitBase.Drop(id)
		s.measure(g, id)
	}
}

// earlier compares a generation with what was in force before it.
func (s *state) earlier(before, next *Generation) guard.Earlier {
	switch {
	case next.State.Commit == s.accepted.Commit && next.State.Commit != "":
		return s.accepted.Earlier // it is the accepted one, whose declarations were not at hand
	case before != nil && before.State.Commit == s.accepted.Commit:
		return guard.EarlierOf(before.State, next.State, next.after(before).Difference)
	case s.accepted.Commit == "":
		return nil
	}
	return notOnRecord(next.State, s.zones.exists)
}

// notOnRecord has those zones of a state as new that are not on record: what was in force
// before is not at hand.
func notOnRecord(state desired.State, known func(edge.Scope) bool) guard.Earlier {
	earlier := guard.Earlier{}
	for _, z := range state.EachZone() {
		if !known(z.Scope) {
			earlier[z.Scope] = nil
		}
	}
	return earlier
}

// renamedEarlier is that of a generation in which zones have other ids.
func renamedEarlier(e guard.Earlier, ids map[edge.Scope]edge.Scope) guard.Earlier {
	if len(e) == 0 || len(ids) == 0 {
		return e
	}
	renamed := make(guard.Earlier, len(e))
	for id, labels := range e {
		if now, other := ids[id]; other {
			id = now
		}
		renamed[id] = labels
	}
	return renamed
}

// loss is what of the accepted commit a generation no longer declares; nothing where it declares
// all of it.
func (s *state) loss(after *Generation) guard.Loss {
	var loss guard.Loss
	g, next := s.current.Load(), after.State
	if g != nil {
		loss = guard.LossOf(g.State, next, after.after(g).Difference, guard.Known{Exists: s.zones.exists, Ruleset: s.ruleset})
	}
	if s.accepted.Commit == "" || g != nil && g.State.Commit == s.accepted.Commit {
		return loss
	}
	onRecord := guard.LossOnRecord(s.zones.sizes(), next) // the accepted declarations are not at hand
	if f := (guard.Facts{Shrink: s.guards.Shrink, Loss: onRecord}); g == nil || f.Shrunk() {
		return onRecord
	}
	return loss
}

// sizes counts what is on record of each zone that was proved or written.
func (zs *zones) sizes() map[edge.Scope]guard.Size {
	counts := map[edge.Scope]guard.Size{}
	for id, z := range zs.records {
		if z.proof.Fingerprint == "" && len(z.applied) == 0 {
			continue
		}
		size := guard.Size{}
		for _, a := range z.applied {
			switch kind := a.id.Kind; {
			case kind == "":
				size.Deployments++
			case !kind.Skips():
				size.Others++
			}
		}
		counts[id] = size
	}
	return counts
}
