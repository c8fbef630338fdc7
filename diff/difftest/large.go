package difftest

import (
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// LargeRuleset is a managed ruleset of the size of real ones.
func LargeRuleset() edge.Ruleset {
	r := Managed()
	last := r.Rules[8]
	r.Rules = nil
	for i := range 500 {
		r.Rules = append(r.Rules, edge.Rule{
			ID: RuleID(i + 100), Ref: fmt.Sprintf("ref-%d", i), Action: edge.ActionBlock, Enabled: new(i%7 != 0),
			Categories: []string{edge.ParanoiaTag(i%4 + 1), fmt.Sprintf("tag-%d", i%40), "language-multi"},
		})
	}
	r.Rules = append(r.Rules, last)
	return r
}

// Large is n zones of a hand-tuned fleet: paranoia, threshold, some tags
// and forty rules switched on or off one by one, of which git declares ten.
func Large(n int, score int) Scene {
	managed := LargeRuleset()
	in := Zones(n,
		func(int) desired.Deployment {
			d := Deployment(Paranoia(2), Threshold(40, "managed_challenge"), DisableTag("tag-3"), DisableTag("tag-9"), Keep)
			for i := range 10 {
				DisableRule(desired.RuleRef{Ref: fmt.Sprintf("ref-%d", i*9)})(&d)
			}
			return d
		},
		func(int) edge.Rule {
			o := edge.Overrides{Rules: []edge.RuleOverride{{ID: RuleID(8), ScoreThreshold: new(score), Action: new(edge.ActionManagedChallenge)}}}
			for i := range 40 {
				o.Rules = append(o.Rules, edge.RuleOverride{ID: managed.Rules[i*9].ID, Enabled: new(i >= 10)})
			}
			for _, tag := range []string{"tag-7", "tag-5"} {
				o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(true)})
			}
			for _, tag := range []string{"paranoia-level-3", "paranoia-level-4", "tag-3", "tag-9"} {
				o.Categories = append(o.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
			}
			return Execute(&o)
		})
	account := in.Live.Accounts[Account]
	account.Managed[Core] = diff.Observed[edge.Ruleset]{Value: managed}
	return in
}
