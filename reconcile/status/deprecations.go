package status

import (
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/reconcile"
)

var deprecationStates = []string{string(deprecation.Announced), string(deprecation.Deprecated), string(deprecation.PastEnd)}

// showDeprecations counts the calls that use what is deprecated. Those that stay
// and may change are none.
func (m *metrics) showDeprecations(r reconcile.Report) {
	counts := map[string]int{}
	for _, n := range r.Plan.Deprecations {
		if !n.Info {
			counts[string(n.State)]++
		}
	}
	for _, state := range deprecationStates {
		m.set(deprecations, float64(counts[state]), state)
	}
}
