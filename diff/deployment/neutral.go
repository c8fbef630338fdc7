package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// "enabled: true" may say nothing at all, where the rules it reaches are on
// anyway. Such members are noise that a server, a dashboard or an earlier
// removal left; and Seawall writes one itself where a list would become empty.
// The latter are remembered among a deployment's owned members by the path of
// the whole entry, so that one which later commits give a meaning is taken back
// instead of being laid at somebody else's door.

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
	standIn := len(mg.before) > 0 && mg.before[entryMember(list, s.key, "")]
	switch {
	case neutral && standIn:
		mg.standIns = append(mg.standIns, entryMember(list, s.key, ""))
		return s.opened()
	case neutral:
		return s.opened()
	case standIn:
		return s
	}
	mg.leftovers = append(mg.leftovers, diff.Leftover{Path: entryMember(list, s.key, "enabled"), Value: true})
	if mg.decision == desired.Remove {
		return s
	}
	return s.opened()
}

// standIn fills a list that would become empty with one entry that changes
// nothing, where there is such an entry: empty lists are refused by the
// platform, and a merging server keeps a list that is left out.
func (mg *merger) standIn(want *edge.Overrides, list string, slots []slot, with func(edge.Overrides, string, entry) edge.Overrides) {
	for _, s := range slots {
		neutral := with(*want, s.key, entry{Enabled: &on})
		if mg.managed.sameEffects(&neutral, want) {
			*want = neutral
			mg.standIns = append(mg.standIns, entryMember(list, s.key, ""))
			return
		}
	}
}

func withCategory(o edge.Overrides, tag string, e entry) edge.Overrides {
	o.Categories = append(slices.Clone(o.Categories), e.category(tag))
	return o
}

func withRule(o edge.Overrides, id string, e entry) edge.Overrides {
	o.Rules = append(slices.Clone(o.Rules), e.rule(edge.RuleID(id)))
	return o
}
