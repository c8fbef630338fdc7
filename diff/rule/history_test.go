package rule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// history is a zone over time: commits, the hands of others, and runs that may end between a
// write and its record.
type history struct {
	state
	hands int           // rules that others have made
	wrote []diff.Change // by runs
}

func (h *history) declares(key string) int {
	return slices.IndexFunc(h.declared, func(o desired.Other) bool { return o.Key == key })
}

// keys are those that are declared, or those that are not.
func (h *history) keys(declared bool) (all []string) {
	for _, ref := range []string{"a", "b", "c", "d", "e", "f"} {
		if h.declares(ref) >= 0 == declared {
			all = append(all, ref)
		}
	}
	return all
}

// named are the refs that an order may name, some of which may go.
func (h *history) named() []string {
	all := append(h.keys(true), "a")
	for _, r := range h.live {
		if r.Ref != "" {
			all = append(all, r.Ref)
		}
	}
	return all
}

// declare has the commit say this of a rule, in the place of what it said.
func (h *history) declare(o desired.Other) {
	h.withdraw(o.Key)
	h.declared = append(h.declared, o)
	slices.SortFunc(h.declared, func(a, b desired.Other) int { return cmp.Compare(a.Key, b.Key) })
}

func (h *history) withdraw(key string) {
	h.declared = slices.DeleteFunc(slices.Clone(h.declared), func(o desired.Other) bool { return o.Key == key })
}

// amend declares a rule as before, but for what change does to its values.
func (h *history) amend(t *rapid.T, key string, change func(tree)) {
	o := h.declared[h.declares(key)]
	values, err := treeOf([]byte(o.Value))
	if err != nil {
		t.Fatal(err)
	}
	values["prune"] = o.Prune
	change(values)
	now, err := desired.NewOther(desired.CustomRule, key, o.Origin, values)
	if err != nil {
		t.Fatal(err)
	}
	h.declare(now)
}

// commit is a commit that changes one declaration.
func (h *history) commit(t *rapid.T) {
	free, ours := h.keys(false), h.keys(true)
	what := rapid.SampledFrom([]string{"declare", "declare", "edit", "move", "rename", "remove", "prune", "unmanaged"}).Draw(t, "commit")
	if len(ours) == 0 || len(free) == 0 && (what == "declare" || what == "rename") {
		what = map[bool]string{true: "declare", false: "remove"}[len(ours) == 0]
	}
	switch what {
	case "unmanaged":
		h.remove = !h.state.remove
		return
	case "declare":
		h.declare(drawDeclared(t, rapid.SampledFrom(free).Draw(t, "new"), h.named()))
		return
	}
	key := rapid.SampledFrom(ours).Draw(t, "key")
	switch what {
	case "edit":
		h.amend(t, key, func(v tree) {
			v["expression"], v["enabled"] = rapid.SampledFrom([]string{"true", `http.host eq "b"`}).Draw(t, "expression"), rapid.Bool().Draw(t, "on")
		})
	case "move":
		h.amend(t, key, func(v tree) {
			other := rapid.SampledFrom(h.named()).Draw(t, "beside")
			v["order"] = rapid.SampledFrom([]any{nil, "first", "last", map[string]any{"before": other}, map[string]any{"after": other}}).Draw(t, "to")
			if v["order"] == nil {
				delete(v, "order")
			}
		})
	case "rename":
		o := h.declared[h.declares(key)]
		h.withdraw(key)
		o.Key = rapid.SampledFrom(free).Draw(t, "another key")
		h.declare(o)
	case "remove":
		h.withdraw(key)
	case "prune":
		h.amend(t, key, func(v tree) { v["prune"] = v["prune"] != true })
	}
}

// hand is what somebody else does on the platform.
func (h *history) hand(t *rapid.T) {
	rules := slices.Clone(h.live)
	what := rapid.SampledFrom([]string{"add", "add", "edit", "move", "delete", "swap refs", "all anew"}).Draw(t, "hand")
	if len(rules) == 0 {
		what = "add"
	}
	pick := func(name string) int { return rapid.IntRange(0, len(rules)-1).Draw(t, name) }
	made := func(ref string) edge.Rule {
		rule := drawLive(t, ref)
		h.hands++
		rule.ID = edge.RuleID(fmt.Sprint("hand", h.hands))
		return rule
	}
	switch what {
	case "add":
		ref := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", ""}).Draw(t, "ref")
		if ref == "" || byRef(rules, ref) < 0 { // the platform has no two rules with one ref
			rules = slices.Insert(rules, rapid.IntRange(0, len(rules)).Draw(t, "at"), made(ref))
		}
	case "edit":
		i := pick("rule")
		id := rules[i].ID
		rules[i] = made(rules[i].Ref)
		if rules[i].ID = id; rapid.IntRange(0, 3).Draw(t, "unknown") == 0 {
			rules[i].Action, rules[i].ActionParameters, rules[i].Extra = "rewrite", nil, nil
		}
	case "move":
		i := pick("rule")
		rule := rules[i]
		rules = slices.Delete(rules, i, i+1)
		rules = slices.Insert(rules, rapid.IntRange(0, len(rules)).Draw(t, "to"), rule)
	case "delete":
		i := pick("rule")
		rules = slices.Delete(rules, i, i+1)
	case "swap refs":
		i, j := pick("one"), pick("other")
		rules[i].Ref, rules[j].Ref = rules[j].Ref, rules[i].Ref
	case "all anew": // a client that writes the whole phase and says no ids
		for i := range rules {
			h.hands++
			rules[i].ID = edge.RuleID(fmt.Sprint("hand", h.hands))
		}
	}
	h.live = rules
}

// record keeps what a plan has found to be as declared, as the ledger does.
func (h *history) record(settled []diff.Settled) {
	h.prunable = maps.Clone(h.prunable)
	for _, s := range settled {
		delete(h.prunable, s.ID)
		if s.Prune != nil {
			h.prunable[s.ID] = *s.Prune
		}
	}
}

// run is one run of at most so many writes, each planned anew from what is read then; it may end
// before the last one is on record. It returns the changes that it made.
func (h *history) run(t *rapid.T, most int, killed bool) (made []diff.Change) {
	first := h.plan()
	h.record(first.Settled)
	inTurn(t, first.Changes)
	for _, planned := range first.Changes {
		if len(made) == most {
			break
		}
		part := h.plan()
		i := slices.IndexFunc(part.Changes, func(c diff.Change) bool { return c.ID() == planned.ID() })
		if i < 0 {
			continue
		}
		h.write(t, part.Changes[i])
		h.wrote = append(h.wrote, part.Changes[i])
		if made = append(made, part.Changes[i]); killed && len(made) == most {
			break
		}
		proof := h.plan()
		h.record(slices.DeleteFunc(proof.Settled, func(s diff.Settled) bool { return s.ID != planned.ID() }))
	}
	return made
}

// inTurn holds the changes of a plan to that what protects goes after what comes in its place.
func inTurn(t *rapid.T, changes []diff.Change) {
	gone := ""
	for _, c := range changes {
		switch {
		case c.Action() == diff.ActionRemove && c.Direction == diff.Weakens:
			gone = c.Deployment
		case gone != "" && c.Direction == diff.Strengthens:
			t.Fatalf("%s is gone before %s is there", gone, c.Deployment)
		}
	}
}

// revert puts back what a run has written, the newest first or any. What was changed since is left
// as it is.
func (h *history) revert(t *rapid.T) {
	if len(h.wrote) == 0 {
		return
	}
	c := h.wrote[len(h.wrote)-1-rapid.IntRange(0, len(h.wrote)-1).Draw(t, "ago")]
	r := diff.Restoration{ID: c.ID()}
	for _, f := range c.Fields {
		r.Members = append(r.Members, diff.Restored{Path: f.Path, Before: jsonOf(f.Old), Written: jsonOf(f.New)})
	}
	back, problem := Custom.Restore(r, h.input())
	switch {
	case back == nil || problem != nil:
		return
	case back.Action() == diff.ActionRemove:
		t.Fatalf("a revert removes %s", c.Deployment)
	case back.Action() == diff.ActionDeploy && (c.Action() != diff.ActionRemove || byRef(h.live, c.Deployment) >= 0):
		t.Fatalf("a revert of %+v adds a rule", c)
	}
	h.alone(t, *back)
}

// others reports whether a rule is one of others that is to go.
func (h *history) others(r edge.Rule) bool {
	return h.remove && h.declares(r.Ref) < 0 && r.Action != "rewrite"
}

// write does what a change says, and holds it to what may be written at all: a rule of others
// is neither deleted nor edited, and keeps its place among those.
func (h *history) write(t *rapid.T, c diff.Change) {
	o := c.Operation.(diff.RuleOperation)
	before := slices.Clone(h.live)
	at := byID(before, o.Target.Rule)
	switch o.Do {
	case diff.ActionRemove:
		if p, ours := h.prunable[c.ID()]; h.others(before[at]) {
			break
		} else if !ours || p.Rule != before[at].ID || before[at].Ref != c.Deployment || h.declares(c.Deployment) >= 0 {
			t.Fatalf("%+v is removed; declared %v, on record %v", before[at], h.keys(true), h.prunable)
		}
	case diff.ActionUpdate:
		if before[at].Ref != c.Deployment || h.declares(c.Deployment) < 0 || before[at].Action == "rewrite" {
			t.Fatalf("%+v is written for %s; declared %v", before[at], c.Deployment, h.keys(true))
		}
	default:
		if byRef(before, c.Deployment) >= 0 {
			t.Fatalf("%s is added twice: %+v", c.Deployment, before)
		}
	}
	h.alone(t, c)
}

// alone does what a change says, and holds it to that it changes one rule.
func (h *history) alone(t *rapid.T, c diff.Change) {
	o := c.Operation.(diff.RuleOperation)
	before := slices.Clone(h.live)
	h.apply(t, c)
	without := func(rules []edge.Rule) (all []string) {
		for _, r := range rules {
			if r.ID != o.Target.Rule && byID(before, r.ID) >= 0 {
				data, _ := json.Marshal(r)
				all = append(all, string(data))
			}
		}
		return all
	}
	if d := gocmp.Diff(without(before), without(h.live)); d != "" {
		t.Fatalf("%s of %s changes another rule too:\n%s", o.Do, o.Target.Ref, d)
	}
}
