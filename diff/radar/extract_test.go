package radar_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/soak"
)

// genPublished draws groups of any size, some with more rules and mistakes than a page has.
func genPublished(t *rapid.T) (p radar.Published) {
	for g := range rapid.IntRange(0, 4).Draw(t, "groups") {
		group := radar.Group{
			Direction: rapid.SampledFrom([]radar.Direction{diff.Weakens, diff.Strengthens, diff.Neutral}).Draw(t, "direction"),
			Blocked:   rapid.Bool().Draw(t, "blocked"), Meanwhile: rapid.SampledFrom([]radar.Direction{"", diff.Weakens}).Draw(t, "meanwhile"),
			Rules: make([]radar.Effect, rapid.SampledFrom([]int{0, 1, 20, 21, 60}).Draw(t, "rules")),
		}
		if group.Blocked {
			group.Mistakes = []rulesets.Mistake{{Reason: "no such rule", Origin: desired.Origin{File: "secret.cue", Line: 1}}}
		}
		for i := range rapid.SampledFrom([]int{1, 2, 100, 101, 210}).Draw(t, "zones") {
			group.Zones = append(group.Zones, radar.Zone{Zone: fmt.Sprintf("%d-%d", g, i), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("%d-%d", g, i)))})
		}
		p.Groups = append(p.Groups, group)
	}
	return p
}

// Each zone is on one page, in the order of the groups; a page has at most so many zones, and
// each part of a group says how large the group is.
func TestExtractsHaveEachZoneOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genPublished(t)
		var got, want []string
		for _, page := range p.Extracts() {
			zones, lines := 0, 0
			for i, e := range page {
				if i > 0 && lines >= 100 {
					t.Fatalf("a group begins on a page with %d lines", lines)
				}
				zones, lines = zones+len(e.Zones), lines+len(e.Rules)+len(e.Mistakes)
				whole := p.Groups[e.Zones[0].Zone[0]-'0']
				if e.Count != len(whole.Zones) || len(e.Rules)+e.RulesLeft != len(whole.Rules) || len(e.Rules) > 20 {
					t.Fatalf("a part says %d zones, and has %d rules and %d left out; the group has %d and %d", e.Count, len(e.Rules), e.RulesLeft, len(whole.Zones), len(whole.Rules))
				}
				for _, z := range e.Zones {
					got = append(got, z.Zone)
				}
			}
			if zones == 0 || zones > radar.ZonesPerPage {
				t.Fatalf("a page has %d zones", zones)
			}
		}
		for _, g := range p.Groups {
			for _, z := range g.Zones {
				want = append(want, z.Zone)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}

// What is left for who may see some zones is what a version without the others has, but for
// places of declarations.
func TestVisibleIsAsWithoutOthers(t *testing.T) {
	soak.Draws(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		p := genPublished(t)
		seen := map[string]bool{}
		var alone radar.Published
		all := rapid.SampledFrom([]int{0, 1, 2, 9}).Draw(t, "one in")
		for _, g := range p.Groups {
			zones := g.Zones
			g.Zones, g.Mistakes = nil, append([]rulesets.Mistake(nil), g.Mistakes...)
			for i := range g.Mistakes {
				g.Mistakes[i].Origin = desired.Origin{}
			}
			for i, z := range zones {
				if all > 0 && i%all == 0 {
					seen[z.Zone] = true
					g.Zones = append(g.Zones, z)
				}
			}
			if len(g.Zones) > 0 {
				alone.Groups = append(alone.Groups, g)
			}
		}
		var parts []radar.Extract
		for _, page := range p.Extracts() {
			parts = append(parts, page...)
		}
		pages, counts := radar.Visible(parts, func(z radar.Zone) bool { return seen[z.Zone] })
		if d := cmp.Diff(alone.Counts(), counts); d != "" {
			t.Fatalf("counted (-want +got):\n%s", d)
		}
		if d := cmp.Diff(alone.Extracts(), pages, equateEmpty); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	})
}
