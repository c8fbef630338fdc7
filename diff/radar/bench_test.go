package radar_test

import (
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/edge"
)

// BenchmarkMake10000 is a new version in ten thousand zones, alike or each with a threshold of
// its own.
func BenchmarkMake10000(b *testing.B) {
	before := difftest.LargeRuleset()
	after := difftest.Next(before, difftest.Without(103, 104), difftest.Changing(110, func(r *edge.Rule) { r.Action = edge.ActionLog }))
	for name, same := range map[string]bool{"alike": true, "each its own": false} {
		b.Run(name, func(b *testing.B) {
			state := difftest.Large(10_000, 40).State
			for i := range state.Accounts[0].Zones {
				if d := &state.Accounts[0].Zones[i].Deployments[0]; !same {
					d.Threshold = &desired.Threshold{Score: *difftest.Declared(7, i+1), Action: *difftest.Declared(8, edge.ActionBlock)}
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if n := radar.Make(radar.Input{State: state, Seen: seen(before, after)}).Towards(diff.Weakens); n != 10_000 {
					b.Fatalf("it weakens %d zones", n)
				}
			}
		})
	}
}
