package rule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// TestHistories: whatever commits and other people do, and wherever runs end, once both are quiet
// one run has all as declared, and a second one finds nothing to do.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{state: *drawState(t)}
		h.run(t, 100, false) // so that something is on record
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"commit", "commit", "hand", "hand", "run", "killed", "revert"}).Draw(t, "step") {
			case "commit":
				h.commit(t)
			case "hand":
				h.hand(t)
			case "run":
				h.run(t, rapid.IntRange(0, 4).Draw(t, "most"), false)
			case "killed":
				h.run(t, rapid.IntRange(1, 3).Draw(t, "most"), true)
			case "revert":
				h.revert(t)
			}
		}
		h.quiet(t)
	})
}

// quiet holds what is left when nothing else happens to the laws.
func (h *history) quiet(t *rapid.T) {
	before, gone := slices.Clone(h.live), map[edge.RuleID]bool{}
	for id, p := range h.prunable {
		if i := byRef(before, id.Ref); i >= 0 && before[i].ID == p.Rule && h.declares(id.Ref) < 0 {
			gone[p.Rule] = true
		}
	}
	for _, r := range before {
		if h.others(r) {
			gone[r.ID] = true
		}
	}
	made := h.run(t, len(h.declared)+len(gone), false)
	part := h.plan()
	if len(part.Changes) > 0 {
		t.Fatalf("after %d writes it is left to do: %+v", len(made), part.Changes)
	}
	if again := h.run(t, 100, false); len(again) > 0 {
		t.Fatalf("a second run writes %+v", again)
	}
	for _, r := range before {
		if i := byID(h.live, r.ID); i < 0 != gone[r.ID] || i >= 0 && h.live[i].Ref != r.Ref {
			t.Fatalf("the rule %+v: gone %t, as it may %t; now %+v", r, i < 0, gone[r.ID], h.live)
		}
	}
	troubled := map[string]bool{}
	for _, p := range part.Problems {
		troubled[p.Deployment] = true
	}
	var rules []placed
	for _, r := range h.live {
		rules = append(rules, placed{ref: r.Ref, live: true, foreign: h.declares(r.Ref) < 0})
	}
	for _, o := range h.declared {
		h.asDeclared(t, o, rules, troubled)
	}
	if len(part.Problems) == 0 {
		if what := broken(withRefs(rules), refsOf(withRefs(rules))); what != "" {
			t.Fatal(what)
		}
	}
	h.imported(t)
}

// asDeclared holds one rule to its declaration, and notes its order.
func (h *history) asDeclared(t *rapid.T, o desired.Other, rules []placed, troubled map[string]bool) {
	w := wanted{Other: o}
	w.values, _ = treeOf([]byte(o.Value))
	if w.values["order"] != nil {
		_ = w.readOrder()
	}
	i := byRef(h.live, o.Key)
	if i < 0 {
		if !troubled[o.Key] {
			t.Fatalf("%s is not live: %+v", o.Key, h.live)
		}
		return
	}
	live := h.live[i]
	if rules[i].order = w.order; live.Action == "rewrite" { // what it does nobody here knows
		return
	}
	if string(live.Action) != w.values["action"] || live.Expression != w.values["expression"] || live.IsEnabled() != (w.values["enabled"] == true) {
		t.Fatalf("%s is %+v, declared %s", o.Key, live, o.Value)
	}
	_, ours := h.prunable[Custom.id(difftest.Zone, o.Key)]
	if !troubled[o.Key] && ours != o.Prune {
		t.Fatalf("%s: prune %t is on record as %t", o.Key, o.Prune, ours)
	}
}

// withRefs are the rules that have a ref, which is all that an order can name.
func withRefs(rules []placed) []placed {
	return slices.DeleteFunc(slices.Clone(rules), func(p placed) bool { return p.ref == "" })
}

// imported holds what import makes of the rules that are live to the law that it differs in
// nothing from them.
func (h *history) imported(t *rapid.T) {
	other := state{live: h.live, declared: Custom.Declare(edge.Ruleset{Rules: h.live})}
	if part := other.plan(); len(part.Changes)+len(part.Problems) > 0 || len(part.Settled) != len(other.declared) {
		t.Fatalf("imported %+v, which plans %+v %+v", other.declared, part.Changes, part.Problems)
	}
}
