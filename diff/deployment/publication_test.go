package deployment

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// written is what a plan of a zone without overrides writes for a deployment, with a version of
// the managed ruleset; false where it is blocked.
func written(d desired.Deployment, r edge.Ruleset) (*edge.Overrides, bool) {
	in := difftest.One(d, difftest.Execute(nil))
	account := in.Live.Accounts[difftest.Account]
	account.Managed = map[edge.RulesetID]diff.Observed[edge.Ruleset]{difftest.Core: {Value: r}}
	in.Live.Accounts[difftest.Account] = account
	part := Kind{}.Plan(in)
	for _, p := range part.Problems {
		if p.State == diff.Blocked && !strings.Contains(p.Reason, "has no effect") && !strings.Contains(p.Reason, "takes precedence") {
			return nil, false
		}
	}
	if len(part.Changes) == 0 {
		return nil, len(part.Settled) > 0
	}
	return overridesOf(part.Changes[0].Operation.(diff.RuleOperation).Body), true
}

// What a version means is what the rules do with the overrides that plans write, before and
// after; in itself it means nothing; and what strengthens weakens in the other direction.
func TestTouchesAsPlansDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := difftest.GenVersion(t), difftest.GenVersion(t)
		d := difftest.GenDeployment(t)
		d.Enabled.Value = true
		if touch := NewPublication(a, a).Touches(d); !touch.IsZero() {
			t.Fatalf("in itself it means %+v", touch)
		}
		touch, back := NewPublication(a, b).Touches(d), NewPublication(b, a).Touches(d)
		before, can := written(d, a)
		after, stillCan := written(d, b)
		if stillCan == (len(touch.Mistakes) > 0) && can {
			t.Fatalf("a plan can be made: %v; mistakes %+v", stillCan, touch.Mistakes)
		}
		if !can {
			return
		}
		if !stillCan {
			after = before
		}
		if can && stillCan && touch.Direction == diff.Strengthens && back.Direction != diff.Weakens {
			t.Fatalf("there it strengthens, and back it is %s", back.Direction)
		}
		got := map[edge.RuleID]string{}
		for _, e := range touch.Rules {
			got[e.Rule.ID] = effectsText(e.Before) + " → " + effectsText(e.After)
		}
		if d := cmp.Diff(differences(a, b, before, after), got); d != "" {
			t.Fatalf("by plans (-), by the publication (+):\n%s", d)
		}
	})
}

func effectsText(e *rulesets.Effect) string {
	if e == nil {
		return "none"
	}
	text := string(e.Action) + " " + e.Sensitivity
	if !e.Enabled {
		text += " off"
	}
	if e.Score != nil {
		text += " scored " + strings.Repeat("i", *e.Score)
	}
	return text
}

// differences finds the rules that do something else, one by one.
func differences(a, b edge.Ruleset, before, after *edge.Overrides) map[edge.RuleID]string {
	was, is := index(a).effects(before), index(b).effects(after)
	all := map[edge.RuleID]string{}
	for j, rule := range b.Rules {
		i := slices.IndexFunc(a.Rules, func(r edge.Rule) bool { return r.ID == rule.ID })
		if i < 0 {
			i = slices.IndexFunc(a.Rules, func(r edge.Rule) bool {
				return r.Ref == rule.Ref && !slices.ContainsFunc(b.Rules, func(o edge.Rule) bool { return o.ID == r.ID })
			})
		}
		if i < 0 && j == len(b.Rules)-1 {
			i = len(a.Rules) - 1 // the rule with the threshold
		}
		switch {
		case i < 0 && is[j].enabled:
			all[rule.ID] = "none → " + effectsText(is[j].exported())
		case i >= 0 && was[i] != is[j] && (was[i].enabled || is[j].enabled):
			all[rule.ID] = effectsText(was[i].exported()) + " → " + effectsText(is[j].exported())
		}
	}
	for i, rule := range a.Rules {
		if was[i].enabled && i < len(a.Rules)-1 && !slices.ContainsFunc(b.Rules, func(r edge.Rule) bool { return r.ID == rule.ID || r.Ref == rule.Ref }) {
			all[rule.ID] = effectsText(was[i].exported()) + " → none"
		}
	}
	return all
}

func TestTouches(t *testing.T) {
	gone := difftest.Next(difftest.Managed(), difftest.Without(1))
	last := difftest.Next(difftest.Managed(), difftest.Changing(8, func(r *edge.Rule) { r.ID, r.Ref = difftest.RuleID(30), "score-2" }))
	byDescription := func(d *desired.Deployment) {
		difftest.DisableRule(desired.RuleRef{Description: "Anomaly score"})(d)
	}
	pinned := func(d *desired.Deployment) { d.Version = difftest.Declared(5, "7") }
	for name, c := range map[string]struct {
		after   edge.Ruleset
		intents []difftest.Intent
		want    rulesets.Touch
		mistake string
	}{
		"a rule that is gone weakens":          {gone, nil, rulesets.Touch{Direction: diff.Weakens}, ""},
		"but not where it was off":             {gone, []difftest.Intent{difftest.DisableTag("xss")}, rulesets.Touch{Direction: diff.Neutral}, ""},
		"a rule that is named and gone blocks": {gone, []difftest.Intent{difftest.DisabledRule(1)}, rulesets.Touch{Direction: diff.Neutral}, "disable.rules: managed ruleset \"Core Ruleset\" has no rule " + string(difftest.RuleID(1)) + " (version 70)"},
		"pinned":                               {gone, []difftest.Intent{pinned}, rulesets.Touch{Pinned: "7"}, ""},
		"off":                                  {gone, []difftest.Intent{func(d *desired.Deployment) { d.Enabled.Value = false }}, rulesets.Touch{Off: true}, ""},
		"another last rule with the same default":   {last, nil, rulesets.Touch{Direction: diff.Neutral}, ""},
		"a threshold moves to the new last rule":    {last, []difftest.Intent{difftest.Threshold(25, "block")}, rulesets.Touch{Direction: diff.Neutral, Rewritten: true, Meanwhile: diff.Weakens}, ""},
		"a description that names another rule now": {difftest.Next(last, difftest.Changing(30, func(r *edge.Rule) { r.Description = new("Anomaly score") })), []difftest.Intent{byDescription}, rulesets.Touch{Direction: diff.Strengthens}, "the description \"Anomaly score\" names rule " + string(difftest.RuleID(30)) + " now, and named " + string(difftest.RuleID(8)) + " when it was last applied"},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewPublication(difftest.Managed(), c.after).Touches(difftest.Deployment(c.intents...))
			mistake := ""
			if len(got.Mistakes) > 0 {
				mistake = got.Mistakes[0].Reason
			}
			got.Rules, got.Mistakes = nil, nil
			if d := cmp.Diff(c.want, got); d != "" || mistake != c.mistake {
				t.Errorf("it means (-want +got):\n%s\nwith the mistake %q", d, mistake)
			}
		})
	}
}
