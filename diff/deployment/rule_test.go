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

// describedRules is [difftest.Managed] with a description for each of some rules.
func describedRules(descriptions map[int]string) edge.Ruleset {
	r := difftest.Managed()
	for i, text := range descriptions {
		r.Rules[i].Description = &text
	}
	return r
}

var wordPress = map[int]string{0: "WordPress login brute force", 1: "WordPress XML-RPC call", 2: "Login with a leaked password", 3: "Path traversal"}

func TestNearestRules(t *testing.T) {
	name := func(i int) string { return fmt.Sprintf("%s (ref-%d, %q)", difftest.RuleID(i), i, wordPress[i]) }
	twice := map[int]string{0: "SQL injection", 1: "SQL injection"}
	for _, test := range []struct {
		descriptions map[int]string
		ref          desired.RuleRef
		message      string
		hint         string
	}{
		{wordPress, desired.RuleRef{Description: "WordPress login brute force"}, "", ""},
		{
			wordPress,
			desired.RuleRef{Ref: "WordPress login brute force"},
			`has no rule with ref "WordPress login brute force"`,
			"that is a description: write {description: …}, or name the rule by its id: " + name(0),
		},
		{
			wordPress,
			desired.RuleRef{Description: "ref-2"},
			`has no rule with description "ref-2"`,
			"that is a ref: write {ref: …}, or name the rule by its id: " + name(2),
		},
		{
			wordPress,
			desired.RuleRef{Description: "brute force of the wordpress login"},
			`has no rule with description`,
			"the nearest: " + name(0) + ", " + name(1) + ", " + name(2),
		},
		{
			wordPress,
			desired.RuleRef{Ref: "wordpres-login-bruteforce"},
			`has no rule with ref`,
			"the nearest: " + name(0) + ", " + name(1) + ", " + name(2),
		},
		{
			twice,
			desired.RuleRef{Description: "SQL injection"},
			`has 2 rules with description "SQL injection"`,
			fmt.Sprintf(`name the rule by its id: %s (ref-0, "SQL injection"), %s (ref-1, "SQL injection")`, difftest.RuleID(0), difftest.RuleID(1)),
		},
	} {
		f := index(describedRules(test.descriptions)).find(test.ref)
		if !strings.Contains(f.message, test.message) || (test.message == "") != (f.message == "") || f.hint != test.hint {
			t.Errorf("%s:\n%s\n%s\nwant\n%s\n%s", test.ref, f.message, f.hint, test.message, test.hint)
		}
	}
}

// A description that names another rule than the one it was proved with changes nothing:
// the platform's change is no change of the declaration.
func TestDescriptionThatMoves(t *testing.T) {
	const text = "WordPress login brute force"
	by := desired.RuleRef{Description: text}
	plan := func(d desired.Deployment, managed edge.Ruleset, rule edge.Rule, applied diff.Applied) diff.Part {
		live := difftest.Live(rule)
		account := live.Accounts[difftest.Account]
		account.Managed = map[edge.RulesetID]diff.Observed[edge.Ruleset]{difftest.Core: {Value: managed}}
		live.Accounts[difftest.Account] = account
		return Kind{}.Plan(diff.Input{State: difftest.State(d), Live: live, Applied: applied})
	}
	for name, d := range map[string]desired.Deployment{
		"disabled":   difftest.Deployment(difftest.DisableRule(by)),
		"overridden": difftest.Deployment(difftest.RuleOf(by, difftest.Override("enabled: false"))),
	} {
		t.Run(name, func(t *testing.T) {
			first := plan(d, describedRules(wordPress), difftest.Execute(nil), nil)
			if len(first.Problems) > 0 || len(first.Changes) != 1 || first.Changes[0].Fields[0].Path != ruleMember(difftest.RuleID(0), "enabled") {
				t.Fatalf("the first plan has %+v and %+v", first.Changes, first.Problems)
			}
			rule := replaced(difftest.Execute(nil), difftest.UpdateOf(first.Changes[0]).Body)
			settled := plan(d, describedRules(wordPress), rule, diff.Applied{first.Changes[0].ID(): first.Changes[0].Do().Owned()})
			if len(settled.Settled) != 1 || len(settled.Problems) > 0 {
				t.Fatalf("it does not agree: %+v", settled.Problems)
			}
			applied := diff.Applied{settled.Settled[0].ID: settled.Settled[0].Owned}

			for _, test := range []struct {
				what          string
				descriptions  map[int]string
				message, hint string
			}{
				{"on another rule", map[int]string{4: text, 0: "Old rule"}, fmt.Sprintf("the description %q names rule %s now, and named %s (ref-0, \"Old rule\") when it was last applied", text, difftest.RuleID(4), difftest.RuleID(0)), "by its id"},
				{"on two rules", map[int]string{0: text, 4: text}, "has 2 rules with description", fmt.Sprintf("it named %s (ref-0, %q): name the rule by its id", difftest.RuleID(0), text)},
				{"on none", map[int]string{0: "New words"}, "has no rule with description", fmt.Sprintf("it named %s (ref-0, \"New words\"): name the rule by its id", difftest.RuleID(0))},
			} {
				after := plan(d, describedRules(test.descriptions), rule, applied)
				if len(after.Changes) > 0 || len(after.Settled) > 0 || len(after.Problems) != 1 {
					t.Fatalf("%s: it has %+v and %+v", test.what, after.Changes, after.Problems)
				}
				if p := after.Problems[0]; p.State != diff.Blocked || !strings.Contains(p.Reason, test.message) || !strings.Contains(p.Hint, test.hint) {
					t.Errorf("%s: %s\n%s", test.what, p.Reason, p.Hint)
				}
			}
		})
	}
}
