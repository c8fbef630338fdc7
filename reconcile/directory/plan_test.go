package directory

import (
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// The plan of a zone is what the platform listed last, and comes with the names, also over a
// restart. Nothing is asked for it.
func TestPlans(t *testing.T) {
	planned := func(z edge.Zone, plan string) edge.Zone {
		z.Plan = &edge.Plan{LegacyID: plan}
		return z
	}
	s := newScene(planned(live(prod, 1, "shop.example"), "free"), live(prod, 2, "blog.example"))
	kept := &memory{}
	s.Memory = kept
	state := declared("shop.example", "blog.example")
	plan := func(n *Names, id int) string { return n.Plan(prod, edge.ZoneScope(zoneID(id))) }
	if got := plan(s.Names, 1); got != "" {
		t.Errorf("before it was asked: %q", got)
	}
	s.Look(t.Context(), state)
	for id, want := range map[int]string{1: "free", 2: "", 3: ""} {
		if got := plan(s.Names, id); got != want {
			t.Errorf("zone %d has %q, want %q", id, got, want)
		}
	}
	if got := s.Plan(prod, edge.AccountScope(prod)); got != "" {
		t.Errorf("an account has %q", got)
	}
	again := New(Config{Memory: kept, Now: s.Now})
	if err := again.Recall(t.Context()); err != nil || plan(again, 1) != "free" {
		t.Errorf("after a restart %q, %v", plan(again, 1), err)
	}
	s.p.asked()
	s.p.zones = []edge.Zone{planned(live(prod, 1, "shop.example"), "business")}
	s.clock.pass(believed)
	s.Look(t.Context(), state)
	if got := plan(s.Names, 1); got != "business" {
		t.Errorf("after a change %q", got)
	}
	s.p.zones = nil
	s.clock.pass(believed)
	s.Look(t.Context(), state)
	if got := plan(s.Names, 1); got != "" {
		t.Errorf("of a zone that is gone %q", got)
	}
}
