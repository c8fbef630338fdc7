package deployment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// genLiveRule draws an execute rule as hands, other tools and other versions of the
// managed ruleset leave it.
func genLiveRule(t *rapid.T) edge.Rule {
	rule := difftest.Execute(difftest.GenOverrides(t))
	rule.Enabled = rapid.Ptr(rapid.Bool(), true).Draw(t, "enabled")
	rule.Expression = rapid.SampledFrom([]string{"true", `http.host eq "a"`}).Draw(t, "expression")
	rule.ActionParameters.Version = rapid.SampledFrom([]string{"latest", "3", ""}).Draw(t, "version")
	o := rule.ActionParameters.Overrides
	if o == nil {
		return rule
	}
	unique := o.Categories[:0:0] // a tag that is listed twice: see TestATagThatIsListedTwiceDoesNotAgree
	for _, s := range categorySlots(o) {
		unique = append(unique, s.live.category(s.key))
	}
	o.Categories = unique
	for i := range o.Categories {
		switch rapid.IntRange(0, 9).Draw(t, "odd tag") {
		case 0:
			o.Categories[i].Action = new(edge.Action("rewrite"))
		case 1:
			o.Categories[i].SensitivityLevel = new("fierce")
		case 2:
			o.Categories[i].Extra = map[string]json.RawMessage{"x": json.RawMessage(`1`)}
		}
	}
	for i := range o.Rules {
		switch rapid.IntRange(0, 9).Draw(t, "odd rule") {
		case 0:
			o.Rules[i].Action = new(edge.Action("rewrite"))
		case 1:
			o.Rules[i].ScoreThreshold = new(7) // of a rule that may have none
		case 2:
			o.Rules[i].SensitivityLevel = new("fierce")
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "odd all") == 0 {
		o.Action = new(edge.Action("rewrite"))
	}
	return rule
}

func planLive(d desired.Deployment, rule edge.Rule, documented bool) (changes, problems int) {
	live := difftest.Live(rule)
	account := live.Accounts[difftest.Account]
	account.Documented = documented
	older := difftest.Managed()
	older.Version = "3"
	account.Versions = map[diff.RulesetVersion]diff.Observed[edge.Ruleset]{{Ruleset: older.ID, Version: "3"}: {Value: older}}
	live.Accounts[difftest.Account] = account
	p := planScene(difftest.Scene{State: difftest.State(d), Live: live})
	return len(p.Changes), len(p.Problems)
}

// A plan of what is live as it is declared for it is empty, for everything that can be
// live; and nothing is kept without a name.
func TestAPlanOfWhatIsDeclaredForALiveRuleIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule, documented := genLiveRule(t), rapid.Bool().Draw(t, "documented")
		d := NewDeclarer(difftest.Managed(), documented).Declare(rule)
		if changes, problems := planLive(d, rule, documented); changes+problems > 0 {
			t.Fatalf("%d changes, %d problems\nlive %+v\ndeclared %+v", changes, problems, overridesOf(rule), d)
		}
		if d.Unmanaged != nil {
			t.Fatalf("something is kept without a name: %+v", d)
		}
		for _, later := range []desired.Unmanaged{desired.Remove, desired.Keep} { // on what comes later
			d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: later}
			if changes, problems := planLive(d, rule, documented); changes+problems > 0 {
				t.Fatalf("%s: %d changes, %d problems\nlive %+v\ndeclared %+v", later, changes, problems, overridesOf(rule), d)
			}
		}
	})
}

// What is declared for a live rule makes every rule of the managed ruleset behave the
// same way where nothing was live, unless it keeps something.
func TestADeclarationSaysAllThatIsLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := genLiveRule(t)
		d := NewDeclarer(difftest.Managed(), false).Declare(rule)
		if len(d.Decisions) > 0 {
			return
		}
		m := index(difftest.Managed())
		c, errs := resolve(d, m)
		if len(errs) > 0 {
			t.Fatalf("%+v", errs)
		}
		if alone := (&merger{managed: m}).merge(nil, c); !m.sameEffects(alone, overridesOf(rule)) {
			t.Fatalf("live %+v\ndeclared %+v", overridesOf(rule), d)
		}
	})
}

// A declaration is found again from what it was applied to: at once, or after a change.
func TestRedeclaringKeepsADeclarationThatAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, rule := genDecided(t), genLiveRule(t)
		for range 2 {
			p := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(rule)})
			if len(p.Problems) > 0 {
				return
			}
			if len(p.Changes) > 0 {
				rule = replaced(rule, difftest.UpdateOf(p.Changes[0]).Body)
			}
		}
		again := NewDeclarer(difftest.Managed(), false).Redeclare(d, rule)
		if changes, problems := planLive(again, rule, false); changes+problems > 0 {
			t.Fatalf("%d changes, %d problems\nlive %+v\ndeclared %+v\nbefore %+v", changes, problems, overridesOf(rule), again, d)
		}
	})
}

// After a change by hand, a declaration follows with the plan empty again.
func TestRedeclaringFollowsAnyLiveRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, rule := difftest.GenDeployment(t), genLiveRule(t)
		if rapid.Bool().Draw(t, "decided") {
			d = genDecided(t)
		}
		again := NewDeclarer(difftest.Managed(), false).Redeclare(d, rule)
		if changes, problems := planLive(again, rule, false); changes+problems > 0 {
			t.Fatalf("%d changes, %d problems\nlive %+v\ndeclared %+v\nbefore %+v", changes, problems, overridesOf(rule), again, d)
		}
		if again.Unmanaged != nil && d.Unmanaged == nil {
			t.Fatalf("something is kept without a name: %+v", again)
		}
	})
}

// A plan puts a list in order in which a tag stands twice: there is no declaration with
// which it is empty, and the caller learns so.
func TestATagThatIsListedTwiceDoesNotAgree(t *testing.T) {
	o := difftest.ParseOverrides(t, `{"categories":[{"category":"xss","action":"log"},{"category":"PL1","action":"block"},{"category":"xss","enabled":false}]}`)
	rule, declarer := difftest.Execute(o), NewDeclarer(difftest.Managed(), false)
	if d := declarer.Declare(rule); declarer.Agrees(d, rule) {
		t.Errorf("%+v agrees", d)
	}
}

// The forms that a person would write.
func TestDeclaringUsesTheShortFormsWhereTheyFit(t *testing.T) {
	for _, c := range []struct{ live, want string }{
		{"", `{}`},
		{`{"categories":[{"category":"PL3","enabled":false},{"category":"PL4","enabled":false}]}`, `{"paranoia":2}`},
		{`{"categories":[{"category":"PL4","enabled":false},{"category":"PL1","enabled":true}]}`, `{"paranoia":3}`},
		{`{"categories":[{"category":"PL2","enabled":false}]}`, `{"disable_tags":["PL2"]}`},
		{`{"categories":[{"category":"PL3","enabled":true},{"category":"PL4","enabled":false}]}`, `{"disable_tags":["PL4"],"tags":["PL3 enabled=true"]}`}, // R5 is off by default
		{`{"rules":[{"id":"R8","score_threshold":25,"action":"log"}]}`, `{"threshold":"25 log"}`},
		{`{"rules":[{"id":"R8","score_threshold":25}]}`, `{"rules":["score score=25"]}`},
		{`{"enabled":false,"rules":[{"id":"R8","score_threshold":25,"action":"log"}]}`, `{"all":"enabled=false","rules":["score action=log score=25"]}`},
		{`{"rules":[{"id":"R2","enabled":false},{"id":"R0","action":"log"}]}`, `{"disable_rules":["ref-2"],"rules":["ref-0 action=log"]}`},
		{`{"categories":[{"category":"gone","enabled":false}],"rules":[{"id":"R9","enabled":false},{"id":"R1","action":"rewrite"}]}`, `{"keep":["gone","R9","ref-1"]}`},
		{`{"rules":[{"id":"R8","score_threshold":25,"enabled":false}]}`, `{"disable_rules":["score"],"keep":["score"]}`},
		{`{"action":"log","sensitivity_level":"fierce"}`, `{"all":"action=log","keep":["all"]}`},
	} {
		d := NewDeclarer(difftest.Managed(), false).Declare(difftest.Execute(difftest.ParseOverrides(t, c.live)))
		if got := difftest.Names(true).Replace(declared(t, d)); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.live, got, c.want)
		}
	}
}

// declared is what a declaration says of overrides, in short.
func declared(t *testing.T, d desired.Deployment) string {
	t.Helper()
	ref := func(r desired.RuleRef) string { return cmp.Or(r.Ref, string(r.ID)) }
	out := struct {
		Paranoia     *int     `json:"paranoia,omitempty"`
		Threshold    string   `json:"threshold,omitempty"`
		DisableRules []string `json:"disable_rules,omitempty"`
		DisableTags  []string `json:"disable_tags,omitempty"`
		All          string   `json:"all,omitempty"`
		Tags         []string `json:"tags,omitempty"`
		Rules        []string `json:"rules,omitempty"`
		Keep         []string `json:"keep,omitempty"`
	}{All: overrideText(d.All)}
	if d.Paranoia != nil {
		out.Paranoia = &d.Paranoia.Value
	}
	if d.Threshold != nil {
		out.Threshold = fmt.Sprintf("%d %s", d.Threshold.Score.Value, d.Threshold.Action.Value)
	}
	for _, r := range d.Disable.Rules {
		out.DisableRules = append(out.DisableRules, ref(r.Value))
	}
	for _, tag := range d.Disable.Tags {
		out.DisableTags = append(out.DisableTags, tag.Value)
	}
	for _, o := range d.Tags {
		out.Tags = append(out.Tags, o.Tag+" "+overrideText(o.Override))
	}
	for _, o := range d.Rules {
		out.Rules = append(out.Rules, ref(o.Rule)+" "+overrideText(o.Override))
	}
	for _, one := range d.Decisions {
		name := cmp.Or(one.Tag, ref(one.Rule))
		if one.All {
			name = "all"
		}
		out.Keep = append(out.Keep, name)
	}
	data, err := json.Marshal(out)
	must.Do(t, err)
	return string(data)
}

func overrideText(o desired.Override) string {
	var parts []string
	if o.Enabled != nil {
		parts = append(parts, fmt.Sprintf("enabled=%v", o.Enabled.Value))
	}
	if o.Action != nil {
		parts = append(parts, fmt.Sprintf("action=%s", o.Action.Value))
	}
	if o.Sensitivity != nil {
		parts = append(parts, "sensitivity="+o.Sensitivity.Value)
	}
	if o.Score != nil {
		parts = append(parts, fmt.Sprintf("score=%d", o.Score.Value))
	}
	return strings.Join(parts, " ")
}
