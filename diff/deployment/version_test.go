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

// older is version 3 of the managed ruleset: it lacks the first rule of the latest, and
// its second rule only logs.
func older() edge.Ruleset {
	r := difftest.Managed()
	r.Version, r.Rules = "3", append([]edge.Rule{}, r.Rules[1:]...)
	r.Rules[0].Action = edge.ActionLog
	return r
}

// A deployment is resolved against the version that it is to run.
func TestPinnedVersions(t *testing.T) {
	rule0 := difftest.DisabledRule(0)
	version := func(v string) difftest.Intent {
		return func(d *desired.Deployment) { d.Version = difftest.Declared(5, v) }
	}
	decide := func(as desired.Unmanaged) difftest.Intent {
		return difftest.Decide(as, desired.Decision{Version: true})
	}
	number := difftest.Managed().Version
	for _, test := range []struct {
		name       string
		live       string
		documented bool
		declares   []difftest.Intent
		want       string
	}{
		{"latest is nothing to say", "latest", false, nil, "in sync"},
		{"none is the latest", "", false, []difftest.Intent{version("latest")}, "in sync"},
		{"pinned as declared", "3", false, []difftest.Intent{version("3")}, "in sync"},
		{"unpinned", "3", false, []difftest.Intent{version("latest")}, `strengthens "3" → "latest"`},
		{"pinned to an older one", "latest", false, []difftest.Intent{version("3")}, `weakens "latest" → "3"`},
		{"pinned to the one that is the latest", "latest", false, []difftest.Intent{version(number)}, fmt.Sprintf("neutral \"latest\" → %q", number)},
		{"no such version", "latest", false, []difftest.Intent{version("99")}, "blocked: version: managed ruleset \"Core Ruleset\" has no version 99"},
		{"a rule that only the latest has", "3", false, []difftest.Intent{version("3"), rule0}, "blocked: disable.rules: managed ruleset \"Core Ruleset\" has no rule 00000000000000000000000000abc000 (version 3)"},
		{"undecided", "3", false, nil, "undecided: the execute rule is pinned to a version that nothing declares: version (the latest is 7)"},
		{"kept", "3", false, []difftest.Intent{difftest.Keep}, `kept version = "3"`},
		{"removed", "3", false, []difftest.Intent{difftest.Remove}, `strengthens "3" → "latest"`},
		{"kept by itself", "3", false, []difftest.Intent{difftest.Remove, decide(desired.Keep)}, `kept version = "3"`},
		{"removed by itself", "3", false, []difftest.Intent{difftest.Keep, decide(desired.Remove)}, `strengthens "3" → "latest"`},
		{"kept, and a rule that it lacks", "3", false, []difftest.Intent{difftest.Keep, rule0}, "blocked: disable.rules: managed ruleset \"Core Ruleset\" has no rule 00000000000000000000000000abc000 (version 3)"},
		{"beyond the reference", "latest", true, []difftest.Intent{version("3")}, "blocked: version: the platform's reference has no call that reads version 3 of managed ruleset \"Core Ruleset\""},
		{"a number is not, whichever is the latest", "latest", true, []difftest.Intent{version(number)}, fmt.Sprintf("blocked: version: the platform's reference has no call that reads version %s of managed ruleset \"Core Ruleset\"", number)},
		{"latest is in the reference", "3", true, []difftest.Intent{version("latest")}, `weakens "3" → "latest"`},
		{"kept where it cannot be read", "3", true, []difftest.Intent{difftest.Keep}, `kept version = "3"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			rule := difftest.Execute(nil)
			rule.ActionParameters.Version = test.live
			live := difftest.Live(rule)
			account := live.Accounts[difftest.Account]
			account.Documented = test.documented
			if !test.documented {
				account.Versions = map[diff.RulesetVersion]diff.Observed[edge.Ruleset]{
					{Ruleset: difftest.Core, Version: "3"}:  {Value: older()},
					{Ruleset: difftest.Core, Version: "99"}: {Err: edge.ErrNotFound},
				}
			}
			live.Accounts[difftest.Account] = account
			out := Kind{}.Plan(diff.Input{State: difftest.State(difftest.Deployment(test.declares...)), Live: live})
			got := "in sync"
			for _, k := range out.Kept {
				got = fmt.Sprintf("kept %s = %q", k.Members[0].Path, k.Members[0].Value)
			}
			for _, problem := range out.Problems {
				got = fmt.Sprintf("%s: %s", problem.State, problem.Line())
			}
			for _, c := range out.Changes {
				f := c.Field("version")
				if want := "the latest is " + number; !strings.HasPrefix(f.Note, want) {
					t.Errorf("the note is %q", f.Note)
				}
				got = fmt.Sprintf("%s %q → %q", c.Direction, f.Old, f.New)
				if sent := difftest.UpdateOf(c).Body.ActionParameters.Version; sent != f.New {
					t.Errorf("sends version %q", sent)
				}
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A mistake that is none in the latest version has a hint that says so, and a change of the
// version names the rules that it changes.
func TestVersionsAreExplained(t *testing.T) {
	rule := difftest.Execute(nil)
	rule.ActionParameters.Version = "3"
	live := difftest.Live(rule)
	account := live.Accounts[difftest.Account]
	account.Versions = map[diff.RulesetVersion]diff.Observed[edge.Ruleset]{{Ruleset: difftest.Core, Version: "3"}: {Value: older()}}
	live.Accounts[difftest.Account] = account
	plan := func(declares ...difftest.Intent) diff.Part {
		return Kind{}.Plan(diff.Input{State: difftest.State(difftest.Deployment(declares...)), Live: live})
	}
	out := plan(difftest.Keep, difftest.DisabledRule(0), difftest.DisableTag("none"))
	var hints []string
	for _, p := range out.Problems {
		hints = append(hints, p.Hint)
	}
	if got, want := strings.Join(hints, "|"), `|version 7, the latest, has it: declare version: "latest"`; got != want {
		t.Errorf("hints %q, want %q", got, want)
	}
	out = plan(func(d *desired.Deployment) { d.Version = difftest.Declared(5, "latest") })
	if got, want := out.Changes[0].Field("version").Note, "the latest is 7; new: ref-0"; got != want {
		t.Errorf("note %q, want %q", got, want)
	}
}

// Where the account's rulesets could be listed, a call that the platform does not know says
// nothing about the base address; and one without versions is as the reference has it.
func TestCallsThatAreNotOffered(t *testing.T) {
	unknown := &edge.Error{Status: 404, Details: []edge.ErrorDetail{{Code: edge.CodeNoRoute, Message: "could not route"}}}
	pinned := func(declares ...difftest.Intent) diff.Plan {
		rule := difftest.Execute(nil)
		rule.ActionParameters.Version = "3"
		live := difftest.Live(rule)
		account := live.Accounts[difftest.Account]
		account.Versions = map[diff.RulesetVersion]diff.Observed[edge.Ruleset]{{Ruleset: difftest.Core, Version: "3"}: {Err: unknown}}
		live.Accounts[difftest.Account] = account
		return planScene(difftest.Scene{State: difftest.State(difftest.Deployment(declares...)), Live: live})
	}
	if p := pinned(difftest.Keep, difftest.DisabledRule(0)); len(p.Problems) != 0 || len(p.Changes) != 1 {
		t.Errorf("a pin that is kept: %+v", p)
	}
	p := pinned(func(d *desired.Deployment) { d.Version = difftest.Declared(5, "3") })
	if len(p.Problems) != 1 || p.Problems[0].State != diff.Blocked || p.Problems[0].Hint != `declare version: "latest"` {
		t.Errorf("a pin that is declared: %+v", p.Problems)
	}
	for name, spoil := range map[string]func(diff.Live){
		"entry point": func(l diff.Live) {
			l.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: unknown}
		},
		"managed ruleset": func(l diff.Live) {
			l.Accounts[difftest.Account].Managed[difftest.Core] = diff.Observed[edge.Ruleset]{Err: unknown}
		},
	} {
		live := difftest.Live(difftest.Execute(nil))
		spoil(live)
		p := planScene(difftest.Scene{State: difftest.State(difftest.Deployment()), Live: live})
		if len(p.Problems) != 1 || p.Problems[0].Hint != hintOffered {
			t.Errorf("%s: %+v", name, p.Problems)
		}
	}
}

// Beside a pin to a version that cannot be read nothing is known of the rules: what goes may
// have been all that protected, also on a rule that the latest version lacks.
func TestDirectionBesideAnUnreadVersion(t *testing.T) {
	const gone = "0000000000000000000000000000dead"
	for _, test := range []struct {
		live, want string
		direction  diff.Direction
	}{
		{`{"rules":[{"id":"` + gone + `","action":"block"}]}`, ``, diff.Weakens},
		{`{"rules":[{"id":"` + gone + `","action":"log"}]}`, `{"rules":[{"id":"` + gone + `","action":"block"}]}`, diff.Strengthens},
		{`{"rules":[{"id":"` + gone + `","enabled":true}]}`, ``, diff.Weakens},
		{`{"rules":[{"id":"` + gone + `","enabled":false}]}`, ``, diff.Strengthens},
		{``, `{"rules":[{"id":"` + gone + `","enabled":false}]}`, diff.Weakens},
		{`{"rules":[{"id":"` + gone + `","score_threshold":25}]}`, ``, diff.Weakens},
		{`{"categories":[{"category":"no-such","action":"block"}]}`, ``, diff.Weakens},
		{`{"categories":[{"category":"no-such","sensitivity_level":"default"}]}`, `{"categories":[{"category":"no-such","sensitivity_level":"low"}]}`, diff.Weakens},
		{`{"sensitivity_level":"low"}`, `{"sensitivity_level":"medium"}`, diff.Strengthens},
		{`{"action":"block"}`, ``, diff.Weakens},
	} {
		none := index(edge.Ruleset{ID: difftest.Core, Version: "7"})
		m := index(difftest.Managed())
		for name, p := range map[string]pin{"unread": pin{want: "3"}.unknown(m), "without rules": {managed: none, before: none}} {
			a, b := difftest.Execute(difftest.ParseOverrides(t, test.live)), difftest.Execute(difftest.ParseOverrides(t, test.want))
			fields := compare(a, b, p.managed)
			direct(fields, a, b, p)
			if len(fields) != 1 || fields[0].Direction != test.direction {
				t.Errorf("%s: %s to %s: got %+v, want %s", name, test.live, test.want, fields, test.direction)
			}
		}
	}
}

// A revert that puts a version back cannot show what that does: only the latest is at hand.
func TestRestoringAVersionWeakens(t *testing.T) {
	now, was := difftest.Execute(nil), difftest.Execute(nil)
	now.ActionParameters.Version, was.ActionParameters.Version = "latest", "3"
	m := index(difftest.Managed())
	for _, rules := range [][2]edge.Rule{{now, was}, {was, now}} {
		fields := compare(rules[0], rules[1], m)
		direct(fields, rules[0], rules[1], restoredPin(rules[0], rules[1], m))
		if len(fields) != 1 || fields[0].Direction != diff.Weakens {
			t.Errorf("got %+v", fields)
		}
	}
}
