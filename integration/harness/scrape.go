package harness

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics reads /metrics as Prometheus does.
func (s *Service) Metrics() map[string]*dto.MetricFamily {
	s.T.Helper()
	code, text := s.Get("/metrics")
	if code == 0 {
		return nil
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		s.T.Fatalf("reading /metrics: %v\n%s", err, text)
	}
	return families
}

// Metric returns a gauge or counter with the given labels, as name and value in
// turn; -1 when there is none.
func (s *Service) Metric(name string, labels ...string) float64 {
	s.T.Helper()
	for _, m := range s.Metrics()[name].GetMetric() {
		if slices.Equal(LabelPairs(m), labels) {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return -1
}

// LabelPairs are names and values in turn.
func LabelPairs(m *dto.Metric) []string {
	var pairs []string
	for _, l := range m.GetLabel() {
		pairs = append(pairs, l.GetName(), l.GetValue())
	}
	return pairs
}
