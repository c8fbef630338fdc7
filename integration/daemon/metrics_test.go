package daemon

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
)

// TestMetricsAreBounded: what Prometheus reads does not grow with the fleet. No
// label ever holds a zone, a commit or a path.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	series := map[int][]string{}
	for _, zones := range []int{1, 40} {
		p := harness.StartPlatform(t, harness.Fleet(zones))
		s := harness.NewService(t, p, harness.ServiceConfig{Sweep: "@every 1s"})
		s.Repo.Commit("edge.cue", harness.Declare(zones, 25))
		s.Start()
		s.Poll("a sweep found all in sync", func() bool { return s.Metric("seawall_zones", "state", "in_sync") == float64(zones) })
		bad := s.Repo.Commit("edge.cue", strings.ReplaceAll(harness.Declare(zones, 30), `"block"`, `"blok"`))
		s.Poll("a commit is held", func() bool { return s.Metric("seawall_commit_held") == 1 })
		for name, family := range s.Metrics() {
			if !strings.HasPrefix(name, "seawall_") {
				continue
			}
			for _, m := range family.GetMetric() {
				line := name + " " + strings.Join(harness.LabelPairs(m), " ")
				series[zones] = append(series[zones], line)
				if strings.Contains(line, "zone-0") || strings.Contains(line, mem.FleetZone(1).String()) || strings.Contains(line, bad[:7]) {
					t.Errorf("a label is without bounds: %s", line)
				}
			}
		}
		if applied := s.Metric("seawall_changes_total", "direction", "strengthens", "outcome", "converged"); applied != float64(zones) {
			t.Errorf("%v changes converged, want %d", applied, zones)
		}
		slices.Sort(series[zones])
	}
	if !slices.Equal(series[1], series[40]) {
		t.Errorf("a fleet of 40 has other series than one of 1:\n%v\n%v", series[40], series[1])
	}
}
