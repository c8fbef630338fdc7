package integration

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
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

// labelPairs are names and values in turn.
func labelPairs(m *dto.Metric) []string {
	var pairs []string
	for _, l := range m.GetLabel() {
		pairs = append(pairs, l.GetName(), l.GetValue())
	}
	return pairs
}
