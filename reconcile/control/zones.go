package control

import (
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// zoneRecord is what is on record of one zone.
type zoneRecord struct {
	proof   reconcile.Proof
	applied perID[[]diff.Member] // what its deployments own; replaced, and never written to
	// prunable are those of its deployments that may be removed; replaced, and never
	// written to.
	prunable diff.Pruning
	unkept   map[diff.ID]unkept
	settled  perID[bool]        // live, or else removed: proved under settling, while others are not yet
	under    string             // the fingerprint that settled is about
	sent     bool               // a write was let pass since the last proof
	read     bool               // the platform has answered for it in this process
	skips    skipRules          // as the last look has seen them, and what the history has of them
	recalled bool               // the latter was read
	found    map[diff.ID]string // drift that is not corrected and is in the history, by the fingerprints of the changes that would
}

// zones is what is on record of each zone.
type zones struct {
	records map[edge.Scope]*zoneRecord
	known   known
	ours    scopes // that this process has put something on record of since it was read: it may know more than what is there
	reports bool   // as [reconcile.Guards.ReportUnmanaged]

	memory           memory           // of the generation in force
	onRecord         reconcile.Memory // what was on record before it
	departed         int64            // how many departures onRecord has
	departedOnRecord int64
}

// zonesOf sorts a record by zone. The memory is that of the generation in force.
func zonesOf(record reconcile.Record, now time.Time, memory memory) zones {
	zones := zones{
		records: map[edge.Scope]*zoneRecord{}, known: newKnown(), ours: scopes{}, memory: memory, onRecord: record.Memory, departed: record.Departures, departedOnRecord: record.Departures,
	}
	for id, proof := range record.Proofs {
		zones.of(id).proof = proof
	}
	for id, owned := range record.Applied {
		zones.of(id.Scope).applied.put(id, owned)
	}
	for id, p := range record.Prunable {
		zones.of(id.Scope).mark(id, &p)
	}
	for id, fingerprint := range record.NonConvergent {
		zones.of(id.Scope).recallUnkept(id, fingerprint, record.Tries[id], now)
	}
	return zones
}

// of returns the record of a zone, a new one where there is none.
func (zs *zones) of(id edge.Scope) *zoneRecord {
	z := zs.records[id]
	if z == nil {
		z = &zoneRecord{}
		zs.records[id] = z
		zs.known.loose.add(id)
	}
	return z
}

// task is a declared zone, with what of it is owned.
func (zs *zones) task(g *Generation, id edge.Scope) zone.Task {
	t, _ := g.Task(id)
	t.Applied, t.Prunable, t.Reports = zs.of(id).applied.all(), zs.of(id).prunable, zs.reports
	return t
}

// unproved reports whether a zone's declaration is another one than was last proved there.
func (zs *zones) unproved(g *Generation, id edge.Scope) bool {
	return zs.of(id).proof.Fingerprint != g.declaration(id)
}

// returns reports whether a zone's declaration was proved in it before. It waits for no wave:
// what was live before is not tried out once more.
func (zs *zones) returns(g *Generation, id edge.Scope) bool {
	return zs.of(id).proof.Earlier.Has(g.declaration(id))
}

func (zs *zones) forget(ids []edge.Scope) {
	for _, id := range ids {
		delete(zs.records, id)
	}
}

// unkept is a change that the platform took and did not keep. It is tried again, ever
// more slowly: the platform may have had a bad hour.
type unkept struct {
	fingerprint string
	at          time.Time // when it was sent last; zero: by an earlier process
	next        time.Time // when it is tried again
	tries       int
}

// noteUnkept notes that a change was not kept, and reports whether that is news: the
// very same change was not noted before.
func (z *zoneRecord) noteUnkept(id diff.ID, fingerprint string, now time.Time) (news bool) {
	if z.unkept == nil {
		z.unkept = map[diff.ID]unkept{}
	}
	u := z.unkept[id]
	if news = u.fingerprint != fingerprint; news {
		u = unkept{fingerprint: fingerprint}
	}
	u.tries++
	u.at, u.next = now, now.Add(retry.Unkept.Delay(u.tries))
	z.unkept[id] = u
	return news
}

// recallUnkept takes in what is on record of a change that was not kept. What is not known
// of its tries begins anew.
func (z *zoneRecord) recallUnkept(id diff.ID, fingerprint string, try diff.Try, now time.Time) {
	z.noteUnkept(id, fingerprint, now)
	u := z.unkept[id]
	u.at = try.At
	if !try.Next.IsZero() && try.Next.Before(now.Add(retry.Unkept.Most)) { // else the clock was set back
		u.next = try.Next
		for wait := try.Next.Sub(try.At); u.tries < 10 && retry.Unkept.Delay(u.tries) < wait; {
			u.tries++
		}
	}
	z.unkept[id] = u
}

// tries are those of the changes that were not kept.
func (z *zoneRecord) tries() map[diff.ID]diff.Try {
	if len(z.unkept) == 0 {
		return nil
	}
	tries := map[diff.ID]diff.Try{}
	for id, u := range z.unkept {
		tries[id] = diff.Try{At: u.at, Next: u.next}
	}
	return tries
}

// nonConvergent are the changes of a zone that must not be sent at a time.
func (z *zoneRecord) nonConvergent(now time.Time) map[diff.ID]string {
	var not map[diff.ID]string
	for id, u := range z.unkept {
		if now.Before(u.next) {
			if not == nil {
				not = map[diff.ID]string{}
			}
			not[id] = u.fingerprint
		}
	}
	return not
}

// tryUnkept has each change of some zones that was not kept tried now: someone has asked for
// it.
func (zs *zones) tryUnkept(ids []edge.Scope, now time.Time) {
	for _, zone := range ids {
		z := zs.of(zone)
		for id, u := range z.unkept {
			u.next = now
			z.unkept[id] = u
		}
	}
}

// again is when a change that was not kept is tried next, the zero time where there
// is none. One whose time has come and that was not sent waits for something else.
func (z *zoneRecord) again(now time.Time) (at time.Time) {
	for _, u := range z.unkept {
		if u.next.After(now) && (at.IsZero() || u.next.Before(at)) {
			at = u.next
		}
	}
	return at
}

// wider returns what must be on record as owned before a change is sent: what was owned
// before and what will be; none where that is on record.
func wider(have []diff.Member, now diff.Change) []diff.Settled {
	union := have[:len(have):len(have)] // it is copied where anything is added
	for _, member := range now.Do().Owned() {
		if !slices.Contains(union, member) {
			union = append(union, member)
		}
	}
	if len(union) == len(have) {
		return nil
	}
	return []diff.Settled{{ID: now.ID(), Owned: union}}
}

func (z *zoneRecord) own(id diff.ID, owned []diff.Member) {
	if have, known := z.applied.of(id); known && slices.Equal(have, owned) {
		return
	}
	z.applied = slices.Clone(z.applied)
	z.applied.put(id, owned)
}

// disown drops deployments that are not declared any more.
func (z *zoneRecord) disown(gone []diff.ID) {
	z.applied = slices.DeleteFunc(slices.Clone(z.applied), func(a at[[]diff.Member]) bool { return slices.Contains(gone, a.id) })
	for _, id := range gone {
		delete(z.unkept, id)
		z.mark(id, nil)
	}
}

// proof is what is to be recorded of deployments that agree with their declaration.
type proof struct {
	settled []diff.Settled    // that are news
	proofs  []reconcile.Proof // of the zone, once all of its deployments agree; at most one
	gone    []diff.ID         // that the zone no longer declares
}

// settle notes that deployments agree with a declaration of the zone, which is in force
// with a commit that gives the zone labels.
func (z *zoneRecord) settle(t zone.Task, commit string, labels guard.Labels, settled []diff.Settled) (p proof) {
	declared := t.Zone()
	if z.under != t.Fingerprint {
		z.under, z.settled = t.Fingerprint, nil
	}
	for _, s := range settled {
		z.settled.put(s.ID, !s.Removed)
		_, unkept := z.unkept[s.ID]
		owned, known := z.applied.of(s.ID)
		if s.Removed && known || !s.Removed && (!known || unkept || !slices.Equal(owned, s.Owned) || !z.marked(s)) {
			p.settled = append(p.settled, s)
		}
	}
	whole := z.whole(declared)
	if whole && (z.proof.Fingerprint != t.Fingerprint || !maps.Equal(z.proof.Labels, labels)) {
		p.proofs = []reconcile.Proof{{Scope: declared.Scope, Fingerprint: t.Fingerprint, Labels: labels, Commit: commit}}
	}
	p.gone = z.leftOver(whole)
	z.sent = z.sent && !whole
	return p
}

// leftOver returns the deployments on record that a zone, proved as a whole, no
// longer declares: one that comes back later begins anew, since what is live by then
// may have been changed by hand.
func (z *zoneRecord) leftOver(whole bool) (gone []diff.ID) {
	if !whole {
		return nil
	}
	for _, a := range z.applied {
		if live, _ := z.settled.of(a.id); !live {
			gone = append(gone, a.id)
		}
	}
	return gone
}

// take takes in what was recorded of a zone: into the record that there is now, which may be another
// one than there was before that was recorded.
func (zs *zones) take(id edge.Scope, p proof, g *Generation) {
	if zs.records[id] == nil && !g.Declares(id) {
		return // it was forgotten meanwhile
	}
	z := zs.of(id)
	for _, s := range p.settled {
		if s.Removed {
			z.disown([]diff.ID{s.ID})
			continue
		}
		z.own(s.ID, s.Owned)
		z.mark(s.ID, s.Prune)
		delete(z.unkept, s.ID)
		delete(z.found, s.ID)
	}
	zs.touch(id)
	if len(p.proofs) > 0 {
		z.proof = z.proof.Then(p.proofs[0])
		zs.weigh(g, id)
	}
}
