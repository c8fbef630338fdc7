package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

// exceptWorld is a zone with two deployments, their exceptions, and skip rules of others.
type exceptWorld struct {
	*skipWorld
	declared []desired.Other
	made     int
}

var exceptionKeys = []string{"a", "b", "c", "d"}

// draw draws what is live and what is declared, in whatever order.
func drawExceptions(t *rapid.T) *exceptWorld {
	w := &exceptWorld{skipWorld: newSkipWorld()}
	for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(exceptionKeys), rapid.ID).Draw(t, "declared") {
		w.declared = append(w.declared, drawException(t, key))
	}
	slices.SortFunc(w.declared, func(a, b desired.Other) int { return strings.Compare(a.Key, b.Key) })
	for range rapid.IntRange(0, 4).Draw(t, "live") {
		rule := w.genSkip(t, ownPlace)
		if key := rapid.SampledFrom(append([]string{""}, exceptionKeys...)).Draw(t, "ref"); key != "" && !slices.ContainsFunc(w.rules, func(r edge.Rule) bool { return r.Ref == key }) {
			rule.Ref = key
		}
		w.rules = slices.Insert(w.rules, rapid.IntRange(0, len(w.rules)).Draw(t, "at"), rule)
	}
	return w
}

func drawException(t *rapid.T, key string) desired.Other {
	values := map[string]any{
		"expression": rapid.SampledFrom([]string{"ip.src eq 192.0.2.7", `http.host eq "a"`}).Draw(t, "expression"),
		"enabled":    rapid.Bool().Draw(t, "enabled"), "owner": "team-sre", "prune": true,
		"skip": rapid.SampledFrom([]any{
			"all", "ruleset",
			map[string]any{"tags": []string{"sqli", "gone"}},
			map[string]any{"tags": []string{"gone"}},
			map[string]any{"rules": []any{string(difftest.RuleID(2)), map[string]string{"ref": "ref-1"}, map[string]string{"ref": "gone"}}},
		}).Draw(t, "skip"),
	}
	if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
		values["until"] = rapid.SampledFrom([]string{"2026-02-28", "2026-03-01"}).Draw(t, "until") // it is the latter
	}
	switch rapid.IntRange(0, 5).Draw(t, "order") {
	case 0:
		values["order"] = "first"
	case 1:
		values["order"] = map[string]string{"before": rapid.SampledFrom(exceptionKeys).Draw(t, "before")}
	case 2:
		values["order"] = map[string]string{"after": rapid.SampledFrom(append(exceptionKeys, "deploy-core")).Draw(t, "after")}
	}
	o, err := desired.NewOther(desired.Exception, key, difftest.At(20), values)
	if err != nil {
		t.Fatal(err)
	}
	o.Of = rapid.SampledFrom([]string{"core", "other"}).Draw(t, "of")
	return o
}

func (w *exceptWorld) plan() diff.Plan {
	w.declares = nil
	in := w.input(w.rules, nil)
	in.State.Accounts[0].Zones[0].Others = w.declared
	in.Now = w.now
	return planner.Make(in)
}

// apply makes a change of a rule as the platform does.
func (w *exceptWorld) apply(t *rapid.T, c diff.Change) {
	o := c.Operation.(diff.RuleOperation)
	rule, rules := o.Body, slices.Clone(w.rules)
	at := func(id edge.RuleID) int { return slices.IndexFunc(rules, func(r edge.Rule) bool { return r.ID == id }) }
	to := len(rules)
	switch o.Do {
	case diff.ActionUpdate:
		rule.ID = o.Target.Rule
		to = at(rule.ID)
		rules = slices.Delete(rules, to, to+1)
	case diff.ActionDeploy:
		w.made++
		rule.ID = edge.RuleID(fmt.Sprintf("ade0%028d", w.made))
	default:
		t.Fatalf("it %ss %s", o.Do, c.Name())
	}
	if p := o.Position; p != nil && p.Before != nil {
		if to = 0; *p.Before != "" {
			to = at(*p.Before)
		}
	} else if p != nil {
		to = len(rules)
	}
	w.rules = slices.Insert(rules, to, rule)
}

// others are the rules that nothing declares, as they stand.
func (w *exceptWorld) others() (others []edge.Rule) {
	for _, r := range w.rules {
		if !slices.ContainsFunc(w.declared, func(o desired.Other) bool { return o.Key == r.Ref }) {
			others = append(others, r)
		}
	}
	return others
}

// After what is planned is done, each exception is as declared and stands before the execute rule of
// its deployment, the rules of others are what and in the order they were, and a second plan is empty.
// What was done counts as accepted.
func TestExceptionsAreAsDeclared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawExceptions(t)
		others := w.others()
		plan := w.plan()
		for n := 0; len(plan.Changes) > 0; plan = w.plan() {
			if n++; n > 2*len(exceptionKeys) {
				t.Fatalf("still %+v", plan.Changes)
			}
			w.apply(t, plan.Changes[0])
			w.applied[plan.Changes[0].ID()] = plan.Changes[0].Do().Owned()
		}
		if d := cmp.Diff(others, w.others()); d != "" {
			t.Fatalf("rules of others: %s", d)
		}
		settled := map[string]bool{}
		for _, s := range plan.Settled {
			settled[s.ID.Ref] = true
		}
		for _, p := range plan.Problems {
			if p.Kind == desired.Exception && settled[p.Deployment] {
				t.Fatalf("%s is settled: %s", p.Deployment, p.Reason)
			}
		}
		for _, o := range w.declared {
			if settled[o.Key] {
				w.check(t, o, plan)
			}
		}
	})
}

// check holds an exception that is in sync to its declaration.
func (w *exceptWorld) check(t *rapid.T, o desired.Other, plan diff.Plan) {
	values := map[string]any{}
	for m := range o.Members() {
		values[m.Path] = m.Value
	}
	i := slices.IndexFunc(w.rules, func(r edge.Rule) bool { return r.Ref == o.Key })
	over := values["until"] == "2026-02-28"
	if i < 0 {
		if !over {
			t.Fatalf("%s is not there", o.Key)
		}
		return
	}
	rule, execute := w.rules[i], w.byKey[o.Of].execute
	if before := slices.IndexFunc(w.rules, func(r edge.Rule) bool { return r.ID == execute }); i > before {
		t.Fatalf("%s stands behind %s", o.Key, o.Of)
	}
	if rule.Expression != values["expression"] || rule.IsEnabled() != (values["enabled"] == true && !over) {
		t.Fatalf("%s is %+v", o.Key, rule)
	}
	for _, b := range plan.Bypasses {
		if b.Rule == rule.ID && b.State != diff.BypassAccepted {
			t.Fatalf("%s is %s", o.Key, b.State)
		}
	}
	skip, _, err := rule.Skip()
	want := map[edge.RulesetID][]edge.RuleID{managedIDs[o.Of]: nil}
	switch by := values["skip"].(type) {
	case string:
		if want = nil; skip.Current != (by == "all") || !skip.Current && !slices.Equal(skip.Rulesets, []edge.RulesetID{managedIDs[o.Of]}) {
			t.Fatalf("%s skips %+v", o.Key, skip)
		}
	case map[string]any:
		ids := []edge.RuleID{difftest.RuleID(1), difftest.RuleID(2)}
		if by["tags"] != nil {
			ids = []edge.RuleID{difftest.RuleID(0), difftest.RuleID(3), difftest.RuleID(6)}
		}
		want[managedIDs[o.Of]] = ids
	}
	if !over && (err != nil || !maps.EqualFunc(skip.Rules, want, slices.Equal)) {
		t.Fatalf("%s skips %+v, want %+v", o.Key, skip, want)
	}
}

// What import declares of the rules of an entry point plans nothing.
func TestImportedExceptionsAreInSync(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawExceptions(t)
		w.declared = nil
		managed := difftest.Managed()
		deployed := func(id string) diff.Deployed {
			m := managed
			m.ID = edge.RulesetID(id)
			return planner.NewDeclarer(m, false).Deployed(difftest.Zone, id, edge.Rule{ID: "any"})
		}
		names := map[string]string{string(difftest.Core): "core", string(otherCore): "other"}
		for _, kind := range planner.Declarers(deployed, w.now) {
			if kind.Name() == desired.Exception {
				w.declared = kind.Declare(edge.Ruleset{Rules: w.rules})
			}
		}
		for i := range w.declared {
			o := &w.declared[i]
			o.Of = names[o.Of]
		}
		plan := w.plan()
		if len(plan.Changes) > 0 {
			t.Fatalf("%+v", plan.Changes)
		}
		for _, p := range plan.Problems {
			if p.Kind == desired.Exception {
				t.Fatalf("%+v", p)
			}
		}
	})
}
