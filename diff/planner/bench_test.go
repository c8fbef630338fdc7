package planner

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// large is a plan of hand-tuned zones.
func large(zones, score int) Input {
	scene := difftest.Large(zones, score)
	return Input{State: scene.State, Live: scene.Live}
}

// plain is a plan of zones that are tuned by a threshold alone, all in sync.
func plain(zones int) Input {
	overrides := edge.Overrides{Rules: []edge.RuleOverride{
		{ID: difftest.RuleID(8), ScoreThreshold: new(40), Action: new(edge.ActionManagedChallenge)},
	}}
	scene := difftest.Zones(zones,
		func(int) desired.Deployment {
			return difftest.Deployment(difftest.Threshold(40, "managed_challenge"), difftest.Keep)
		},
		func(int) edge.Rule { return difftest.Execute(&overrides) })
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

func BenchmarkMakeInSync1000(b *testing.B)  { benchmarkMake(b, large(1000, 40), 0) }
func BenchmarkMakeDrifted1000(b *testing.B) { benchmarkMake(b, large(1000, 60), 1000) }

// The next sweep over a fleet at rest: what agreed is remembered.
func BenchmarkMakeRemembered1000(b *testing.B) {
	in := large(1000, 40)
	in.Memory = in.Memory.Renew()
	Make(in)
	benchmarkMake(b, in, 0)
}

// A plan of a whole fleet, with nothing remembered, and the next one, where one zone has drifted.
func BenchmarkMake(b *testing.B)           { fleets(b, func(b *testing.B, in Input) { benchmarkMake(b, in, 0) }) }
func BenchmarkMakeOneChanged(b *testing.B) { fleets(b, benchmarkNext) }

func fleets(b *testing.B, run func(*testing.B, Input)) {
	for _, zones := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(zones), func(b *testing.B) { run(b, plain(zones)) })
	}
}

func benchmarkNext(b *testing.B, in Input) {
	in.Memory = in.Memory.Renew()
	Make(in)
	zone := in.State.Accounts[0].Zones[0].Scope.At(edge.PhaseFirewallManaged)
	drifted := in.Live.EntryPoints[zone]
	drifted.Value.Rules = []edge.Rule{difftest.Execute(nil)}
	in.Live.EntryPoints[zone] = drifted
	benchmarkMake(b, in, 1)
}

// The same where the account has skip rules for some requests, which act on each zone.
func BenchmarkMakeRememberedWithSkipRules1000(b *testing.B) {
	in := large(1000, 40)
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
	in := large(1000, 40)
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
