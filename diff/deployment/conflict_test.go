package deployment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// What is declared and has no effect is named, and is not in sync.
func TestConflicts(t *testing.T) {
	const (
		levelHasNone  = "6 paranoia: 2 has no effect: no rule up to that level stops a request"
		thresholdNone = "7 threshold has no effect: the rule that evaluates the score is disabled"
		remove        = ` (declare what it should be, or set unmanaged: "remove")`
		decide        = ` (seawall absorb ZONE declares what is live; or declare what it should be, or set unmanaged: "keep" or unmanaged: "remove")`
		enable        = ` (enable the rule: rules: [{id: "R8", enabled: true}])`
	)
	level, threshold := difftest.Paranoia(2), difftest.Threshold(40, "block")
	all := func(text string) difftest.Intent { return difftest.All(difftest.Override(text)) }
	for _, test := range []struct {
		name     string
		live     string
		declares []difftest.Intent
		want     string
	}{
		{"nothing is declared that could be defeated", `{"enabled":false}`, []difftest.Intent{difftest.Keep}, ""},
		{"all rules off", `{"enabled":false}`, []difftest.Intent{level, difftest.Keep}, levelHasNone + "; live and not declared: overrides.enabled = false" + remove},
		{"all rules only log", `{"action":"log"}`, []difftest.Intent{level, difftest.Keep}, levelHasNone + "; live and not declared: overrides.action = \"log\"" + remove},
		{"which is removed", `{"enabled":false,"action":"log"}`, []difftest.Intent{level, threshold, difftest.Remove}, ""},
		{"all rules only log, as declared", `{"action":"log"}`, []difftest.Intent{level, all("action: log"), difftest.Keep}, ""},
		{"a tag of the level is off", `{"categories":[{"category":"sqli","enabled":false}]}`, []difftest.Intent{level, difftest.Keep}, ""},
		{
			"all tags are", `{"categories":[{"category":"sqli","enabled":false},{"category":"xss","action":"log"},{"category":"php","enabled":false},{"category":"x","enabled":false}]}`,
			[]difftest.Intent{level, difftest.Keep},
			levelHasNone + `; live and not declared: tag php enabled = false, tag sqli enabled = false, tag xss action = "log"` + remove,
		},
		{"the rule of the threshold is off", `{"rules":[{"id":"R8","enabled":false}]}`, []difftest.Intent{threshold, difftest.Keep}, thresholdNone + `; live and not declared: rule R8 enabled = false` + remove},
		{"and on again", `{"rules":[{"id":"R8","enabled":false}]}`, []difftest.Intent{threshold, difftest.Keep, difftest.RuleOf(desired.RuleRef{Ref: "score"}, difftest.Override("enabled: true"))}, ""},
		{"the rule of the threshold is off with all others", `{"enabled":false}`, []difftest.Intent{threshold, difftest.Keep}, thresholdNone + "; live and not declared: overrides.enabled = false" + remove},
		{"as declared", "", []difftest.Intent{threshold, all("enabled: false")}, thresholdNone + enable},
		{"what is undecided does so too", `{"enabled":false}`, []difftest.Intent{level}, "6 the managed ruleset was switched off by hand (overrides.enabled = false): " + levelHasNone[2:] + decide},
		{"two parts for one reason", `{"enabled":false}`, []difftest.Intent{level, threshold}, "6 the managed ruleset was switched off by hand (overrides.enabled = false): " + levelHasNone[2:] + "; " + thresholdNone[2:] + decide},
		{"and for one that is kept", `{"enabled":false}`, []difftest.Intent{level, threshold, difftest.Keep}, levelHasNone + "; " + thresholdNone[2:] + "; live and not declared: overrides.enabled = false" + remove},
		{"beside others", `{"enabled":false,"rules":[{"id":"R1","enabled":false}]}`, []difftest.Intent{level}, "6 the managed ruleset was switched off by hand (overrides.enabled = false), and live has 1 more override that nothing declares: " + levelHasNone[2:] + decide},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := difftest.Deployment(test.declares...)
			live := difftest.Execute(difftest.ParseOverrides(t, test.live))
			for range 2 { // before what is declared is written, and after
				p := planWith(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live)}, (*diff.Memory)(nil).Renew())
				var got []string
				for _, problem := range p.Problems {
					if problem.State == diff.Undecided {
						continue
					}
					text := fmt.Sprintf("%d %s", problem.Origin.Line, problem.Reason)
					if problem.State != diff.Blocked || problem.Zone != "shop.example" || problem.Deployment != "core" {
						t.Errorf("got %+v", problem)
					}
					got = append(got, difftest.Names(true).Replace(text+" ("+problem.Hint+")"))
				}
				if text := strings.Join(got, "\n"); text != test.want {
					t.Errorf("got  %s\nwant %s", text, test.want)
				}
				if test.want != "" && p.Summary.InSync > 0 {
					t.Error("in sync")
				}
				if len(p.Changes) > 0 && p.Changes[0].Sends() {
					live = replaced(live, difftest.UpdateOf(p.Changes[0]).Body)
				}
			}
		})
	}
}

// A rule may be off by default, too.
func TestConflictByDefault(t *testing.T) {
	scene := difftest.Scene{State: difftest.State(difftest.Deployment(difftest.Threshold(40, "block"))), Live: difftest.Live(difftest.Execute(nil))}
	off := difftest.Managed()
	off.Rules[8].Enabled = new(false)
	scene.Live.Accounts[difftest.Account].Managed[difftest.Core] = diff.Observed[edge.Ruleset]{Value: off}
	p := planScene(scene)
	if len(p.Problems) != 1 || len(p.Changes) != 1 || !strings.HasPrefix(p.Problems[0].Hint, "enable the rule") {
		t.Errorf("got %+v", p)
	}
}
