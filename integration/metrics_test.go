package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
)

// TestMetricsAreBounded: what Prometheus reads does not grow with the fleet. No
// label ever holds a zone, a commit or a path.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	series := map[int][]string{}
	for _, zones := range []int{1, 40} {
		p := startPlatform(t, fleet(zones))
		s := newService(t, p, serviceConfig{Sweep: "@every 1s"})
		s.repo.Commit("edge.cue", declare(zones, 25))
		s.start()
		s.poll("a sweep found all in sync", func() bool { return s.metric("seawall_zones", "state", "in_sync") == float64(zones) })
		bad := s.repo.Commit("edge.cue", strings.ReplaceAll(declare(zones, 30), `"block"`, `"blok"`))
		s.poll("a commit is held", func() bool { return s.metric("seawall_commit_held") == 1 })
		for name, family := range s.metrics() {
			if !strings.HasPrefix(name, "seawall_") {
				continue
			}
			for _, m := range family.GetMetric() {
				line := name + " " + strings.Join(labelPairs(m), " ")
				series[zones] = append(series[zones], line)
				if strings.Contains(line, "zone-0") || strings.Contains(line, string(mem.FleetZone(1))) || strings.Contains(line, bad[:7]) {
					t.Errorf("a label is without bounds: %s", line)
				}
			}
		}
		if applied := s.metric("seawall_changes_total", "direction", "strengthens", "outcome", "converged"); applied != float64(zones) {
			t.Errorf("%v changes converged, want %d", applied, zones)
		}
		slices.Sort(series[zones])
	}
	if !slices.Equal(series[1], series[40]) {
		t.Errorf("a fleet of 40 has other series than one of 1:\n%v\n%v", series[40], series[1])
	}
}
