package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// proved plans and writes until a deployment agrees, and returns what is live and on
// record then.
func proved(t rapid.TB, d desired.Deployment, live edge.Rule, applied diff.Applied, reports bool) (edge.Rule, diff.Applied) {
	for range 3 {
		out := Kind{}.Plan(diff.Input{State: difftest.State(d), Live: difftest.Live(live), Applied: applied, Reports: reports})
		for _, s := range out.Settled {
			return live, diff.Applied{s.ID: s.Owned}
		}
		if len(out.Changes) == 0 {
			t.Skip("the declaration has mistakes")
		}
		live = replaced(live, difftest.UpdateOf(out.Changes[0]).Body)
	}
	t.Fatal("it does not converge")
	return live, nil
}

// undecidedNow are the members that a plan names as undecided.
func undecidedNow(d desired.Deployment, live edge.Rule, applied diff.Applied, reports bool) (paths []diff.Member) {
	for _, p := range (Kind{}).Plan(diff.Input{State: difftest.State(d), Live: difftest.Live(live), Applied: applied, Reports: reports}).Problems {
		for _, l := range p.Unmanaged {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

// What was there at the first proof stays, whatever comes later; what comes later goes, or
// is named where it is only reported.
func TestWhatCameAfterTheFirstProof(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, reports := genUndecided(t), rapid.Bool().Draw(t, "only reported")
		first := difftest.Execute(difftest.GenOverrides(t))
		first, applied := proved(t, d, first, nil, reports)
		before := liveMembers(first)

		second := first
		parameters := *first.ActionParameters
		parameters.Overrides = difftest.GenOverrides(t)
		second.ActionParameters = &parameters
		changed := liveMembers(second)
		second, again := proved(t, d, second, applied, reports)
		after, claimed := liveMembers(second), declaredMembers(d)

		for path, value := range changed {
			_, was := before[path]
			owned := slices.Contains(applied[diff.DeploymentID{Scope: difftest.Zone, Ruleset: difftest.Core}], path)
			if was && !claimed[path] && !owned && decisionOn(d, path) == "" && after[path] != value {
				t.Fatalf("%s was there at the first proof, was %v, and became %v", path, value, after[path])
			}
		}
		for _, path := range undecidedNow(d, second, again, reports) {
			if _, was := before[path]; !was && !reports {
				t.Fatalf("%s came later and is undecided", path)
			}
		}
		for path, value := range changed {
			_, was := before[path]
			if reports && !was && !claimed[path] && decisionOn(d, path) == "" && after[path] != value {
				t.Fatalf("%s = %v is not only reported: %v", path, value, after[path])
			}
		}
	})
}

// A lost record, and one of an earlier version, make nothing new: a first look wipes
// nothing.
func TestNothingIsNewWithoutARecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genUndecided(t)
		live := difftest.Execute(difftest.GenOverrides(t))
		applied := genApplied(t) // of a version that remembered nothing
		owned := applied[diff.DeploymentID{Scope: difftest.Zone, Ruleset: difftest.Core}]
		before, claimed := liveMembers(live), declaredMembers(d)
		live, _ = proved(t, d, live, applied, false)
		after := liveMembers(live)
		for path, value := range before {
			list, key, _ := path.Override()
			ours := slices.Contains(owned, path) || slices.Contains(owned, entryMember(list, key, ""))
			if !claimed[path] && !ours && decisionOn(d, path) == "" && after[path] != value {
				t.Fatalf("%s was %v and became %v", path, value, after[path])
			}
		}
	})
}

// Each change by hand after the first proof, where the declaration does not decide.
func TestDriftOfWhatIsNotDeclared(t *testing.T) {
	const had = `{"categories":[{"category":"xss","action":"log"}]}`
	declared := difftest.Deployment(difftest.Paranoia(2))
	for _, test := range []struct{ name, now, goes, stays string }{
		{"nothing", had, "", `tag xss action`},
		{"ruleset off", `{"enabled":false,"categories":[{"category":"xss","action":"log"}]}`, "overrides.enabled", "tag xss action"},
		{"action on all rules", `{"action":"log","categories":[{"category":"xss","action":"log"}]}`, "overrides.action", "tag xss action"},
		{"sensitivity", `{"sensitivity_level":"low","categories":[{"category":"xss","action":"log"}]}`, "overrides.sensitivity_level", "tag xss action"},
		{"another member of a tag that was there", `{"categories":[{"category":"xss","action":"log","enabled":false}]}`, "tag xss enabled", "tag xss action"},
		{"a tag and a rule", `{"categories":[{"category":"xss","action":"log"},{"category":"sqli","enabled":false}],"rules":[{"id":"R0","action":"log"}]}`, "tag sqli enabled, rule R0 action", "tag xss action"},
		{"what was there has another value", `{"categories":[{"category":"xss","action":"block"}]}`, "", "tag xss action"},
		{"what was there is gone", `{}`, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, applied := proved(t, declared, difftest.Execute(difftest.ParseOverrides(t, had)), nil, false)
			live := difftest.Execute(difftest.ParseOverrides(t, test.now))
			p := planScene(difftest.Scene{State: difftest.State(declared), Live: difftest.Live(live), Applied: applied})
			var goes, stays []diff.Leftover
			for _, c := range p.Changes {
				for _, f := range c.Fields {
					if strings.Contains(f.Note, newNote) && !f.Origin.IsZero() {
						goes = append(goes, diff.Leftover{Path: f.Path})
					}
				}
			}
			for _, problem := range p.Problems {
				stays = append(stays, problem.Unmanaged...)
			}
			if got := subjects(goes); got != test.goes {
				t.Errorf("goes: %s, want %s", got, test.goes)
			}
			if got := subjects(stays); got != test.stays {
				t.Errorf("stays: %s, want %s", got, test.stays)
			}
			reported := undecidedNow(declared, live, applied, true)
			if want := len(goes) + len(stays); len(reported) != want {
				t.Errorf("reports %v, want %d", reported, want)
			}
		})
	}
}

func subjects(all []diff.Leftover) (text string) {
	for i, l := range all {
		if i > 0 {
			text += ", "
		}
		text += difftest.Names(true).Replace(l.Path.Subject())
	}
	return text
}

// What was live and not declared when one declaration was proved is not new under another
// one, whatever the first decided on it, and whether it had an effect then.
func TestACommitMakesNothingNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := genUndecided(t), genUndecided(t)
		if rapid.Bool().Draw(t, "kept at first") {
			first.Unmanaged = difftest.Declared(11, desired.Keep)
		}
		live, applied := proved(t, first, difftest.Execute(difftest.GenOverrides(t)), nil, false)
		owned := applied[diff.DeploymentID{Scope: difftest.Zone, Ruleset: difftest.Core}]
		before, claimed := liveMembers(live), declaredMembers(second)
		live, _ = proved(t, second, live, applied, false)
		after := liveMembers(live)
		for path, value := range before {
			list, key, _ := path.Override()
			ours := slices.Contains(owned, path) || slices.Contains(owned, entryMember(list, key, ""))
			if !claimed[path] && !ours && decisionOn(second, path) == "" && after[path] != value {
				t.Fatalf("%s was %v and became %v\n%s", path, value, after[path], owned)
			}
		}
	})
}

// A version that someone pins after the first proof goes, in both profiles; one that was
// there, or of which nothing is remembered, is undecided.
func TestAPinAfterTheFirstProof(t *testing.T) {
	id := diff.DeploymentID{Scope: difftest.Zone, Ruleset: difftest.Core}
	live := difftest.Execute(nil)
	parameters := *live.ActionParameters
	parameters.Version = "3"
	live.ActionParameters = &parameters
	older := difftest.Managed()
	older.Version = "3"
	for _, documented := range []bool{false, true} {
		for _, test := range []struct {
			name    string
			before  []diff.Member
			reports bool
			want    string
		}{
			{"nothing is remembered", nil, false, "undecided"},
			{"it was there", rememberFound([]diff.Member{versionMember}), false, "undecided"},
			{"it was not there", rememberFound(nil), false, "3 → latest"},
			{"and is reported", rememberFound(nil), true, "undecided"},
		} {
			seen := difftest.Live(live)
			account := seen.Accounts[difftest.Account]
			account.Documented = documented
			account.Versions = map[diff.RulesetVersion]diff.Observed[edge.Ruleset]{{Ruleset: older.ID, Version: "3"}: {Value: older}}
			seen.Accounts[difftest.Account] = account
			p := Kind{}.Plan(diff.Input{State: difftest.State(difftest.Deployment()), Live: seen, Applied: diff.Applied{id: test.before}, Reports: test.reports})
			got := ""
			for _, problem := range p.Problems {
				got += string(problem.State)
			}
			for _, c := range p.Changes {
				f := c.Field(versionMember)
				got += fmt.Sprintf("%v → %v", f.Old, f.New)
			}
			if got != test.want {
				t.Errorf("documented %v, %s: got %s, want %s", documented, test.name, got, test.want)
			}
		}
	}
}
