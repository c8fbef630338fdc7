package controller

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// BenchmarkFleet asks for lists of a fleet of which one zone in a hundred is not as declared,
// and changes it: one row, and all of them. What all rows take of the heap is what a rebuild allocates.
func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := newStill(b, &reconciletest.Records{})
			benchDeclared(b, s, n)
			b.Run("page", func(b *testing.B) { benchQuery(b, s, inspect.FleetQuery{}) })
			b.Run("text", func(b *testing.B) { benchQuery(b, s, inspect.FleetQuery{Text: "99.exa"}) })
			b.Run("label", func(b *testing.B) { benchQuery(b, s, inspect.FleetQuery{Labels: map[string]string{"team": "t7"}}) })
			b.Run("right", func(b *testing.B) {
				benchQuery(b, s, inspect.FleetQuery{May: func(l inspect.ZoneLabels) bool { return l.Declared["team"] == "t7" && l.Proved["team"] == "t7" }})
			})
			b.Run("grid", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Grid(inspect.FleetQuery{})
				}
			})
			b.Run("status", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.view().zones()
				}
			})
			b.Run("row", func(b *testing.B) {
				b.ReportAllocs()
				id := mem.FleetZone(n / 2)
				for b.Loop() {
					s.fleet.looked(id, func(l lastLook) lastLook { l.at++; return l })
				}
			})
			b.Run("rebuild", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.fleet.proofs.note(edge.Scope{})
					s.fleet.published()
				}
			})
		})
	}
}

func benchQuery(b *testing.B, s *still, q inspect.FleetQuery) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Fleet(q); err != nil {
			b.Fatal(err)
		}
	}
}

// benchDeclared has n zones in force that are proved, and that were read.
func benchDeclared(b *testing.B, s *still, n int) {
	b.Helper()
	zones := make([]desired.Zone, n)
	for i := range zones {
		zones[i] = zoneOf(i+1, core("xss"))
		zones[i].Labels = guard.Labels{"team": fmt.Sprint("t", i%20), "env": "prod"}
	}
	s.propose(stateOf("c1", zones...))
	for i := range n {
		id := mem.FleetZone(i + 1)
		must.Do(b, s.prove(id))
		var plan diff.Plan
		if i%100 == 0 {
			plan.Problems = []diff.Problem{{Scope: id, State: diff.Blocked, Reason: "no"}}
		}
		s.look(id, plan)
	}
}
