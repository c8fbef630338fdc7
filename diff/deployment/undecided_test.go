package deployment

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
)

// What is not declared is compared with what was proved last, and only there.
func TestExpressionsThatAreNotDeclared(t *testing.T) {
	const proved, changed = "true", "false"
	for _, test := range []struct {
		name       string
		drift      desired.ExpressionDrift
		declared   string
		remembered []string
		live       string
		want       string // what is planned or named, and what is remembered then
	}{
		{"nothing is remembered", "", "", nil, changed, "nothing, remembers [false]"},
		{"it is as it was", "", "", []string{proved}, proved, "nothing, remembers [true]"},
		{"it was changed", "", "", []string{proved}, changed, "named, remembers [true]"},
		{"reported, as configured", desired.ReportDrift, "", []string{proved}, changed, "named, remembers [true]"},
		{"ignored, as configured", desired.IgnoreDrift, "", []string{proved}, changed, "nothing, remembers [false]"},
		{"restored, as configured", desired.RestoreDrift, "", []string{proved}, changed, "strengthens false → true, remembers [true]"},
		{"restoring may weaken", desired.RestoreDrift, "", []string{changed}, proved, "weakens true → false, remembers [false]"},
		{"nothing to restore", desired.RestoreDrift, "", nil, changed, "nothing, remembers [false]"},
		{"a write is in doubt, and had no effect", "", "", []string{proved, "other"}, proved, "nothing, remembers [true]"},
		{"a write is in doubt, and had an effect", "", "", []string{proved, "other"}, "other", "nothing, remembers [other]"},
		{"a write is in doubt, and neither is there", "", "", []string{proved, "other"}, changed, "named, remembers [other]"},
		{"declared", desired.IgnoreDrift, proved, []string{changed}, changed, "strengthens false → true, remembers [true]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := difftest.Deployment()
			if test.drift != "" {
				d.ExpressionDrift = difftest.Declared(5, test.drift)
			}
			if test.declared != "" {
				d.Expression = difftest.Declared(5, test.declared)
			}
			live := difftest.Execute(nil)
			live.Expression = test.live
			var applied []diff.Member
			for _, expression := range test.remembered {
				applied = append(applied, rememberText(ofExpression, expression))
			}
			p := planScene(difftest.Scene{
				State: difftest.State(d), Live: difftest.Live(live),
				Applied: diff.Applied{{Scope: difftest.Zone, Ruleset: difftest.Core}: applied},
			})
			got, owned := "nothing", []diff.Member(nil)
			for _, s := range p.Settled {
				owned = s.Owned
			}
			for _, c := range p.Changes {
				f := c.Field("expression")
				got, owned = fmt.Sprintf("%s %v → %v", c.Direction, f.Old, f.New), c.Do().Owned()
				if f.Origin.Line != 5 {
					t.Errorf("asked for at %v", f.Origin)
				}
			}
			for _, problem := range p.Problems {
				got = "named"
				last := test.remembered[len(test.remembered)-1]
				if l := problem.Unmanaged[0]; problem.State != diff.Undecided || l.Path != "expression" || l.Value != any(test.live) || l.Was != any(last) {
					t.Errorf("got %+v", problem)
				}
			}
			if got += fmt.Sprintf(", remembers %v", recallText(owned, ofExpression)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// A rule that was switched off by hand is switched on again beside what is undecided.
func TestDecidedIsHealedBesideUndecided(t *testing.T) {
	live := difftest.Execute(difftest.ParseOverrides(t, `{"action":"log","rules":[{"id":"R8","action":"log","score_threshold":90}]}`))
	live.Enabled, live.Expression = new(false), "false"
	p := planScene(difftest.Scene{
		State: difftest.State(difftest.Deployment(difftest.Threshold(40, "block"))), Live: difftest.Live(live),
		Applied: diff.Applied{{Scope: difftest.Zone, Ruleset: difftest.Core}: {rememberText(ofExpression, "true")}},
	})
	if len(p.Changes) != 1 || len(p.Problems) != 2 {
		t.Fatalf("got %+v", p)
	}
	body := difftest.UpdateOf(p.Changes[0]).Body
	const want = `{"action":"log","rules":[{"id":"R8","action":"block","score_threshold":40}]}`
	if got := difftest.OverridesText(t, overridesOf(body)); got != want || !body.IsEnabled() || body.Expression != "false" {
		t.Errorf("sends %s, %v, %s", got, body.IsEnabled(), body.Expression)
	}
	named := []string{p.Problems[0].Line(), p.Problems[1].Line()}
	slices.Sort(named)
	if !slices.Equal(named, []string{
		"all rules of the managed ruleset were set to log by hand (overrides.action = \"log\")",
		"the expression of the execute rule was changed outside of Seawall, and it is not declared: expression",
	}) {
		t.Errorf("names %q", named)
	}
}
