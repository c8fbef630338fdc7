package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// "enabled: true" may say nothing at all, where the rules it reaches are on
// anyway. Such members are noise that a server, a dashboard or an earlier
// removal left; and Seawall writes one itself where a list would become empty,
// on a platform that keeps a list which is left out. On any other it leaves the
// list out: what says nothing would be a difference for other tools for ever.
// Such an entry is remembered among a deployment's owned members by the path of
// the whole entry, so that one which later commits give a meaning is taken back
// instead of being laid at somebody else's door; and so that it stays where
// nothing has shown yet, in this run, which kind of platform it is.

// judge decides on the open slots of both lists, each where it would stand,
// against what everything else makes of the rules. One that changes nothing
// stays silently. Any other is unmanaged like the rest.
//
// They are judged without each other: all they can do is switch rules on, so
// several of them change nothing when each of them does not.
func (mg *merger) judge(want edge.Overrides, categories, rules []slot) {
	if !anyOpen(categories) && !anyOpen(rules) {
		return
	}
	assemble(&want, categories, rules)
	core := mg.managed.effects(&want)
	neutral := make([]bool, len(categories))
	for i, s := range categories {
		if s.open {
			categories[i] = s.opened()
			want.Categories = categoriesOf(categories)
			neutral[i] = slices.Equal(mg.managed.effects(&want), core)
			categories[i] = s
		}
	}
	for i, s := range categories {
		categories[i] = mg.pass("categories", s, neutral[i])
	}
	for i, s := range rules {
		place, known := mg.managed.byID[edge.RuleID(s.key)]
		rules[i] = mg.pass("rules", s, !known || core[place].enabled)
	}
}

func anyOpen(slots []slot) bool {
	return slices.ContainsFunc(slots, func(s slot) bool { return s.open })
}

// pass settles an open slot.
func (mg *merger) pass(list string, s slot, neutral bool) slot {
	if !s.open {
		return s
	}
	standIn := len(mg.before.list) > 0 && mg.before.has(entryMember(list, s.key, ""))
	switch {
	case neutral && standIn:
		mg.standIns = append(mg.standIns, entryMember(list, s.key, ""))
		return s.opened()
	case neutral:
		mg.quiet = append(mg.quiet, entryMember(list, s.key, "enabled"))
		return s.opened()
	case standIn:
		return s
	}
	path := entryMember(list, s.key, "enabled")
	mg.leftovers = append(mg.leftovers, diff.Leftover{Path: path, Value: true})
	if mg.decisions.removes(path) {
		return s
	}
	return s.opened()
}

// silent are the ruleset-wide members that are not claimed and change nothing: each rule
// is so by default. What takes precedence over them makes no difference to that.
func (m *managed) silent(wide entry, c claim) (s entry) {
	if v := wide.Enabled; v != nil && c.enabled == nil && m.sameEffects(&edge.Overrides{Enabled: v}, nil) {
		s.Enabled = v
	}
	if v := wide.Action; v != nil && c.action == nil && m.sameEffects(&edge.Overrides{Action: v}, nil) {
		s.Action = v
	}
	if v := wide.SensitivityLevel; v != nil && c.sensitivity == nil && *v == defaultSensitivity {
		s.SensitivityLevel = v
	}
	return s
}

// neutral are values that say nothing, for the ruleset-wide members of live: they stand in
// for values that go, on a platform that keeps what is left out.
func (m *managed) neutral(live entry, merges bool) (n entry) {
	if !merges {
		return n
	}
	if live.Enabled != nil && m.allOn {
		n.Enabled = &on
	}
	if live.Enabled != nil && m.sameEffects(&edge.Overrides{Enabled: &off}, nil) {
		n.Enabled = &off
	}
	if live.Action != nil && len(m.Rules) > 0 && m.sameEffects(&edge.Overrides{Action: &m.Rules[0].Action}, nil) {
		n.Action = &m.Rules[0].Action
	}
	if live.SensitivityLevel != nil {
		level := defaultSensitivity
		n.SensitivityLevel = &level
	}
	return n
}

// without returns an entry without the members that another one has.
func (e entry) without(o entry) entry {
	if o.Enabled != nil {
		e.Enabled = nil
	}
	if o.Action != nil {
		e.Action = nil
	}
	if o.SensitivityLevel != nil {
		e.SensitivityLevel = nil
	}
	return e
}

// standIn fills a list that would become empty with one entry that changes
// nothing, where there is such an entry: empty lists are refused by the
// platform, and a merging server keeps a list that is left out. On any other
// platform only what stands in already does.
func (mg *merger) standIn(want *edge.Overrides, list string, slots []slot, with func(edge.Overrides, string, entry) edge.Overrides) {
	for _, s := range slots {
		for _, e := range mg.candidates(*want, list, s) {
			neutral := with(*want, s.key, e)
			if mg.managed.sameEffects(&neutral, want) {
				*want = neutral
				mg.standIns = append(mg.standIns, e.standIn(list, s.key)...)
				return
			}
		}
	}
}

// standIn are the members by which an entry that says nothing is remembered: the whole entry,
// and what it says but for "enabled: true", as if it were declared.
func (e entry) standIn(list, key string) (members []diff.Member) {
	members = []diff.Member{entryMember(list, key, "")}
	if e.enables() && e.Action == nil && e.ScoreThreshold == nil && e.SensitivityLevel == nil {
		return members
	}
	for _, member := range []string{"action", "enabled", "score_threshold", "sensitivity_level"} {
		if e.get(member) != nil {
			members = append(members, entryMember(list, key, member))
		}
	}
	return members
}

// candidates are entries that may say nothing: the one that is there, and "enabled: true".
// The one that is there is left out where it says "enabled: true" and more, of which the next
// plan would remove the rest. A platform that keeps what is left out is worth more tries: what
// the first of the rules does that the entry is about. None contradicts the declaration.
func (mg *merger) candidates(want edge.Overrides, list string, s slot) []entry {
	all := []entry{s.live, {Enabled: &on}}
	if len(s.live.Extra) > 0 || s.live.isEmpty() || s.on && s.live.disables() || s.live.enables() {
		all = all[1:]
	} else if !mg.merges && mg.before.has(entryMember(list, s.key, "")) {
		return all[:1]
	}
	if !mg.merges {
		return nil
	}
	level := defaultSensitivity
	if reached := mg.managed.reached(entryMember(list, s.key, "")); len(reached) > 0 {
		does := mg.managed.effects(&want)[reached[0]]
		if does.enabled || !s.on {
			all = append(all, entry{Enabled: &does.enabled})
		}
		all = append(all, entry{Action: &does.action})
	}
	return append(all, entry{SensitivityLevel: &level})
}

func withCategory(o edge.Overrides, tag string, e entry) edge.Overrides {
	o.Categories = append(slices.Clone(o.Categories), e.category(tag))
	return o
}

func withRule(o edge.Overrides, id string, e entry) edge.Overrides {
	o.Rules = append(slices.Clone(o.Rules), e.rule(edge.RuleID(id)))
	return o
}
