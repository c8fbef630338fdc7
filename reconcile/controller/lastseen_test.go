package controller

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Of zones of other processes only those are asked for that were read here, however many there are; what
// was seen of them is forgotten with each commit, unless they are this process's by then.
func TestWhatIsReadOfOthersIsForgotten(t *testing.T) {
	s := newLastSeen(reconcile.Lanes{}, zone.Declared{}, reconcile.Guards{})
	id := func(i int) edge.Scope { return edge.ZoneScope(edge.ZoneID(fmt.Sprint("z", i))) }
	for i := range 1000 {
		s.put(id(i), zone.Places{})
		s.memory(id(i))
	}
	s.readAway(id(1))
	s.readAway(id(2))
	asked := 0
	s.forgetAway(func(of edge.Scope) bool { asked++; return of == id(1) })
	if asked != 2 || s.read(id(1)) || s.plans[id(1)] != nil || !s.read(id(2)) || !s.read(id(3)) {
		t.Errorf("of 1000 zones %d are asked for, want 2; read are %v, %v, %v", asked, s.read(id(1)), s.read(id(2)), s.read(id(3)))
	}
	s.forgetAway(func(edge.Scope) bool { return true })
	if s.read(id(2)) || len(s.zones) != 998 || len(s.away) != 0 {
		t.Errorf("%d zones are known, and %d of others", len(s.zones), len(s.away))
	}
}

// A zone that a commit moves to an account of another process is one of others from then on: what was
// read of it here is no basis for what is decided of the next commit.
func TestWhatWasReadOfAMovedZoneIsForgotten(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 2, reconcile.Guards{})
		id := mem.FleetZone(1)
		if !first.seen.read(id) || second.seen.read(id) {
			t.Fatal("the zone is not the first one's")
		}
		r.move(id)
		r.push("c2", "xss")
		r.pass(soon + ticked)
		r.moved()
		first.commits.forgetTheirs()
		if first.seen.read(id) || !second.seen.read(id) {
			t.Errorf("of the moved zone the first still knows %v, and the second has read %v", first.seen.read(id), second.seen.read(id))
		}
		if !first.seen.read(mem.FleetZone(2)) {
			t.Error("a zone that stayed is forgotten, too")
		}
	})
}
