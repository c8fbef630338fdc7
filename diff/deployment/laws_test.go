package deployment

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// replaced is the live rule after the platform took body as the whole truth.
func replaced(live edge.Rule, body edge.Rule) edge.Rule {
	body.ID, body.Version, body.LastUpdated = live.ID, live.Version+"1", live.LastUpdated
	return body
}

// merged is the live rule after a platform that merges objects, replaces lists
// and keeps what is left out took body.
func merged(t *rapid.T, live edge.Rule, body edge.Rule) edge.Rule {
	var a, b any
	decode := func(r edge.Rule, into *any) {
		data, err := json.Marshal(r)
		must.Do(t, err)
		must.Do(t, json.Unmarshal(data, into))
	}
	decode(live, &a)
	decode(body, &b)
	data, err := json.Marshal(mergeJSON(a, b))
	must.Do(t, err)
	var out edge.Rule
	must.Do(t, json.Unmarshal(data, &out))
	return out
}

func mergeJSON(a, b any) any {
	left, okA := a.(map[string]any)
	right, okB := b.(map[string]any)
	if !okA || !okB {
		return b
	}
	out := maps.Clone(left)
	for k, v := range right {
		out[k] = mergeJSON(left[k], v)
	}
	return out
}

func genDecided(t *rapid.T) desired.Deployment {
	d := difftest.GenDeployment(t)
	d.Unmanaged = difftest.Declared(11, rapid.SampledFrom([]desired.Unmanaged{desired.Keep, desired.Remove}).Draw(t, "decision"))
	for _, tag := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"sqli", "gone", "paranoia-level-2"}), 0, 2, rapid.ID).Draw(t, "decided tags") {
		d.Decisions = append(d.Decisions, desired.Decision{Tag: tag, Unmanaged: rapid.SampledFrom([]desired.Unmanaged{desired.Keep, desired.Remove}).Draw(t, "on a tag")})
	}
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 0, 2, rapid.ID).Draw(t, "decided rules") {
		d.Decisions = append(d.Decisions, desired.Decision{
			Rule: desired.RuleRef{ID: difftest.RuleID(i)}, Unmanaged: rapid.SampledFrom([]desired.Unmanaged{desired.Keep, desired.Remove}).Draw(t, "on a rule"),
		})
	}
	return d
}

func genApplied(t *rapid.T) diff.Applied {
	if rapid.Bool().Draw(t, "nothing applied before") {
		return nil
	}
	c, errs := resolve(difftest.GenDeployment(t), index(difftest.Managed()))
	if len(errs) > 0 {
		return nil
	}
	return diff.Applied{{Scope: difftest.Zone, Ruleset: difftest.Core}: owned(c, nil)}
}

// apply(plan(d, l), l) agrees with d, and a second plan finds nothing to do.
func TestApplyingAPlanConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDecided(t)
		live := difftest.Execute(difftest.GenOverrides(t))
		live.Enabled = rapid.Ptr(rapid.Bool(), true).Draw(t, "live enabled")
		applied := genApplied(t)
		first := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live), Applied: applied})
		if len(first.Changes) == 0 {
			return
		}
		c := first.Changes[0]
		after := replaced(live, difftest.UpdateOf(c).Body)
		assertIntent(t, d, after)
		before, claimed := liveMembers(live), declaredMembers(d)
		for path, value := range liveMembers(after) {
			if _, was := before[path]; !was && !claimed[path] {
				t.Fatalf("%s = %v is written, and nothing declares it", path, value)
			}
		}
		for name, before := range map[string]diff.Applied{
			"told what was applied": {c.ID(): c.Do().Owned()},
			"not documented":        nil,
			"told what was before":  applied, // as the proof after a write is
		} {
			if again := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(after), Applied: before}); len(again.Changes) > 0 || !reflect.DeepEqual(again.Problems, first.Problems) {
				t.Fatalf("%s: a second plan is not empty: %+v\nafter %+v", name, again.Changes, overridesOf(after))
			}
		}
	})
}

// assertIntent checks a rule against the declaration itself, not through the
// code under test.
func assertIntent(t *rapid.T, d desired.Deployment, rule edge.Rule) {
	o := overridesOf(rule)
	if o == nil {
		o = &edge.Overrides{}
	}
	tags, rules := map[string]edge.CategoryOverride{}, map[edge.RuleID]edge.RuleOverride{}
	for _, c := range o.Categories {
		tags[c.Category] = c
	}
	for _, r := range o.Rules {
		rules[r.ID] = r
	}
	isOff := func(tag string) bool { return tags[tag].Enabled != nil && !*tags[tag].Enabled }
	if d.Paranoia != nil {
		for level := 1; level <= 4; level++ {
			tag := edge.ParanoiaTag(level)
			if want := level > d.Paranoia.Value; isOff(tag) != want {
				t.Fatalf("paranoia %d: %s off is %v", d.Paranoia.Value, tag, !want)
			}
		}
	}
	for _, tag := range d.Disable.Tags {
		if !isOff(tag.Value) {
			t.Fatalf("tag %s is not off", tag.Value)
		}
	}
	for _, ref := range d.Disable.Rules {
		if r := rules[ref.Value.ID]; r.Enabled == nil || *r.Enabled {
			t.Fatalf("rule %s is not off", ref.Value.ID)
		}
	}
	if d.Threshold != nil {
		r := rules[difftest.RuleID(8)]
		if r.ScoreThreshold == nil || *r.ScoreThreshold != d.Threshold.Score.Value || r.Action == nil || *r.Action != d.Threshold.Action.Value {
			t.Fatalf("threshold is %+v", r)
		}
	}
	assertLong(t, d.All, entry{Action: o.Action, Enabled: o.Enabled, SensitivityLevel: o.SensitivityLevel})
	for _, want := range d.Tags {
		assertLong(t, want.Override, categoryEntry(tags[want.Tag]))
	}
	for _, want := range d.Rules {
		assertLong(t, want.Override, ruleEntry(rules[want.Rule.ID]))
	}
	if rule.IsEnabled() != d.Enabled.Value {
		t.Fatal("enabled is not as declared")
	}
	if d.Expression != nil && rule.Expression != d.Expression.Value {
		t.Fatal("expression is not as declared")
	}
}

// assertLong checks an entry against the members declared for it.
func assertLong(t *rapid.T, want desired.Override, have entry) {
	if want.Enabled != nil && !same(&want.Enabled.Value, have.Enabled) ||
		want.Action != nil && !same(&want.Action.Value, have.Action) ||
		want.Sensitivity != nil && !same(&want.Sensitivity.Value, have.SensitivityLevel) ||
		want.Score != nil && !same(&want.Score.Value, have.ScoreThreshold) {
		t.Fatalf("declared %+v, got %+v", want, have)
	}
}

// What a tag is declared to be holds on each of its rules, unless a rule's own entry, a
// later tag, or a short form says otherwise.
func TestTheLaterTagTakesPrecedence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDecided(t)
		d.Paranoia, d.Disable = nil, desired.Disable{}
		live := difftest.Execute(difftest.GenOverrides(t))
		p := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live)})
		if len(p.Changes) == 0 {
			return
		}
		after := overridesOf(difftest.UpdateOf(p.Changes[0]).Body)
		m := index(difftest.Managed())
		actions := map[int]edge.Action{}
		for _, tag := range d.Tags {
			for _, i := range m.byTag[tag.Tag] {
				if tag.Action != nil {
					actions[i] = tag.Action.Value
				} else {
					delete(actions, i) // one that is kept on the tag may say something else
				}
			}
		}
		if after != nil {
			for _, r := range after.Rules {
				if i, known := m.byID[r.ID]; known && r.Action != nil {
					actions[i] = *r.Action
				}
			}
		}
		effects := m.effects(after)
		for i, want := range actions {
			if effects[i].action != want {
				t.Fatalf("rule %d has %s, want %s\ndeclared %+v\nafter %+v", i, effects[i].action, want, d.Tags, after)
			}
		}
	})
}

// If a plan says that it strengthens, or changes nothing that counts, no rule protects
// less than before.
func TestDirectionIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDecided(t)
		live := difftest.Execute(difftest.GenOverrides(t))
		p := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live), Applied: genApplied(t)})
		if len(p.Changes) == 0 || p.Changes[0].Direction == diff.Weakens {
			return
		}
		m := index(difftest.Managed())
		before, after := m.effects(overridesOf(live)), m.effects(overridesOf(difftest.UpdateOf(p.Changes[0]).Body))
		for i := range before {
			if protects(after[i]) < 0 || lessThan(after[i], before[i]) {
				t.Fatalf("%s, but rule %d was %+v and becomes %+v", p.Changes[0].Direction, i, before[i], after[i])
			}
		}
	})
}

// protects ranks what a rule does with a request that it matches; 0 is nothing.
func protects(e effect) int {
	if !e.enabled {
		return 0
	}
	return map[edge.Action]int{"log": 1, "challenge": 2, "js_challenge": 2, "managed_challenge": 3, "block": 4}[e.action]
}

// lessThan reports whether a rule protects less in one of the ways in which it can.
func lessThan(a, b effect) bool {
	levels := map[string]int{"eoff": 1, "low": 2, "medium": 3, "": 4, "default": 4}
	return protects(a) < protects(b) || b.enabled && (levels[a.sensitivity] < levels[b.sensitivity] || b.scored && a.score > b.score)
}

// A merging platform converges too, with one more write where it kept what the first left
// out, except where nothing that can be sent stands in for what goes.
func TestAMergingPlatformConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, applied := genDecided(t), genApplied(t)
		live := difftest.Execute(difftest.GenOverrides(t))
		plan := func(merges bool) diff.Plan {
			out := Kind{}.Plan(diff.Input{
				State: difftest.State(d), Live: difftest.Live(live), Applied: applied, Merges: merges,
			})
			for _, s := range out.Settled {
				applied = diff.Applied{s.ID: s.Owned}
			}
			return diff.Gather("c", 1, 0, out.Changes, out.Problems)
		}
		for _, merges := range []bool{false, true} {
			if p := plan(merges); len(p.Changes) > 0 {
				live = merged(t, live, difftest.UpdateOf(p.Changes[0]).Body)
			}
		}
		settled := false
		for _, merges := range []bool{true, false, false} {
			p := plan(merges)
			if settled && len(p.Changes) > 0 {
				t.Fatalf("settled, and not any more: %+v", p.Changes)
			}
			settled = len(p.Changes) == 0
			if len(p.Changes) > 0 && !unsayable(overridesOf(live), overridesOf(difftest.UpdateOf(p.Changes[0]).Body)) {
				t.Fatalf("not converged: %+v", p.Changes)
			}
		}
	})
}

// unsayable reports whether a body takes away what a merging platform can only keep.
func unsayable(live, body *edge.Overrides) bool {
	if live == nil {
		return false
	}
	if body == nil {
		body = &edge.Overrides{}
	}
	return len(live.Extra) > len(body.Extra) || live.Enabled != nil && body.Enabled == nil || live.Action != nil && body.Action == nil ||
		live.SensitivityLevel != nil && body.SensitivityLevel == nil ||
		len(live.Categories) > 0 && len(body.Categories) == 0 || len(live.Rules) > 0 && len(body.Rules) == 0
}

// Under "keep", with nothing of ours to take back, what nobody declares stays
// member for member.
func TestUnmanagedSurvivesKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := difftest.GenDeployment(t)
		d.Unmanaged = difftest.Declared(11, desired.Keep)
		live := difftest.Execute(difftest.GenOverrides(t))
		plan := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live)})
		if len(plan.Changes) == 0 {
			return
		}
		body := difftest.UpdateOf(plan.Changes[0]).Body
		c, _ := resolve(d, index(difftest.Managed()))
		before, after := canonicalise(live), canonicalise(body)
		claimed := func(key string) bool {
			_, isTag := c.tags[key]
			_, isRule := c.rules[key]
			return isTag || isRule
		}
		for _, pair := range [][2]map[string]canonicalEntry{
			{before.Overrides.Categories, after.Overrides.Categories},
			{before.Overrides.Rules, after.Overrides.Rules},
		} {
			for key, entry := range pair[0] {
				if !claimed(key) && !reflect.DeepEqual(entry, pair[1][key]) {
					t.Fatalf("%s was %+v and became %+v", key, entry, pair[1][key])
				}
				if claimed(key) && !reflect.DeepEqual(entry.Extra, pair[1][key].Extra) && pair[1][key].Extra != nil {
					t.Fatalf("%s lost unknown members", key)
				}
			}
		}
		if !reflect.DeepEqual(live.Extra, body.Extra) || !reflect.DeepEqual(live.ActionParameters.Extra, body.ActionParameters.Extra) ||
			body.Ref != live.Ref || body.Description != live.Description {
			t.Fatal("members outside of overrides changed")
		}
	})
}

// Canonical form is blind to the order of rules and categories, and to saying
// "enabled: true" or nothing on the execute rule.
func TestCanonicalFormIsBlindToOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := difftest.GenOverrides(t)
		if o == nil {
			o = &edge.Overrides{}
		}
		unique := *o
		unique.Categories = nil
		for _, s := range categorySlots(o) {
			unique.Categories = append(unique.Categories, s.live.category(s.key))
		}
		shuffled := unique
		shuffled.Categories = rapid.Permutation(unique.Categories).Draw(t, "categories")
		shuffled.Rules = rapid.Permutation(unique.Rules).Draw(t, "rules")
		a, b := canonicalise(difftest.Execute(o)), canonicalise(difftest.Execute(&shuffled))
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}

// plan(d, d) is empty: a live rule made from nothing but the declaration.
func TestPlanOfWhatIsDeclaredIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDecided(t)
		m := index(difftest.Managed())
		c, errs := resolve(d, m)
		if len(errs) > 0 {
			t.Fatalf("resolving: %+v", errs)
		}
		live := difftest.Execute((&merger{managed: m}).merge(nil, c))
		live.Enabled = &d.Enabled.Value
		if d.Expression != nil {
			live.Expression = d.Expression.Value
		}
		plan := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live)})
		if len(plan.Changes) > 0 {
			t.Fatalf("not empty: %+v", plan.Changes)
		}
		if contradicts := d.Threshold != nil && d.All.Enabled != nil && !d.All.Enabled.Value; len(plan.Problems) > 0 && !contradicts {
			t.Fatalf("problems: %+v", plan.Problems)
		}
	})
}
