package rule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// lawRequests are requests by the expressions that match them, of those that [drawLive] and
// [drawDeclared] draw.
var lawRequests = []map[string]bool{
	{"true": true},
	{"true": true, "ip.src eq 192.0.2.1": true},
	{"true": true, `http.host eq "a"`: true},
	{"true": true, `http.host eq "a"`: true, "ip.src eq 192.0.2.1": true},
}

// stopped is how much of a request the first rule stops that ends it.
func stopped(rules []edge.Rule, request map[string]bool) int {
	for _, r := range rules {
		if s, _ := strength(string(r.Action)); s != logs && r.IsEnabled() && request[r.Expression] {
			return s // a skip rule skips what is left of the phase
		}
	}
	return skips
}

// drawDense is a zone in which rules that block and challenge stand close together.
func drawDense(t *rapid.T) *state {
	s := &state{prunable: diff.Pruning{}, remove: rapid.Bool().Draw(t, "remove")}
	refs := []string{"a", "b", "c", "d"}
	for _, ref := range refs {
		declared, live := rapid.IntRange(0, 2).Draw(t, "declared") > 0, rapid.IntRange(0, 3).Draw(t, "live") > 0
		if live {
			rule := drawLive(t, ref)
			rule.Action = rapid.SampledFrom([]edge.Action{"block", "managed_challenge", "log", "skip"}).Draw(t, "live action")
			rule.ActionParameters, rule.Extra = nil, nil
			s.live = append(s.live, rule)
			if !declared {
				s.prunable[Custom.id(difftest.Zone, ref)] = diff.Prunable{Rule: rule.ID}
			}
		}
		if declared {
			s.declared = append(s.declared, drawDeclared(t, ref, refs))
		}
	}
	return s
}

// TestNothingPassesWithoutWeakening: where all changes that weaken wait for a person, no request gets
// further than before, whatever part of the others is made.
func TestNothingPassesWithoutWeakening(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			holdToTheLaw(t, drawDense(t))
		}
	})
}

func holdToTheLaw(t *rapid.T, s *state) {
	before := slices.Clone(s.live)
	for range 4 {
		calm := slices.DeleteFunc(s.plan().Changes, func(c diff.Change) bool { return c.Direction == diff.Weakens })
		if len(calm) == 0 {
			return
		}
		c := calm[rapid.IntRange(0, len(calm)-1).Draw(t, "one")]
		was := slices.Clone(s.live)
		s.apply(t, c)
		for _, request := range lawRequests {
			if stopped(s.live, request) < stopped(before, request) {
				t.Fatalf("%v gets further by %s %s %+v\nlive %+v\nnow %+v", request, c.Deployment, c.Direction, c.Fields, canonical(was), canonical(s.live))
			}
		}
	}
}
