package deployment

import (
	"testing"

	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

func BenchmarkCanonicalise(b *testing.B) {
	in := difftest.Large(1, 40)
	rule := in.Live.EntryPoints[in.State.Accounts[0].Zones[0].Scope.At(edge.PhaseFirewallManaged)].Value.Rules[0]
	b.ReportAllocs()
	for b.Loop() {
		if c := canonicalise(rule); len(c.Overrides.Rules) != 41 {
			b.Fatal("not what was put in")
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	in := difftest.Large(1, 40)
	d, m := in.State.Accounts[0].Zones[0].Deployments[0], index(difftest.LargeRuleset())
	b.ReportAllocs()
	for b.Loop() {
		if c, errs := resolve(d, m); len(errs) > 0 || len(c.rules) != 11 {
			b.Fatal(errs)
		}
	}
}

// BenchmarkCompare compares a rule with itself, which is nearly all that is ever
// compared, and with one that differs in a threshold.
func BenchmarkCompare(b *testing.B) {
	m := index(difftest.LargeRuleset())
	rule := func(score int) edge.Rule {
		in := difftest.Large(1, score)
		return in.Live.EntryPoints[in.State.Accounts[0].Zones[0].Scope.At(edge.PhaseFirewallManaged)].Value.Rules[0]
	}
	for name, score := range map[string]int{"same": 40, "other_threshold": 60} {
		live, want := rule(40), rule(score)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if fields := compare(live, want, m); (len(fields) == 0) != (score == 40) {
					b.Fatal(fields)
				}
			}
		})
	}
}
