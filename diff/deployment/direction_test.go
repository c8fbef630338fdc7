package deployment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

func TestActionDirection(t *testing.T) {
	// From each row's action to each column's: strengthens +, weakens -, neutral =.
	actions := []edge.Action{"block", "managed_challenge", "js_challenge", "challenge", "log", "skip", "rewrite"}
	for i, row := range []string{
		"= - - - - - -", // from block
		"+ = - - - - -", // from managed_challenge
		"+ + = = - - -", // from js_challenge
		"+ + = = - - -", // from challenge
		"+ + + + = - -", // from log
		"- - - - - = -", // an action nobody here ranks
		"- - - - - - =",
	} {
		for j, sign := range strings.Fields(row) {
			want := map[string]diff.Direction{"+": diff.Strengthens, "-": diff.Weakens, "=": diff.Neutral}[sign]
			if got := actionDirection(actions[i], actions[j]); got != want {
				t.Errorf("%s to %s %s, want %s", actions[i], actions[j], got, want)
			}
		}
	}
}

func TestDirectionOfOverrides(t *testing.T) {
	for _, test := range []struct{ name, live, want, fields string }{
		{"a tag off", ``, `{"categories":[{"category":"sqli","enabled":false}]}`, "categories[sqli].enabled weakens"},
		{"a tag on again", `{"categories":[{"category":"sqli","enabled":false}]}`, ``, "categories[sqli].enabled strengthens"},
		{"a tag on that was off by default", ``, `{"categories":[{"category":"php","enabled":true}]}`, "categories[php].enabled strengthens"},
		{"and no more", `{"categories":[{"category":"php","enabled":true}]}`, ``, "categories[php].enabled weakens"},
		{"a tag that no rule carries", ``, `{"categories":[{"category":"gone","enabled":false}]}`, "categories[gone].enabled neutral"},
		{"a tag whose rules are off anyway", `{"rules":[{"id":"R5","enabled":false}]}`, `{"rules":[{"id":"R5","enabled":true}]}`, "rules[R5].enabled strengthens"},
		{"a rule off", ``, `{"rules":[{"id":"R0","enabled":false}]}`, "rules[R0].enabled weakens"},
		{"a rule off that is off by default", ``, `{"rules":[{"id":"R5","enabled":false}]}`, "rules[R5].enabled neutral"},
		{"a rule on that is on by default", ``, `{"rules":[{"id":"R0","enabled":true}]}`, "rules[R0].enabled neutral"},
		{"a rule that is gone", ``, `{"rules":[{"id":"R9","enabled":false}]}`, "rules[R9].enabled neutral"},
		{
			"rule over category: the tag goes off, the rule stays on", `{"rules":[{"id":"R1","enabled":true},{"id":"R4","enabled":true},{"id":"R7","enabled":true}]}`,
			`{"categories":[{"category":"xss","enabled":false}],"rules":[{"id":"R1","enabled":true},{"id":"R4","enabled":true},{"id":"R7","enabled":true}]}`,
			"categories[xss].enabled neutral",
		},
		{
			"last category wins", `{"categories":[{"category":"sqli","enabled":false},{"category":"PL1","enabled":true}]}`,
			`{"categories":[{"category":"PL1","enabled":true},{"category":"sqli","enabled":false}]}`, "categories weakens",
		},
		{
			"and the other way round", `{"categories":[{"category":"PL1","action":"block"},{"category":"sqli","action":"log"}]}`,
			`{"categories":[{"category":"sqli","action":"log"},{"category":"PL1","action":"block"}]}`, "categories strengthens",
		},
		{
			"a tag on, and another one off", ``, `{"categories":[{"category":"PL1","enabled":true},{"category":"sqli","enabled":false}]}`,
			"categories[PL1].enabled neutral categories[sqli].enabled weakens",
		},
		{
			"a tag that blocks, and a later one that logs", ``, `{"categories":[{"category":"PL1","action":"block"},{"category":"sqli","action":"log"}]}`,
			"categories[PL1].action neutral categories[sqli].action weakens",
		},
		{
			"a tag off, and its rules one by one", ``, `{"categories":[{"category":"PL1","enabled":false}],"rules":[{"id":"R0","enabled":false},{"id":"R1","enabled":false}]}`,
			"categories[PL1].enabled weakens rules[R0].enabled weakens rules[R1].enabled weakens",
		},
		{
			"the entry goes that had the last word", `{"categories":[{"category":"sqli","enabled":false}],"rules":[{"id":"R0","enabled":true}]}`, `{"categories":[{"category":"sqli","enabled":false}]}`,
			"rules[R0].enabled weakens",
		},
		{"ruleset-wide off", ``, `{"enabled":false}`, "enabled weakens"},
		{"ruleset-wide on reaches what was off", ``, `{"enabled":true}`, "enabled strengthens"},
		{
			"ruleset-wide off where every rule is overridden", `{"categories":[{"category":"PL1","enabled":true},{"category":"PL2","enabled":true},{"category":"PL3","enabled":true},{"category":"PL4","enabled":true}],"rules":[{"id":"R8","enabled":true}]}`,
			`{"enabled":false,"categories":[{"category":"PL1","enabled":true},{"category":"PL2","enabled":true},{"category":"PL3","enabled":true},{"category":"PL4","enabled":true}],"rules":[{"id":"R8","enabled":true}]}`,
			"enabled neutral",
		},
		{"ruleset-wide action", ``, `{"action":"log"}`, "action weakens"},
		{
			"which does not reach the last rule", `{"categories":[{"category":"PL1","action":"log"},{"category":"PL2","action":"log"},{"category":"PL3","action":"log"},{"category":"PL4","action":"log"}]}`,
			`{"action":"log","categories":[{"category":"PL1","action":"log"},{"category":"PL2","action":"log"},{"category":"PL3","action":"log"},{"category":"PL4","action":"log"}]}`,
			"action neutral",
		},
		{"an action of rules that are off", `{"categories":[{"category":"sqli","enabled":false}]}`, `{"categories":[{"category":"sqli","enabled":false,"action":"log"}]}`, "categories[sqli].action neutral"},
		{"on, with an action weaker than the default", ``, `{"rules":[{"id":"R5","enabled":true,"action":"log"}]}`, "rules[R5].action neutral rules[R5].enabled strengthens"},
		{"on, with an action that stops nothing", ``, `{"rules":[{"id":"R5","enabled":true,"action":"skip"}]}`, "rules[R5].action weakens rules[R5].enabled strengthens"},
		{"a threshold of a rule that is off", `{"rules":[{"id":"R8","enabled":false}]}`, `{"rules":[{"id":"R8","enabled":false,"score_threshold":60}]}`, "rules[R8].score_threshold neutral"},
		{"a weaker action", ``, `{"rules":[{"id":"R8","action":"challenge"}]}`, "rules[R8].action weakens"},
		{"the default action said", ``, `{"rules":[{"id":"R8","action":"block"}]}`, "rules[R8].action neutral"},
		{"a stronger action", `{"rules":[{"id":"R8","action":"log"}]}`, `{"rules":[{"id":"R8","action":"js_challenge"}]}`, "rules[R8].action strengthens"},
		{"a higher threshold", ``, `{"rules":[{"id":"R8","score_threshold":60}]}`, "rules[R8].score_threshold weakens"},
		{"a lower threshold", ``, `{"rules":[{"id":"R8","score_threshold":25}]}`, "rules[R8].score_threshold strengthens"},
		{"another threshold", `{"rules":[{"id":"R8","score_threshold":60}]}`, `{"rules":[{"id":"R8","score_threshold":61}]}`, "rules[R8].score_threshold weakens"},
		{"the default threshold said", ``, `{"rules":[{"id":"R8","score_threshold":40}]}`, "rules[R8].score_threshold neutral"},
		{"back to the default threshold", `{"rules":[{"id":"R8","score_threshold":60}]}`, ``, "rules[R8].score_threshold strengthens"},
		{"a threshold where there was none", ``, `{"rules":[{"id":"R0","score_threshold":60}]}`, "rules[R0].score_threshold strengthens"},
		{"and no more", `{"rules":[{"id":"R0","score_threshold":60}]}`, ``, "rules[R0].score_threshold weakens"},
		{"less sensitive", ``, `{"sensitivity_level":"low"}`, "sensitivity_level weakens"},
		{"more sensitive", `{"sensitivity_level":"eoff"}`, `{"sensitivity_level":"medium"}`, "sensitivity_level strengthens"},
		{"sensitive in another way", `{"rules":[{"id":"R0","sensitivity_level":"low"}]}`, `{"rules":[{"id":"R0","sensitivity_level":"eoff"}]}`, "rules[R0].sensitivity_level weakens"},
		{
			"less sensitive by order", `{"categories":[{"category":"sqli","sensitivity_level":"low"},{"category":"PL1","sensitivity_level":"medium"}]}`,
			`{"categories":[{"category":"PL1","sensitivity_level":"medium"},{"category":"sqli","sensitivity_level":"low"}]}`, "categories weakens",
		},
		{
			"an order that only shows once tags listed twice count once", `{"categories":[{"category":"sqli","action":"log"},{"category":"PL1","action":"block"},{"category":"sqli","enabled":true}]}`,
			`{"categories":[{"category":"PL1","action":"block"},{"category":"sqli","action":"log","enabled":true}]}`, "categories weakens",
		},
		{"as sensitive", `{"sensitivity_level":"default"}`, ``, "sensitivity_level neutral"},
		{"sensitive in an unknown way", ``, `{"categories":[{"category":"sqli","sensitivity_level":"extreme"}]}`, "categories[sqli].sensitivity_level weakens"},
		{"an unknown member", `{"rules":[{"id":"R0","x_future":1}]}`, ``, "rules[R0].x_future weakens"},
		{"an unknown member of an entry that stays", `{"rules":[{"id":"R0","enabled":true,"x_future":1}]}`, `{"rules":[{"id":"R0","enabled":true}]}`, "rules[R0].x_future weakens"},
		{"an unknown member that is new", ``, `{"rules":[{"id":"R0","x_future":1}]}`, "rules[R0].x_future weakens"},
		{"an unknown member with the name of a known one", `{"rules":[{"id":"R0","x.enabled":1}]}`, ``, "rules[R0].x.enabled weakens"},
		{
			"what weakens is not made up for", `{"rules":[{"id":"R8","action":"log"}]}`, `{"rules":[{"id":"R8","action":"block","score_threshold":60}]}`,
			"rules[R8].action strengthens rules[R8].score_threshold weakens",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			fields := fieldsOf(t, index(difftest.Managed()), test.live, test.want)
			if got := said(fields); got != test.fields {
				t.Errorf("got %s, want %s", got, test.fields)
			}
		})
	}
}

// Only a scoring ruleset sets its outcome on its last rule.
func TestWideActionReachesTheLastRuleThatDoesNotScore(t *testing.T) {
	plain := difftest.Managed()
	plain.Rules[8].ScoreThreshold = nil
	for i := range 8 {
		plain.Rules[i].Action = edge.ActionLog
	}
	if got := said(fieldsOf(t, index(plain), ``, `{"action":"log"}`)); got != "action weakens" {
		t.Errorf("got %s", got)
	}
}

func fieldsOf(t *testing.T, m *managed, live, want string) []diff.Field {
	t.Helper()
	a, b := difftest.Execute(difftest.ParseOverrides(t, live)), difftest.Execute(difftest.ParseOverrides(t, want))
	fields := compare(a, b, m)
	direct(fields, a, b, pin{managed: m, before: m})
	return fields
}

func said(fields []diff.Field) string {
	var list []string
	for _, f := range fields {
		path := strings.NewReplacer(`overrides.`, "", `"`, "").Replace(difftest.Names(true).Replace(string(f.Path)))
		list = append(list, path+" "+string(f.Direction))
	}
	return strings.Join(list, " ")
}

// Where the platform shows no tags, what a category does is judged by what it
// says: only switching something on, or no longer off, is better than before.
func TestDirectionWithoutTags(t *testing.T) {
	blind := difftest.Managed()
	for i := range blind.Rules {
		blind.Rules[i].Categories = nil
	}
	for _, test := range []struct {
		live, want string
		direction  diff.Direction
	}{
		{``, `{"categories":[{"category":"sqli","enabled":false}]}`, diff.Weakens},
		{``, `{"categories":[{"category":"sqli","enabled":true}]}`, diff.Strengthens},
		{`{"categories":[{"category":"sqli","enabled":false}]}`, ``, diff.Strengthens},
		{`{"categories":[{"category":"sqli","enabled":true}]}`, ``, diff.Weakens},
		{``, `{"categories":[{"category":"sqli","action":"block"}]}`, diff.Weakens},
		{`{"categories":[{"category":"sqli","sensitivity_level":"low"}]}`, ``, diff.Weakens},
		{``, `{"rules":[{"id":"R9","enabled":false}]}`, diff.Neutral},
	} {
		fields := fieldsOf(t, index(blind), test.live, test.want)
		if len(fields) != 1 || fields[0].Direction != test.direction {
			t.Errorf("%s to %s: got %+v, want %s", test.live, test.want, fields, test.direction)
		}
	}
}

// A tag is whatever text the platform gives it; its path must still lead back
// to its rules.
func TestDirectionOfTagsWithStrangeNames(t *testing.T) {
	for _, tag := range []string{`a"].enabled`, `back\slash`, "new\nline", "\u202e", "\xff", `["x"]`, "."} {
		m := difftest.Managed()
		m.Rules[0].Categories = []string{tag}
		want := edge.Overrides{Categories: []edge.CategoryOverride{{Category: tag, Enabled: new(false)}}}
		a, b := difftest.Execute(nil), difftest.Execute(&want)
		fields := compare(a, b, index(m))
		direct(fields, a, b, pin{managed: index(m)})
		if len(fields) != 1 || fields[0].Direction != diff.Weakens || fields[0].Path != categoryMember(tag, "enabled") {
			t.Errorf("%q: got %+v", tag, fields)
		}
	}
}

func TestDirectionOfTheRuleItself(t *testing.T) {
	for _, test := range []struct {
		live, want  string
		from, to    *bool
		expectation string
	}{
		{"true", "true", nil, new(false), "enabled weakens"},
		{"true", "true", new(false), new(true), "enabled strengthens"},
		{"true", "true", nil, new(true), ""},
		{"true", `http.host eq "a"`, nil, nil, "expression weakens"},
		{`http.host eq "a"`, "true", nil, nil, "expression strengthens"},
		{`http.host eq "a"`, `http.host eq "b"`, nil, nil, "expression weakens"},
		{`{"a":1}`, "true", nil, nil, "expression strengthens"},
	} {
		a, b := difftest.Execute(nil), difftest.Execute(nil)
		a.Expression, a.Enabled, b.Expression, b.Enabled = test.live, test.from, test.want, test.to
		m := index(difftest.Managed())
		fields := compare(a, b, m)
		direct(fields, a, b, pin{managed: m, before: m})
		if got := said(fields); got != test.expectation {
			t.Errorf("%+v: got %s", test, got)
		}
		for _, f := range fields {
			if f.Path == "expression" && f.Old != any(test.live) {
				t.Errorf("old is %#v", f.Old)
			}
		}
	}
}

func TestCombine(t *testing.T) {
	for _, test := range []struct {
		of   []diff.Direction
		want diff.Direction
	}{
		{nil, diff.Neutral},
		{[]diff.Direction{diff.Neutral, diff.Strengthens, diff.Neutral}, diff.Strengthens},
		{[]diff.Direction{diff.Strengthens, diff.Weakens, diff.Strengthens}, diff.Weakens},
		{[]diff.Direction{diff.Neutral, diff.Neutral}, diff.Neutral},
	} {
		if got := diff.Combine(test.of...); got != test.want {
			t.Errorf("%v: got %s, want %s", test.of, got, test.want)
		}
	}
}

func TestOverrideKey(t *testing.T) {
	for path, want := range map[diff.Member]string{
		`overrides.rules["a"].action`:          `rules a action`,
		`overrides.rules["a"]`:                 `rules a `,
		`overrides.categories["a\"].b"].x.y`:   `categories a"].b x.y`,
		`overrides.enabled`:                    `  enabled`,
		`overrides.categories`:                 `  categories`,
		`overrides.odd["unended`:               `  odd["unended`,
		`expression`:                           `  expression`,
		categoryMember("\x00\u202e", "action"): "categories \x00\u202e action",
	} {
		list, key, member := path.Override()
		if got := fmt.Sprintf("%s %s %s", list, key, member); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
