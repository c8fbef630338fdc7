package deployment

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// A planner that is used again has nothing of the zone before, and what a deployment owns as
// before is the same list.
func TestSpare(t *testing.T) {
	p := &planner{account: "shop", skipping: true, places: []looked{{mark: "a"}, {mark: "b", skips: []edge.RuleID{"1"}}}}
	p.places = p.places[:1]
	p.empty()
	if want := (planner{places: p.places[:0]}); !reflect.DeepEqual(*p, want) || len(p.places) > 0 || cap(p.places) != 2 {
		t.Errorf("an empty planner has %+v", *p)
	}
	for _, l := range p.places[:2] {
		if !reflect.DeepEqual(l, looked{}) {
			t.Errorf("its room holds %+v", l)
		}
	}

	before := []diff.Member{"a", "b"}
	if got := once([]diff.Member{"a", "b"}, before); &got[0] != &before[0] {
		t.Error("the list that is as before is another one")
	}
	if got := once([]diff.Member{"a", "c"}, before); !reflect.DeepEqual(got, []diff.Member{"a", "c"}) {
		t.Errorf("another list became %q", got)
	}
}

// The plan of a whole fleet, as a review makes, leaves no more room than one zone needs: what empties it for
// each plan that follows would take as long as the fleet is large.
func TestSpareIsOfOneZone(t *testing.T) {
	p := &planner{in: diff.Input{Live: diff.Live{Ahead: map[edge.Place]diff.Ahead{}}}}
	for i := range 1000 {
		for _, phase := range diff.PhasesAhead {
			p.in.Live.Ahead[edge.ZoneScope(edge.ZoneID(fmt.Sprint(i))).At(phase)] = diff.Ahead{}
		}
	}
	zone := desired.Zone{Scope: edge.ZoneScope("7")}
	p.look(desired.Account{ID: "a"}, zone, edge.Ruleset{})
	if len(p.places) != 3 || cap(p.places) > 8 {
		t.Errorf("%d places, and room for %d", len(p.places), cap(p.places))
	}
}
