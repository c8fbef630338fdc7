package planner

import (
	"testing"

	"github.com/seawall-dev/seawall/diff/difftest"
)

// large is a plan of a thousand zones.
func large(score int) Input {
	scene := difftest.Large(1000, score)
	return Input{State: scene.State, Live: scene.Live}
}

func benchmarkMake(b *testing.B, in Input, changes int) {
	b.ReportAllocs()
	for b.Loop() {
		plan := Make(in)
		if len(plan.Changes) != changes || len(plan.Problems) != 0 {
			b.Fatalf("%d changes, %d problems", len(plan.Changes), len(plan.Problems))
		}
	}
}

func BenchmarkMakeInSync1000(b *testing.B)  { benchmarkMake(b, large(40), 0) }
func BenchmarkMakeDrifted1000(b *testing.B) { benchmarkMake(b, large(60), 1000) }

// The next sweep over a fleet at rest: what agreed is remembered.
func BenchmarkMakeRemembered1000(b *testing.B) {
	in := large(40)
	in.Memory = in.Memory.Renew()
	Make(in)
	benchmarkMake(b, in, 0)
}

// A rule that a new version of the managed ruleset no longer has is missed in
// every zone at once.
func BenchmarkMakeRuleGone1000(b *testing.B) {
	in := large(40)
	for i := range in.State.Accounts[0].Zones {
		difftest.DisabledRule(9)(&in.State.Accounts[0].Zones[i].Deployments[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		if plan := Make(in); len(plan.Problems) != 1000 {
			b.Fatalf("%d problems", len(plan.Problems))
		}
	}
}
