package integration

import (
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/seawall-dev/seawall/edge/mem"
)

// metrics reads /metrics as Prometheus does.
func (s *service) metrics() map[string]*dto.MetricFamily {
	s.t.Helper()
	code, text := s.get("/metrics")
	if code == 0 {
		return nil
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		s.t.Fatalf("reading /metrics: %v\n%s", err, text)
	}
	return families
}

// metric returns a gauge or counter with the given labels, as name and value in
// turn; -1 when there is none.
func (s *service) metric(name string, labels ...string) float64 {
	s.t.Helper()
	for _, m := range s.metrics()[name].GetMetric() {
		if slices.Equal(labelPairs(m), labels) {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return -1
}

func labelPairs(m *dto.Metric) []string {
	var pairs []string
	for _, l := range m.GetLabel() {
		pairs = append(pairs, l.GetName(), l.GetValue())
	}
	return pairs
}

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
