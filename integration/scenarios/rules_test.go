package scenarios

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// live shows the rules of the phases that a zone can declare rules in.
func (s *scene) live() string {
	var b strings.Builder
	for _, phase := range []edge.Phase{edge.PhaseFirewallCustom, edge.PhaseRateLimit} {
		entry := s.sim.Platform.Stored(mem.ShopZone.At(phase))
		if entry == nil {
			continue
		}
		fmt.Fprintf(&b, "%s, version %s\n", phase, entry.Version)
		for i, r := range entry.Rules {
			fmt.Fprintf(&b, "%d  %s  %s  %s", i+1, r.Ref, r.Action, r.Expression)
			if !r.IsEnabled() {
				b.WriteString("  off")
			}
			fmt.Fprintf(&b, "  (%s)\n", r.ID)
		}
	}
	if b.Len() == 0 {
		return "no rules\n"
	}
	return b.String()
}
