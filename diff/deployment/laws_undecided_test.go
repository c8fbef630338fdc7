package deployment

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// genUndecided draws a declaration that leaves what is live undecided, except where it
// decides on single overrides.
func genUndecided(t *rapid.T) desired.Deployment {
	d := genDecided(t)
	d.Unmanaged = nil
	return d
}

// declaredMembers are the members that a declaration says something of, read off the
// declaration itself.
func declaredMembers(d desired.Deployment) map[diff.Member]bool {
	all := map[diff.Member]bool{}
	if d.Paranoia != nil {
		for level := 1; level <= edge.MaxParanoia; level++ {
			all[categoryMember(edge.ParanoiaTag(level), "enabled")] = true
		}
	}
	if d.Threshold != nil {
		all[ruleMember(difftest.RuleID(8), "score_threshold")], all[ruleMember(difftest.RuleID(8), "action")] = true, true
	}
	for _, tag := range d.Disable.Tags {
		all[categoryMember(tag.Value, "enabled")] = true
	}
	for _, ref := range d.Disable.Rules {
		all[ruleMember(ref.Value.ID, "enabled")] = true
	}
	long := func(o desired.Override, path func(string) diff.Member) {
		all[path("enabled")] = all[path("enabled")] || o.Enabled != nil
		all[path("action")] = all[path("action")] || o.Action != nil
		all[path("sensitivity_level")] = all[path("sensitivity_level")] || o.Sensitivity != nil
		all[path("score_threshold")] = all[path("score_threshold")] || o.Score != nil
	}
	long(d.All, wideMember)
	for _, o := range d.Tags {
		long(o.Override, func(member string) diff.Member { return categoryMember(o.Tag, member) })
	}
	for _, o := range d.Rules {
		long(o.Override, func(member string) diff.Member { return ruleMember(o.Rule.ID, member) })
	}
	return all
}

// liveMembers are all members of the overrides of a rule, with their values.
func liveMembers(rule edge.Rule) map[diff.Member]any {
	all := map[diff.Member]any{}
	add := func(e canonicalEntry, path func(string) diff.Member) {
		one := entry{Action: e.Action, Enabled: e.Enabled, ScoreThreshold: e.ScoreThreshold, SensitivityLevel: e.SensitivityLevel}
		for _, member := range overrideMembers {
			if value := one.get(member); value != nil {
				all[path(member)] = value
			}
		}
		for name, text := range e.Extra {
			all[path(name)] = text
		}
	}
	o := canonicalise(rule).Overrides
	add(canonicalEntry{Action: o.Action, Enabled: o.Enabled, SensitivityLevel: o.SensitivityLevel, Extra: o.Extra}, wideMember)
	for key, e := range o.Categories {
		add(e, func(member string) diff.Member { return categoryMember(key, member) })
	}
	for key, e := range o.Rules {
		add(e, func(member string) diff.Member { return ruleMember(edge.RuleID(key), member) })
	}
	return all
}

// decisionOn is what a declaration decides on a member, read off the declaration itself.
func decisionOn(d desired.Deployment, path diff.Member) desired.Unmanaged {
	list, key, _ := path.Override()
	for _, one := range d.Decisions {
		if list == "categories" && one.Tag == key || list == "rules" && one.Rule.ID == edge.RuleID(key) || list == "" && one.All {
			return one.Unmanaged
		}
	}
	return ""
}

// What is declared is healed while something beside it is undecided, and what is undecided
// is never changed. It is named before and after the write.
func TestUndecidedIsNeverChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genUndecided(t)
		live := difftest.Execute(difftest.GenOverrides(t))
		live.Enabled = rapid.Ptr(rapid.Bool(), true).Draw(t, "live enabled")
		first := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live)})
		if len(first.Changes) == 0 {
			return
		}
		after := replaced(live, difftest.UpdateOf(first.Changes[0]).Body)
		assertIntent(t, d, after)
		claimed, before, now := declaredMembers(d), liveMembers(live), liveMembers(after)
		for path, value := range before {
			if !claimed[path] && decisionOn(d, path) == "" && now[path] != value {
				t.Fatalf("%s was %v, nothing declares it or decides on it, and it became %v", path, value, now[path])
			}
		}
		if !slices.Equal(undeclaredTags(d, overridesOf(live)), undeclaredTags(d, overridesOf(after))) {
			t.Fatalf("the order of undecided tags changed:\n%+v\n%+v", overridesOf(live), overridesOf(after))
		}
		again := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(after)})
		if len(again.Changes) > 0 || !reflect.DeepEqual(again.Problems, first.Problems) {
			t.Fatalf("a second plan is not empty: %+v\n%+v\n%+v", again.Changes, again.Problems, first.Problems)
		}
	})
}

// undeclaredTags are the tags that a declaration says nothing of, in their order.
func undeclaredTags(d desired.Deployment, o *edge.Overrides) (tags []string) {
	if o == nil {
		return nil
	}
	claimed := declaredMembers(d)
	for _, s := range categorySlots(o) {
		said := slices.ContainsFunc(overrideMembers, func(member string) bool { return claimed[categoryMember(s.key, member)] })
		if !said && decisionOn(d, categoryMember(s.key, "")) == "" {
			tags = append(tags, s.key)
		}
	}
	return tags
}

// Each undecided member is named exactly once, unless it has no effect, and nothing else is.
func TestUndecidedIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genUndecided(t)
		live := difftest.Execute(difftest.GenOverrides(t))
		p := planScene(difftest.Scene{State: difftest.State(d), Live: difftest.Live(live)})
		named := map[diff.Member]int{}
		for _, problem := range p.Problems {
			for _, l := range problem.Unmanaged {
				named[l.Path]++
			}
		}
		claimed, members := declaredMembers(d), liveMembers(live)
		for path, value := range members {
			list, _, member := path.Override()
			free := !claimed[path] && decisionOn(d, path) == ""
			silent := list == "" || member == "enabled" && value == true
			extra := !slices.Contains(overrideMembers, member) // goes with its entry
			if want := map[bool]int{true: 1}[free]; !extra && named[path] != want && !(silent && named[path] == 0) {
				t.Fatalf("%s = %v is named %d times, want %d", path, value, named[path], want)
			}
		}
		for path := range named {
			if _, there := members[path]; !there {
				t.Fatalf("%s is named, and is not live", path)
			}
		}
	})
}
