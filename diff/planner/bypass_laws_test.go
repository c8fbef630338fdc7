package planner_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

// said is what a plan says of skip rules, as the model does.
func said(plan diff.Plan) map[string]verdict {
	all := map[string]verdict{}
	for _, b := range plan.Bypasses {
		all[b.Deployment+" "+string(b.Rule)] = verdict{state: b.State, always: b.Always, needs: b.NeedsPerson() || b.Remove}
	}
	return all
}

// bypassedOf are the deployments with problems, each with how many.
func bypassedOf(plan diff.Plan) map[string]int {
	all := map[string]int{}
	for _, p := range plan.Problems {
		if p.State == diff.Bypassed {
			all[p.Deployment]++
		}
	}
	return all
}

// What needs a person, what is quiet and what is removed is what a small model says that knows
// nothing of plans, whatever happens in which order.
func TestSkipRulesAreJudgedAsTheModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, memory := newSkipWorld(), (*diff.Memory)(nil).Renew()
		if rapid.Bool().Draw(t, "removes") {
			w.byKey["core"].declared.Bypass = difftest.Declared(17, desired.RemoveBypass)
		}
		for range rapid.IntRange(1, 24).Draw(t, "steps") {
			in := w.input(w.rules, w.ahead)
			plan := planner.Make(in)
			in.Memory = memory
			if with := planner.Make(in); with.Digest != plan.Digest || fmt.Sprint(with.Settled) != fmt.Sprint(plan.Settled) || fmt.Sprint(with.Bypasses) != fmt.Sprint(plan.Bypasses) {
				t.Fatalf("with a memory\n%+v\nwithout\n%+v", with, plan)
			}
			want, gone := w.judge(w.rules, w.ahead), w.goes(w.rules)
			w.compare(t, plan, want, gone)
			w.addOne(t, plan)
			w.step(t, plan, want)
		}
	})
}

func (w *skipWorld) compare(t *rapid.T, plan diff.Plan, want map[string]verdict, gone map[edge.RuleID]bool) {
	problems := map[string]int{}
	for name, v := range want {
		key, id, _ := strings.Cut(name, " ")
		if v.needs && !gone[edge.RuleID(id)] {
			problems[key]++
		}
		v.hash = ""
		want[name] = v
	}
	if got := said(plan); !maps.Equal(got, want) {
		t.Fatalf("it says\n%+v, the model\n%+v", got, want)
	}
	if got := bypassedOf(plan); !maps.Equal(got, problems) {
		t.Fatalf("problems %v, the model has %v", got, problems)
	}
	removed := map[edge.RuleID]bool{}
	for _, c := range plan.Changes {
		o, is := c.Operation.(diff.RuleOperation)
		if !is || c.Kind != "exception" || o.Do != diff.ActionRemove || removed[o.Target.Rule] {
			t.Fatalf("it plans %+v", c)
		}
		removed[o.Target.Rule] = true
	}
	if !maps.Equal(removed, gone) {
		t.Fatalf("it removes %v, the model %v", removed, gone)
	}
	quiet := len(problems) == 0 && len(gone) == 0
	if plan.Summary.InSync != map[bool]int{true: 1}[quiet] || plan.Attention() != (len(problems) > 0) {
		t.Fatalf("%s, attention %v; problems %v, removed %v", plan.Summary, plan.Attention(), problems, gone)
	}
	if len(plan.Settled) != 2 {
		t.Fatalf("settled %+v", plan.Settled)
	}
	for i := range want { // the hashes are needed for the proof
		v := want[i]
		_, id, _ := strings.Cut(i, " ")
		for _, of := range w.seen(w.rules, w.ahead) {
			for _, r := range of {
				if r.ID == edge.RuleID(id) {
					v.hash = content(r)
				}
			}
		}
		want[i] = v
	}
}

// addOne adds a skip rule anywhere: what was said before is said still, and the zone looks no
// more protected. Once it is removed again the plan is as before, also after a proof.
func (w *skipWorld) addOne(t *rapid.T, before diff.Plan) {
	at := rapid.SampledFrom(append([]edge.Place{ownPlace}, farPlaces...)).Draw(t, "added to")
	rules, ahead := slices.Clone(w.rules), maps.Clone(w.ahead)
	if at == ownPlace {
		rules = slices.Insert(rules, rapid.IntRange(0, len(rules)).Draw(t, "added at"), w.genSkip(t, at))
	} else {
		ahead[at] = append(slices.Clone(ahead[at]), w.genSkip(t, at))
	}
	after := planner.Make(w.input(rules, ahead))
	has := said(after)
	for name, v := range said(before) {
		if has[name] != v {
			t.Fatalf("%s was %+v, and with another rule it is %+v", name, v, has[name])
		}
	}
	applied := w.applied
	w.applied = diff.Applied{}
	for _, proved := range after.Settled {
		w.applied[proved.ID] = proved.Owned
	}
	if again := planner.Make(w.input(w.rules, w.ahead)); again.Digest != before.Digest || fmt.Sprint(again.Bypasses) != fmt.Sprint(before.Bypasses) {
		t.Fatalf("after its removal it is\n%+v, and was\n%+v", again, before)
	}
	w.applied = applied
	counted := bypassedOf(after)
	for key, n := range bypassedOf(before) {
		if counted[key] < n {
			t.Fatalf("%s had %d problems, and with another rule %d", key, n, counted[key])
		}
	}
	if after.Summary.InSync > before.Summary.InSync {
		t.Fatalf("with another rule more is in sync: %s, %s", before.Summary, after.Summary)
	}
}
