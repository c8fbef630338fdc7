package control

import (
	"maps"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// What is new on record tells of the zones that have another proof by it, and of all zones only where it was
// read as a whole: whoever is told looks at each of these.
func TestNewsTellsOfWhatIsProved(t *testing.T) {
	c, records := markedFleet(t)
	told := map[edge.Scope]int{}
	c.Told = func(id edge.Scope) { told[id]++ }
	want := func(what string, ids ...edge.Scope) {
		t.Helper()
		got := slices.SortedFunc(maps.Keys(told), edge.Scope.Compare)
		slices.SortFunc(ids, edge.Scope.Compare)
		if clear(told); !slices.Equal(got, ids) {
			t.Errorf("%s tells of %v, want %v", what, got, ids)
		}
	}
	ids := slices.Collect(c.Current().Zones())
	records.others(t, c, ids[:3]...)
	reload(t, c)
	want("what others have proved", ids[:3]...)
	reload(t, c)
	want("nothing new")
	records.lost = true
	reload(t, c)
	want("all on record", edge.Scope{})
}
