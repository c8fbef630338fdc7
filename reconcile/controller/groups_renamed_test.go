package controller

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// Two zones that swap their ids are both still to be read.
func TestRenamedGroupOfASwap(t *testing.T) {
	a, b, c := edge.ZoneScope("a"), edge.ZoneScope("b"), edge.ZoneScope("c")
	for range 20 { // in whatever order
		g := newGroup("c1", []edge.Scope{a, b}, false).renamed(map[edge.Scope]edge.Scope{a: b, b: a}, nil)
		if want := map[edge.Scope]bool{a: true, b: true}; !maps.Equal(g.left, want) {
			t.Fatalf("left are %v, want %v", g.left, want)
		}
		g = newGroup("c1", []edge.Scope{a, b}, false).renamed(map[edge.Scope]edge.Scope{a: b, b: c}, nil)
		if want := map[edge.Scope]bool{b: true, c: true}; !maps.Equal(g.left, want) {
			t.Fatalf("left are %v, want %v", g.left, want)
		}
	}
}

// A sum has each change that was planned once, and each result: whether a result holds its change or
// the change was refused, or refused only when it was to be sent.
func TestASumHasEachChangeOnce(t *testing.T) {
	change := func(ref string, refused *diff.Refusal) diff.Change {
		target := diff.Target{Phase: edge.PhaseFirewallManaged, Ruleset: "r", Ref: ref}
		return diff.Change{Kind: "deployment", Scope: edge.ZoneScope("z"), Deployment: ref, Refused: refused, Operation: diff.RuleOperation{Do: diff.ActionUpdate, Target: target, Body: edge.Rule{ID: "body"}}}
	}
	refused := &diff.Refusal{Guard: diff.GuardLimit}
	plan := diff.Plan{Changes: []diff.Change{change("a", refused), change("b", nil), change("c", nil), change("d", nil)}}
	results := []reconcile.Result{{Change: change("b", nil)}, {Change: change("c", refused)}, {Change: change("d", nil)}}
	var sum found
	sum.add((&reports{}).light(plan, results))
	var changes, made []string
	for _, c := range sum.changes {
		if o, _ := c.Operation.(diff.RuleOperation); o.Body.ID != "" || o.Target.Ref != c.Deployment {
			t.Errorf("%s has %+v", c.Deployment, o)
		}
		changes = append(changes, c.Deployment+" "+strconv.FormatBool(c.Refused != nil))
	}
	for _, r := range sum.results {
		made = append(made, r.Change.Deployment+" "+strconv.FormatBool(r.Change.Refused != nil))
	}
	slices.Sort(changes)
	if want := []string{"a true", "b false", "c false", "d false"}; !slices.Equal(changes, want) {
		t.Errorf("changes %q, want %q", changes, want)
	}
	if want := []string{"b false", "c true", "d false"}; !slices.Equal(made, want) {
		t.Errorf("results %q, want %q", made, want)
	}
}
