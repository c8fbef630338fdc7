package diff

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// benchManaged is a managed ruleset of the size of real ones.
func benchManaged() edge.Ruleset {
	r := testManaged()
	last := r.Rules[8]
	r.Rules = nil
	for i := range 500 {
		r.Rules = append(r.Rules, edge.Rule{
			ID: ruleID(i + 100), Ref: fmt.Sprintf("ref-%d", i), Action: edge.ActionBlock, Enabled: ptr(i%7 != 0),
			Categories: []string{edge.ParanoiaTag(i%4 + 1), fmt.Sprintf("tag-%d", i%40), "language-multi"},
		})
	}
	r.Rules = append(r.Rules, last)
	return r
}

// benchInput is n zones of a hand-tuned fleet: paranoia, threshold, some tags
// and forty rules switched on or off one by one, of which git declares ten.
func benchInput(n int, score int) Input {
	managed := benchManaged()
	in := world(n,
		func(int) desired.Deployment {
			d := deployment(paranoia(2), threshold(40, "managed_challenge"), disableTag("tag-3"), disableTag("tag-9"), keep)
			for i := range 10 {
				disableRule(desired.RuleRef{Ref: fmt.Sprintf("ref-%d", i*9)})(&d)
			}
			return d
		},
		func(int) edge.Rule {
			o := edge.Overrides{Rules: []edge.RuleOverride{{ID: ruleID(8), ScoreThreshold: ptr(score), Action: ptr(edge.ActionManagedChallenge)}}}
			for i := range 40 {
				o.Rules = append(o.Rules, edge.RuleOverride{ID: managed.Rules[i*9].ID, Enabled: ptr(i >= 10)})
			}
			for _, tag := range []string{"tag-7", "tag-5"} {
				o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: ptr(true)})
			}
			for _, tag := range []string{"paranoia-level-3", "paranoia-level-4", "tag-3", "tag-9"} {
				o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: ptr(false)})
			}
			return testExecute(&o)
		})
	account := in.Live.Accounts[testAccount]
	account.Managed[testCore] = Observed[edge.Ruleset]{Value: managed}
	return in
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

func BenchmarkMakeInSync1000(b *testing.B)  { benchmarkMake(b, benchInput(1000, 40), 0) }
func BenchmarkMakeDrifted1000(b *testing.B) { benchmarkMake(b, benchInput(1000, 60), 1000) }

// The next sweep over a fleet at rest: what agreed is remembered.
func BenchmarkMakeRemembered1000(b *testing.B) {
	in := benchInput(1000, 40)
	in.Memory = in.Memory.Renew()
	Make(in)
	benchmarkMake(b, in, 0)
}

// A rule that a new version of the managed ruleset no longer has is missed in
// every zone at once.
func BenchmarkMakeRuleGone1000(b *testing.B) {
	in := benchInput(1000, 40)
	for i := range in.State.Accounts[0].Zones {
		disabledRule(9)(&in.State.Accounts[0].Zones[i].Deployments[0])
	}
	b.ReportAllocs()
	for b.Loop() {
		if plan := Make(in); len(plan.Problems) != 1000 {
			b.Fatalf("%d problems", len(plan.Problems))
		}
	}
}

func BenchmarkCanonicalise(b *testing.B) {
	in := benchInput(1, 40)
	rule := in.Live.EntryPoints[in.State.Accounts[0].Zones[0].ID].Value.Rules[0]
	b.ReportAllocs()
	for b.Loop() {
		if c := canonicalise(rule); len(c.Overrides.Rules) != 41 {
			b.Fatal("not what was put in")
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	in := benchInput(1, 40)
	d, m := in.State.Accounts[0].Zones[0].Deployments[0], index(benchManaged())
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
	m := index(benchManaged())
	rule := func(score int) edge.Rule {
		in := benchInput(1, score)
		return in.Live.EntryPoints[in.State.Accounts[0].Zones[0].ID].Value.Rules[0]
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

func BenchmarkMarkdown1000(b *testing.B) {
	plan := Make(benchInput(1000, 60))
	b.ReportAllocs()
	for b.Loop() {
		if err := plan.Markdown(discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
