package status

import (
	"testing"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

func TestDeprecations(t *testing.T) {
	s, c := start(t)
	wantMetric(t, s, `seawall_deprecations{state="past_end"}`, -1)
	r := full(c)
	r.Plan.Deprecations = []deprecation.Notice{
		{Rule: "a", State: deprecation.PastEnd},
		{Rule: "b", State: deprecation.PastEnd},
		{Rule: "c", State: deprecation.Announced},
		{Rule: "d", State: deprecation.Deprecated, Info: true},
	}
	s.Report(t.Context(), r)
	wantSeries(t, s, map[string]float64{
		`seawall_deprecations{state="past_end"}`: 2, `seawall_deprecations{state="announced"}`: 1, `seawall_deprecations{state="deprecated"}`: 0,
	})
	part := full(c)
	part.Full = false
	s.Report(t.Context(), part)
	wantMetric(t, s, `seawall_deprecations{state="past_end"}`, 2)
	s.Report(t.Context(), full(c))
	wantMetric(t, s, `seawall_deprecations{state="past_end"}`, 0)
}
