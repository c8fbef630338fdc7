package deployment

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// number is the version of the past in these laws.
const number = "3"

// genOlder draws version 3 of the managed ruleset: it lacks some rules of the latest, though
// none that is the last one with a tag, and others are off or do something else.
func genOlder(t *rapid.T) edge.Ruleset {
	r := difftest.Managed()
	r.Version = number
	dropped := rapid.SliceOfNDistinct(rapid.SampledFrom([]edge.RuleID{difftest.RuleID(0), difftest.RuleID(3), difftest.RuleID(4)}), 0, 3, rapid.ID).Draw(t, "dropped")
	r.Rules = slices.DeleteFunc(r.Rules, func(rule edge.Rule) bool { return slices.Contains(dropped, rule.ID) })
	for i := range r.Rules[:len(r.Rules)-1] {
		if rapid.IntRange(0, 3).Draw(t, "differs") == 0 {
			r.Rules[i].Enabled = new(rapid.Bool().Draw(t, "is on"))
			r.Rules[i].Action = rapid.SampledFrom([]edge.Action{"block", "managed_challenge", "log"}).Draw(t, "does")
		}
	}
	last := len(r.Rules) - 1
	r.Rules = slices.Insert(r.Rules, last, edge.Rule{ID: goneRule, Ref: "gone", Action: edge.ActionLog, Enabled: new(rapid.Bool().Draw(t, "the one that is gone is on"))})
	return r
}

// goneRule is a rule of the older version that the latest lacks.
const goneRule edge.RuleID = "0000000000000000000000000000dead"

// versioned is a live execute rule that runs a version, and a declaration that may say which.
type versioned struct {
	declared desired.Deployment
	rule     edge.Rule
	older    edge.Ruleset
	want     string // the version that is to run
	// documented says that the platform has no call that reads a version.
	documented bool
}

func genVersioned(t *rapid.T) versioned {
	v := versioned{declared: genDecided(t), rule: difftest.Execute(difftest.GenOverrides(t)), older: genOlder(t)}
	if rapid.Bool().Draw(t, "nothing but the version") {
		v.declared = difftest.Deployment(difftest.Keep)
		v.rule = difftest.Execute(nil)
	}
	if o := overridesOf(v.rule); o != nil && rapid.Bool().Draw(t, "override of the one that is gone") {
		block := edge.ActionBlock
		o.Rules = append(o.Rules, edge.RuleOverride{ID: goneRule, Action: &block})
	}
	v.rule.ActionParameters.Version = rapid.SampledFrom([]string{"", rulesets.Latest, number, number}).Draw(t, "runs")
	if rapid.Bool().Draw(t, "version is declared") {
		v.declared.Version = difftest.Declared(17, rapid.SampledFrom([]string{rulesets.Latest, number}).Draw(t, "version"))
	} else if rapid.Bool().Draw(t, "version is decided on") {
		as := rapid.SampledFrom([]desired.Unmanaged{desired.Keep, desired.Remove}).Draw(t, "on the version")
		v.declared.Decisions = append(v.declared.Decisions, desired.Decision{Version: true, Unmanaged: as})
	}
	v.want = rulesets.VersionOf(v.rule)
	switch {
	case v.declared.Version != nil:
		v.want = v.declared.Version.Value
	case decisionOnVersion(v.declared) == desired.Remove:
		v.want = rulesets.Latest
	}
	return v
}

// managed is the managed ruleset as a version of it says.
func (v versioned) managed(version string) edge.Ruleset {
	if version == number {
		return v.older
	}
	return difftest.Managed()
}

func (v versioned) plan(rule edge.Rule) diff.Plan {
	live := difftest.Live(rule)
	account := live.Accounts[difftest.Account]
	account.Versions = map[diff.RulesetVersion]diff.Observed[edge.Ruleset]{{Ruleset: difftest.Core, Version: number}: {Value: v.older}}
	if account.Documented = v.documented; v.documented {
		account.Versions = nil
	}
	live.Accounts[difftest.Account] = account
	return planScene(difftest.Scene{State: difftest.State(v.declared), Live: live})
}

// lacks reports whether the version that is to run has not all rules that are declared.
// Decisions do not count: what is live on a rule that is gone can be kept and removed.
func (v versioned) lacks() bool {
	var ids []edge.RuleID
	for _, ref := range v.declared.Disable.Rules {
		ids = append(ids, ref.Value.ID)
	}
	for _, o := range v.declared.Rules {
		ids = append(ids, o.Rule.ID)
	}
	rules := v.managed(v.want).Rules
	return slices.ContainsFunc(ids, func(id edge.RuleID) bool {
		return !slices.ContainsFunc(rules, func(r edge.Rule) bool { return r.ID == id })
	})
}

// A declaration means the rules of the version that is to run: one that it lacks blocks the
// deployment, and nothing else does. What is planned runs that version and has all that is
// declared, and a second plan is empty.
func TestPinnedVersionsConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genVersioned(t)
		first := v.plan(v.rule)
		missing := slices.ContainsFunc(first.Problems, func(p diff.Problem) bool { return strings.Contains(p.Reason, " has no rule ") })
		if missing != v.lacks() || missing && len(first.Changes) > 0 {
			t.Fatalf("version %s: problems %+v, changes %+v", v.want, first.Problems, first.Changes)
		}
		if len(first.Changes) == 0 {
			return
		}
		after := replaced(v.rule, difftest.UpdateOf(first.Changes[0]).Body)
		if rulesets.VersionOf(after) != v.want {
			t.Fatalf("runs version %s, want %s", rulesets.VersionOf(after), v.want)
		}
		assertIntent(t, v.declared, after)
		if again := v.plan(after); len(again.Changes) > 0 || !reflect.DeepEqual(again.Problems, first.Problems) {
			t.Fatalf("a second plan is not empty: %+v, %+v", again.Changes, again.Problems)
		}
	})
}

// If a plan does not say that it weakens, no rule protects less than before, whichever
// version it is of, and none that was on is gone; also where the version cannot be read.
func TestDirectionIsSoundAcrossVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genVersioned(t)
		if v.documented = rapid.Bool().Draw(t, "documented"); v.documented && rapid.Bool().Draw(t, "what is not declared goes") {
			v.declared = difftest.Deployment(difftest.Remove, difftest.Decide(desired.Keep, desired.Decision{Version: true}))
			v.want = rulesets.VersionOf(v.rule)
		}
		p := v.plan(v.rule)
		if len(p.Changes) == 0 || p.Changes[0].Direction == diff.Weakens {
			return
		}
		was, is := index(v.managed(rulesets.VersionOf(v.rule))), index(v.managed(v.want))
		before, after := was.effects(overridesOf(v.rule)), is.effects(overridesOf(difftest.UpdateOf(p.Changes[0]).Body))
		for i, rule := range was.Rules {
			j, there := is.byID[rule.ID]
			switch {
			case !there && before[i].enabled:
				t.Fatalf("%s, but rule %s is gone", p.Changes[0].Direction, rule.ID)
			case there && lessThan(after[j], before[i]):
				t.Fatalf("%s, but rule %s was %+v and becomes %+v", p.Changes[0].Direction, rule.ID, before[i], after[j])
			}
		}
	})
}
