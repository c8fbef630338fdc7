package deployment

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

var coreID = diff.DeploymentID{Scope: difftest.Zone, Ruleset: difftest.Core}

// aMark is on record of the deployment of a scene.
var aMark = diff.Prunable{Account: "prod", Zone: "shop.example", Deployment: "core", Rule: difftest.Rule}

// withoutEntryPoint is the live state of a zone that has none.
func withoutEntryPoint() diff.Live {
	live := difftest.Live()
	live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: fmt.Errorf("reading: %w", edge.ErrEntryPointNotFound)}
	return live
}

// stranger is a rule of somebody else.
func stranger(i int) edge.Rule {
	return edge.Rule{ID: edge.RuleID(fmt.Sprintf("%032x", i+1)), Action: edge.ActionExecute, Expression: "true", ActionParameters: &edge.ActionParameters{ID: "another"}}
}

func genStrangers(t *rapid.T) (rules []edge.Rule) {
	for i := range rapid.IntRange(0, 3).Draw(t, "strangers") {
		rules = append(rules, stranger(i))
	}
	return rules
}

// documented has no call that deploys or removes.
func documented(live diff.Live) diff.Live {
	account := live.Accounts[difftest.Account]
	account.Documented = true
	live.Accounts[difftest.Account] = account
	return live
}

// What is absent is created with all that is declared, nothing else changes, and a second
// plan is empty.
func TestDeployingConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDecided(t)
		d.Deploy, d.Prune = true, rapid.Bool().Draw(t, "prune")
		others := genStrangers(t)
		live := difftest.Live(others...)
		if rapid.Bool().Draw(t, "no entry point") {
			live, others = withoutEntryPoint(), nil
		}
		scene := difftest.Scene{State: difftest.State(d), Live: live, Applied: genApplied(t)}
		first := planScene(scene)
		if len(first.Changes) != 1 {
			t.Fatalf("changes %+v, problems %+v", first.Changes, first.Problems)
		}
		c := first.Changes[0]
		creation, ok := c.Operation.(diff.RuleOperation)
		want := map[bool]diff.Direction{true: diff.Strengthens, false: diff.Neutral}[d.Enabled.Value]
		if !ok || c.Direction != want || c.Origin != difftest.At(4) || c.ID() != coreID {
			t.Fatalf("it is %T, %s, of %v", c.Operation, c.Direction, c.Origin)
		}
		if creation.Target.EntryPoint != live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)].Value.ID {
			t.Fatalf("it goes to entry point %q", creation.Target.EntryPoint)
		}
		for _, f := range c.Fields {
			if f.Old != nil || f.New == nil {
				t.Fatalf("field %+v", f)
			}
		}
		made := creation.Body
		made.ID = difftest.Rule
		assertIntent(t, d, made)
		scene.Live = difftest.Live(append(others, made)...)
		scene.Applied = rapid.SampledFrom([]diff.Applied{nil, {coreID: c.Do().Owned()}}).Draw(t, "on record")
		again := planScene(scene)
		if len(again.Changes) > 0 || !reflect.DeepEqual(again.Problems, first.Problems) || len(again.Settled) != 1 {
			t.Fatalf("then %+v, problems %+v", again.Changes, again.Problems)
		}
		if mark := again.Settled[0].Prune; (mark != nil) != d.Prune || mark != nil && *mark != aMark {
			t.Fatalf("on record is %+v", mark)
		}
	})
}

// Only the execute rule that was proved is removed, and only while nothing declares its
// managed ruleset.
func TestRemoval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := difftest.Execute(difftest.GenOverrides(t))
		own.Enabled = rapid.Ptr(rapid.Bool(), true).Draw(t, "enabled")
		twin := difftest.Execute(nil)
		twin.ID = "d0000000000000000000000000000002" // by hand
		rules := genStrangers(t)
		for name, rule := range map[string]edge.Rule{"own": own, "twin": twin} {
			if rapid.Bool().Draw(t, name) {
				rules = append(rules, rule)
			}
		}
		rules = rapid.Permutation(rules).Draw(t, "rules")
		state := difftest.State(difftest.EnabledDeployment())
		declares := rapid.Bool().Draw(t, "declared")
		if !declares {
			state.Accounts[0].Zones[0].Deployments = nil
		}
		scene := difftest.Scene{State: state, Live: difftest.Live(rules...), Prunable: diff.Pruning{coreID: aMark}}
		plan := planScene(scene)
		removals := slices.DeleteFunc(slices.Clone(plan.Changes), func(c diff.Change) bool { return c.Action() != diff.ActionRemove })
		there := slices.ContainsFunc(rules, func(r edge.Rule) bool { return r.ID == difftest.Rule })
		if want := there && !declares; len(removals) != map[bool]int{true: 1}[want] {
			t.Fatalf("removals %+v of %v", removals, rules)
		}
		if len(removals) == 0 {
			gone := slices.ContainsFunc(plan.Settled, func(s diff.Settled) bool { return s.Removed })
			if gone == declares {
				t.Fatalf("settled %+v", plan.Settled)
			}
			return
		}
		c := removals[0]
		if difftest.UpdateOf(c).Target.Rule != difftest.Rule || c.Direction != diff.Weakens || c.ID() != coreID || len(plan.Settled) > 0 {
			t.Fatalf("it is %s of %+v", c.Direction, difftest.UpdateOf(c).Target)
		}
		r, _ := c.Request()
		if r.Method != "DELETE" || r.Path != edge.RulePath(difftest.Zone, difftest.EntryPoint, difftest.Rule) || r.Body != nil {
			t.Fatalf("request %+v", r)
		}
		scene.Live = difftest.Live(slices.DeleteFunc(slices.Clone(rules), func(r edge.Rule) bool { return r.ID == difftest.Rule })...)
		again := planScene(scene)
		if len(again.Changes)+len(again.Problems) > 0 || !reflect.DeepEqual(again.Settled, []diff.Settled{{ID: coreID, Removed: true}}) {
			t.Fatalf("then %+v", again)
		}
	})
}

func TestDeployAndPruneProblems(t *testing.T) {
	deploys := func() desired.State {
		d := difftest.EnabledDeployment()
		d.Deploy = true
		return difftest.State(d)
	}
	pruned := func() desired.State {
		state := deploys()
		state.Accounts[0].Zones[0].Deployments = nil
		return state
	}
	renamed := pruned() // to what cannot be resolved
	renamed.Accounts[0].Rulesets = append(renamed.Accounts[0].Rulesets, desired.RulesetRef{Key: "misspelt", Name: "Cor Ruleset"})
	renamed.Accounts[0].Zones[0].Deployments = []desired.Deployment{{Ruleset: "misspelt", Deploy: true}}
	unreadable := difftest.Live()
	unreadable.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: errors.New("reading: 503")}
	tag := deploys()
	tag.Accounts[0].Zones[0].Deployments[0].Disable.Tags = []desired.Declared[string]{*difftest.Declared(9, "sqlli")}
	for name, test := range map[string]struct {
		state desired.State
		live  diff.Live
		want  diff.ProblemState
		text  string
	}{
		"deploys, and the profile has no call":       {deploys(), documented(withoutEntryPoint()), diff.NotDeployed, hintNoDeploy},
		"deploys a rule, and the profile has none":   {deploys(), documented(difftest.Live(stranger(1))), diff.NotDeployed, hintNoDeploy},
		"deploys what it cannot resolve":             {tag, withoutEntryPoint(), diff.Blocked, `did you mean "sqli"?`},
		"removes, and the profile has no call":       {pruned(), documented(difftest.Live(difftest.Execute(nil))), diff.Blocked, hintNoRemoval},
		"removes in a zone that cannot be read":      {pruned(), unreadable, diff.Unknown, ""},
		"may remove what a misspelt name stands for": {renamed, difftest.Live(difftest.Execute(nil)), diff.Blocked, `did you mean "Core Ruleset"?`},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planScene(difftest.Scene{State: test.state, Live: test.live, Prunable: diff.Pruning{coreID: aMark}})
			if len(plan.Changes)+len(plan.Settled) > 0 || len(plan.Problems) != 1 {
				t.Fatalf("changes %+v, settled %+v, problems %+v", plan.Changes, plan.Settled, plan.Problems)
			}
			if p := plan.Problems[0]; p.State != test.want || p.Hint != test.text || p.Zone != "shop.example" || p.Deployment == "" {
				t.Errorf("problem %+v", p)
			}
		})
	}
}

// One deployment of a zone creates the entry point, and the next adds to it: what people
// have agreed to is the same.
func TestAgreedWhicheverCallDeploys(t *testing.T) {
	d := difftest.EnabledDeployment()
	d.Deploy = true
	state := difftest.State(d)
	alone := difftest.MustChange(t, planScene(difftest.Scene{State: state, Live: withoutEntryPoint()}))
	beside := difftest.MustChange(t, planScene(difftest.Scene{State: state, Live: difftest.Live(stranger(1))}))
	if alone.Key() != beside.Key() || alone.ApprovalDigest() != beside.ApprovalDigest() {
		t.Errorf("%+v and %+v", alone.Key(), beside.Key())
	}
	first, _ := alone.Request()
	second, _ := beside.Request()
	if first.Method+second.Method != "POSTPOST" || !strings.HasSuffix(first.Path, "/rulesets") || !strings.HasSuffix(second.Path, "/rules") {
		t.Errorf("requests %s %s and %s %s", first.Method, first.Path, second.Method, second.Path)
	}
	other := beside
	creation := other.Operation.(diff.RuleOperation)
	creation.Body.Expression = "false"
	other.Operation = creation
	if other.ApprovalDigest() == beside.ApprovalDigest() {
		t.Error("another rule is agreed to as well")
	}
}

// A zone whose deployments all left the repository is planned, too.
func TestRemovalsOfManyZones(t *testing.T) {
	marks := diff.Pruning{coreID: aMark, {Scope: edge.ZoneScope("elsewhere"), Ruleset: difftest.Core}: aMark}
	for name, live := range map[string]diff.Live{"no entry point": withoutEntryPoint(), "no rule": difftest.Live()} {
		state := difftest.State(desired.Deployment{})
		state.Accounts[0].Zones[0].Deployments = nil
		plan := planScene(difftest.Scene{State: state, Live: live, Prunable: maps.Clone(marks)})
		if want := []diff.Settled{{ID: coreID, Removed: true}}; !reflect.DeepEqual(plan.Settled, want) || !plan.IsEmpty() {
			t.Errorf("%s: %+v", name, plan)
		}
	}
}
