package page_test

import (
	"testing"

	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/page/pagetest"
)

// The pages of a list have each zone that is selected once, in order; and zones that may not
// be seen are in no count.
func TestFleetIsPagedAndFiltered(t *testing.T) {
	d := pagetest.New(1000)
	seen := map[string]bool{}
	query := inspect.FleetQuery{Labels: map[string]string{"tier": "gold"}, May: func(l inspect.ZoneLabels) bool { return l.Declared["team"] == "web" }}
	last := ""
	for {
		f, err := d.Fleet(query)
		if err != nil {
			t.Fatal(err)
		}
		if f.Matches != len(d.Grid(query).Scopes) || f.Declared <= f.Matches || f.Declared >= 1000 {
			t.Fatalf("%d zones, %d match, %d in the grid", f.Declared, f.Matches, len(d.Grid(query).Scopes))
		}
		for _, r := range f.Zones {
			if seen[r.Zone] || r.Zone < last || r.Labels["tier"] != "gold" {
				t.Fatalf("%s: twice, not in order, or not selected", r.Zone)
			}
			seen[r.Zone], last = true, r.Zone
		}
		if query.After = f.Next; f.Next == "" {
			if len(seen) != f.Matches {
				t.Errorf("%d zones on the pages, %d match", len(seen), f.Matches)
			}
			return
		}
	}
}

func TestAllOutcomesOccur(t *testing.T) {
	f, _ := pagetest.New(1000).Fleet(inspect.FleetQuery{})
	for _, o := range inspect.Outcomes() {
		if f.Outcomes[o] == 0 {
			t.Errorf("no zone is %s", o)
		}
	}
	if s := pagetest.Empty().Status(); s.Zones.Declared != 0 || s.Commit.InForce != "" || s.Verdict != inspect.Attention {
		t.Errorf("empty: %+v", s)
	}
}
