package once

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// healing is an apply that writes to all of n zones, each time to what they are not.
func healing(t testT, n int) func() {
	f, times := newFixture(t, n), 0
	return func() {
		times++
		tag := []string{"xss", "sqli"}[times%2]
		name := fmt.Sprintf("c%d", times)
		f.repo.Commit(name, commit{State: stateOf(name, declareAll(n, core(tag))...)})
		r := f.run()
		r.Lanes.All[0].Reader, r.Lanes.All[0].Writer = edge.ReadOnly(f.Platform), f.Platform // a transcript costs more than it records
		if report := r.Apply(t.Context(), Order{Undigested: true}); len(report.Results) != n || !report.Converged() {
			t.Fatalf("%d results, error %v", len(report.Results), report.Err)
		}
	}
}

// What an apply does for a zone does not grow with the fleet.
func TestApplyCostsWhatItWrites(t *testing.T) {
	const few, many = 50, 500
	of := func(zones int) float64 { return testing.AllocsPerRun(2, healing(t, zones)) / float64(zones) }
	if small, large := of(few), of(many); large > 1.1*small {
		t.Errorf("a zone among %d costs %.0f allocations, and one among %d costs %.0f", few, small, many, large)
	}
}

func BenchmarkApply(b *testing.B) {
	for _, zones := range []int{100, 1000} {
		b.Run(fmt.Sprint(zones), func(b *testing.B) {
			heal := healing(b, zones)
			b.ReportAllocs()
			for b.Loop() {
				heal()
			}
		})
	}
}
