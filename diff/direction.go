package diff

import (
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Direction says what a change does to protection.
type Direction string

// The directions. What cannot be shown to be harmless weakens.
const (
	Strengthens Direction = "strengthens"
	Weakens     Direction = "weakens"
	Neutral     Direction = "neutral"
)

// combine returns the direction of several changes that come together: one
// that weakens is not made up for by another that strengthens.
func combine(directions ...Direction) Direction {
	all := Neutral
	for _, d := range directions {
		switch {
		case d == Weakens:
			return Weakens
		case d == Strengthens:
			all = Strengthens
		}
	}
	return all
}

// direct fills in the direction of every field, over effective values: how the
// managed rules a field reaches behave before and after.
func direct(fields []Field, live, want edge.Rule, m *managed) {
	before, after := m.effects(overridesOf(live)), m.effects(overridesOf(want))
	for i := range fields {
		f := &fields[i]
		switch f.Path {
		case "enabled":
			f.Direction = onOff(want.IsEnabled())
		case "expression":
			f.Direction = scope(want.Expression)
		default:
			f.Direction = m.overrideDirection(f, before, after)
		}
	}
}

func onOff(on bool) Direction {
	if on {
		return Strengthens
	}
	return Weakens
}

// scope compares filter expressions. "true" matches everything; of two others
// nobody can tell which is the wider, so the change counts as weakening.
func scope(want string) Direction {
	if want == "true" {
		return Strengthens
	}
	return Weakens
}

// overrideDirection compares the rules one override member reaches.
func (m *managed) overrideDirection(f *Field, before, after []effect) Direction {
	reached := m.reached(f.Path)
	if len(reached) == 0 {
		return m.blindDirection(f)
	}
	_, _, member := overrideKey(f.Path)
	directions := make([]Direction, 0, len(reached))
	for _, i := range reached {
		directions = append(directions, effectDirection(member, before[i], after[i]))
	}
	return combine(directions...)
}

// blindDirection judges a tag whose rules the platform does not show, by the
// member alone. An entry for a rule or tag that no longer exists does nothing.
func (m *managed) blindDirection(f *Field) Direction {
	list, _, member := overrideKey(f.Path)
	if len(m.byTag) > 0 || list != "categories" {
		return Neutral
	}
	if member == "enabled" {
		return onOff(f.New == true || f.New == nil && f.Old == false)
	}
	return Weakens
}

// reached returns the places of the managed rules an override path speaks of.
func (m *managed) reached(path Member) []int {
	list, key, _ := overrideKey(path)
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

// overrideKey splits `overrides.rules["id"].action` into "rules", "id" and
// "action"; a ruleset-wide member has neither list nor key.
func overrideKey(path Member) (list, key, member string) {
	rest, ok := strings.CutPrefix(string(path), "overrides.")
	if !ok {
		return "", "", rest
	}
	list, quoted, ok := strings.Cut(rest, "[")
	if !ok {
		return "", "", rest
	}
	prefix, err := strconv.QuotedPrefix(quoted)
	if err != nil {
		return "", "", rest
	}
	key, _ = strconv.Unquote(prefix) // what QuotedPrefix accepts, Unquote does too
	return list, key, strings.TrimPrefix(strings.TrimPrefix(quoted[len(prefix):], "]"), ".")
}

func effectDirection(member string, before, after effect) Direction {
	switch member {
	case "enabled":
		if before.enabled == after.enabled {
			return Neutral
		}
		return onOff(after.enabled)
	case "action":
		return actionDirection(before.action, after.action)
	case "score_threshold":
		switch {
		case before == after || before.scored == after.scored && before.score == after.score:
			return Neutral
		case after.scored && (!before.scored || after.score < before.score):
			return Strengthens
		}
		return Weakens
	case "sensitivity_level":
		return rankDirection(sensitivityRank, before.sensitivity, after.sensitivity)
	case "categories": // only their order
		return combine(effectDirection("enabled", before, after), effectDirection("action", before, after),
			effectDirection("sensitivity_level", before, after))
	}
	return Weakens // a member nobody here knows
}

// actionRank orders actions by how much they stop. The two challenges that
// need a visitor's browser are of one rank.
var actionRank = map[string]int{
	string(edge.ActionBlock): 4, string(edge.ActionManagedChallenge): 3,
	string(edge.ActionJSChallenge): 2, string(edge.ActionChallenge): 2, string(edge.ActionLog): 1,
}

var sensitivityRank = map[string]int{"": 4, "default": 4, "medium": 3, "low": 2, "eoff": 1}

func actionDirection(before, after edge.Action) Direction {
	return rankDirection(actionRank, string(before), string(after))
}

func rankDirection(rank map[string]int, before, after string) Direction {
	old, knowsOld := rank[before]
	now, knowsNow := rank[after]
	switch {
	case before == after:
		return Neutral
	case !knowsOld || !knowsNow || now < old:
		return Weakens
	case now > old:
		return Strengthens
	}
	return Neutral
}
