package planner

import (
	"testing"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
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

// The same where the account has skip rules for some requests, which act on each zone.
func BenchmarkMakeRememberedWithSkipRules1000(b *testing.B) {
	in := large(40)
	in.Live.Ahead = difftest.Ahead(map[edge.Place][]edge.Rule{edge.AccountScope(difftest.Account).At(edge.PhaseFirewallCustom): {
		difftest.SkipPhase(0, `(ip.src in {192.0.2.0/24 198.51.100.0/24}) and cf.zone.plan eq "ENT"`),
		difftest.SkipPhase(1, `(http.host eq "a.example" and not http.request.method eq "POST") and cf.zone.plan eq "ENT"`),
	}})
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
