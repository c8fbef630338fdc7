package diff

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// An entry that only says "enabled: true" may say nothing at all, where the
// rules it reaches are on anyway. Such entries are noise that a server or an
// earlier removal left; and Seawall writes one itself where a list would
// become empty. The latter are remembered among a deployment's owned members
// by the path of the whole entry, so that one which later commits give a
// meaning is taken back instead of being laid at somebody else's door.

// judge decides on the candidates of both lists, each where it would stand,
// against what the other entries make of the rules. One that changes nothing
// stays silently. Any other is unmanaged like the rest.
//
// Candidates are judged without each other: all they can do is switch rules
// on, so several of them change nothing when each of them does not.
func (mg *merger) judge(want edge.Overrides, categories, rules []slot) {
	if !hasCandidate(categories) && !hasCandidate(rules) {
		return
	}
	assemble(&want, categories, rules)
	core := mg.managed.effects(&want)
	neutral := make([]bool, len(categories))
	for i := range categories {
		if s := &categories[i]; s.role == candidate {
			s.role = kept
			assemble(&want, categories, rules)
			neutral[i] = slices.Equal(mg.managed.effects(&want), core)
			s.role = candidate
		}
	}
	for i := range categories {
		mg.pass("categories", &categories[i], neutral[i])
	}
	for i := range rules {
		place, known := mg.managed.byID[edge.RuleID(rules[i].key)]
		mg.pass("rules", &rules[i], !known || core[place].enabled)
	}
}

func hasCandidate(slots []slot) bool {
	return slices.ContainsFunc(slots, func(s slot) bool { return s.role == candidate })
}

// pass gives a candidate its role.
func (mg *merger) pass(list string, s *slot, neutral bool) {
	if s.role != candidate {
		return
	}
	s.role = kept
	standIn := entryMember(list, s.key, "")
	switch {
	case neutral && mg.before[standIn]:
		mg.standIns = append(mg.standIns, standIn)
	case neutral:
	case mg.before[standIn]:
		s.role = dropped
	default:
		mg.leftovers = append(mg.leftovers, Leftover{entryMember(list, s.key, "enabled"), true})
		if mg.decision == desired.Remove {
			s.role = dropped
		}
	}
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
