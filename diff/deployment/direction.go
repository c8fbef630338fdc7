package deployment

import (
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// direct fills in the direction of every field, over effective values: how the
// managed rules a field reaches behave before and after.
//
// Where the rule is to run another version, what its overrides change is judged in the
// new one, and the version by what its rules do under the overrides of live: first the
// version changes, and then the overrides.
func direct(fields []diff.Field, live, want edge.Rule, pin pin) {
	m := pin.managed
	was, is := overridesOf(live), overridesOf(want)
	before, after := effectsOf{managed: m, under: was}, effectsOf{managed: m, under: is}
	for i := range fields {
		f := &fields[i]
		switch f.Path {
		case "enabled":
			f.Direction = onOff(want.IsEnabled())
		case versionMember:
			if f.Direction = versionDirection(pin.before, m, was); pin.unread {
				f.Direction = diff.Weakens
			}
		case "expression":
			f.Direction = scope(want.Expression)
		case descriptionMember, refMember:
			f.Direction = diff.Neutral
		default:
			if pin.unread || len(m.Rules) == 0 {
				f.Direction = unreadDirection(f)
				continue
			}
			f.Direction = m.overrideDirection(f, &before, &after, func(i int) bool { return m.decides(was, f.Path, i) || m.decides(is, f.Path, i) })
		}
	}
}

func onOff(on bool) diff.Direction {
	if on {
		return diff.Strengthens
	}
	return diff.Weakens
}

// scope compares filter expressions. "true" matches everything; of two others
// nobody can tell which is the wider, so the change counts as weakening.
func scope(want string) diff.Direction {
	if want == "true" {
		return diff.Strengthens
	}
	return diff.Weakens
}

// overrideDirection compares the rules that one override member reaches. What a rule does
// counts only where the member decides it, before or after: what a tag is said to be does
// not weaken a rule that another tag disables. Where a rule changes, at least one member
// that changes decides it, or the order of tags does.
func (m *managed) overrideDirection(f *diff.Field, before, after *effectsOf, decides func(rule int) bool) diff.Direction {
	reached := m.reached(f.Path)
	if len(reached) == 0 {
		return m.blindDirection(f)
	}
	_, _, member := f.Path.Override()
	directions := make([]diff.Direction, 0, len(reached))
	for _, i := range reached {
		d := effectDirection(member, before.of(i), after.of(i))
		asked := member == "enabled" && f.New != nil && onOff(f.New == true) == d // by another member, too
		if d != diff.Neutral && (asked || decides(i)) {
			directions = append(directions, d)
		}
	}
	return diff.Combine(directions...)
}

// unreadDirection judges a member of overrides whose rules are not known, by itself. What is
// taken away may have been all that made a rule do more than by its default.
func unreadDirection(f *diff.Field) diff.Direction {
	_, _, member := f.Path.Override()
	old, now := fmt.Sprint(f.Old), fmt.Sprint(f.New)
	switch both := f.Old != nil && f.New != nil; {
	case member == "enabled":
		return onOff(f.New == true || f.New == nil && f.Old == false)
	case member == "action" && both:
		return rankDirection(actionRank, old, now)
	case member == "sensitivity_level" && both:
		return rankDirection(sensitivityRank, old, now)
	}
	return diff.Weakens
}

// blindDirection judges a tag whose rules the platform does not show, by the
// member alone. An entry for a rule or tag that no longer exists does nothing.
func (m *managed) blindDirection(f *diff.Field) diff.Direction {
	list, _, _ := f.Path.Override()
	if len(m.byTag) > 0 || list != "categories" {
		return diff.Neutral
	}
	return unreadDirection(f)
}

// reached returns the places of the managed rules an override path speaks of.
func (m *managed) reached(path diff.Member) []int {
	list, key, _ := path.Override()
	switch list {
	case "categories":
		return m.byTag[key]
	case "rules":
		if i, ok := m.byID[edge.RuleID(key)]; ok {
			return []int{i}
		}
		return nil
	}
	all := make([]int, len(m.Rules))
	for i := range all {
		all[i] = i
	}
	return all
}

// effectDirection compares how one rule behaves before and after a member changed.
// What a rule does while it is off protects nothing, so while it is off on one side
// only "enabled" counts.
func effectDirection(member string, before, after effect) diff.Direction {
	switch member {
	case "enabled":
		if before.enabled == after.enabled {
			return diff.Neutral
		}
		return onOff(after.enabled)
	case "action":
		if _, known := actionRank[string(after.action)]; before.alwaysOn(after) || after.enabled && !known {
			return actionDirection(before.action, after.action)
		}
		return diff.Neutral
	case "score_threshold":
		if !before.alwaysOn(after) {
			return diff.Neutral
		}
		return scoreDirection(before, after)
	case "sensitivity_level":
		if !before.alwaysOn(after) {
			return diff.Neutral
		}
		return rankDirection(sensitivityRank, before.sensitivity, after.sensitivity)
	case "categories": // only their order
		return diff.Combine(effectDirection("enabled", before, after), effectDirection("action", before, after),
			effectDirection("sensitivity_level", before, after))
	}
	return diff.Weakens // a member nobody here knows
}

// alwaysOn reports whether a rule is on before and after.
func (e effect) alwaysOn(after effect) bool { return e.enabled && after.enabled }

func scoreDirection(before, after effect) diff.Direction {
	switch {
	case before.scored == after.scored && before.score == after.score:
		return diff.Neutral
	case after.scored && (!before.scored || after.score < before.score):
		return diff.Strengthens
	}
	return diff.Weakens
}

// actionRank orders actions by how much they stop. The two challenges that
// need a visitor's browser are of one rank.
var actionRank = map[string]int{
	string(edge.ActionBlock): 4, string(edge.ActionManagedChallenge): 3,
	string(edge.ActionJSChallenge): 2, string(edge.ActionChallenge): 2, string(edge.ActionLog): 1,
}

var sensitivityRank = map[string]int{"": 4, "default": 4, "medium": 3, "low": 2, "eoff": 1}

func actionDirection(before, after edge.Action) diff.Direction {
	return rankDirection(actionRank, string(before), string(after))
}

func rankDirection(rank map[string]int, before, after string) diff.Direction {
	old, knowsOld := rank[before]
	now, knowsNow := rank[after]
	switch {
	case before == after:
		return diff.Neutral
	case !knowsOld || !knowsNow || now < old:
		return diff.Weakens
	case now > old:
		return diff.Strengthens
	}
	return diff.Neutral
}
