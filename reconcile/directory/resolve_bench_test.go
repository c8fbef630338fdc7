package directory

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// BenchmarkNamesOneChanged puts ids into the state of a commit after others: where all zones
// declare theirs, and where all are found by their names.
func BenchmarkNamesOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		names, zones := make([]string, n), make([]edge.Zone, n)
		for i := range n {
			names[i] = fmt.Sprintf("z%d.example", i)
			zones[i] = live(prod, i, names[i])
		}
		s := newScene(zones...)
		byName := declared(names...)
		s.Look(b.Context(), byName)
		byID := s.Resolve(byName)
		for i := range byID.Accounts[0].Zones {
			byID.Accounts[0].Zones[i].ByName = false
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Resolve(byID)
			}
		})
		b.Run(fmt.Sprint(n, "_by_name"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Resolve(byName)
			}
		})
	}
}
