package deployment

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// slot is one override entry on its way from live to wanted.
type slot struct {
	key   string
	live  entry
	want  entry
	role  role
	place int  // of one that is ours, among those
	on    bool // the declaration says that it is not off
	open  bool // live says "enabled: true", nobody claims it, and it is not judged yet
}

type role int

const (
	dropped role = iota // leaves
	kept                // stays where it is
	ours                // claimed: written after the kept ones
)

// opened returns the slot as it would be with its "enabled: true".
func (s slot) opened() slot {
	s.open, s.want.Enabled = false, &on
	if s.role == dropped {
		s.role = kept
	}
	return s
}

func categorySlots(o *edge.Overrides) []slot {
	return uniqueSlots(len(o.Categories), func(i int) (string, entry) {
		return o.Categories[i].Category, categoryEntry(o.Categories[i])
	})
}

func ruleSlots(o *edge.Overrides) []slot {
	return uniqueSlots(len(o.Rules), func(i int) (string, entry) {
		return string(o.Rules[i].ID), ruleEntry(o.Rules[i])
	})
}

// uniqueSlots reads n entries. One that is listed twice counts once, where it
// stands last, later members winning.
func uniqueSlots(n int, at func(int) (string, entry)) []slot {
	known := slotsByKey{slots: make([]slot, 0, n)}
	for i := range n {
		key, e := at(i)
		if before := known.find(key, -1); before >= 0 {
			e = known.slots[before].live.under(e)
			known = slotsByKey{slots: slices.Delete(known.slots, before, before+1)}
		}
		known.slots = append(known.slots, slot{key: key, live: e})
	}
	return known.slots
}

// slotsByKey finds slots by their keys, of which each has one of its own. Most lists are short,
// or asked in their order.
type slotsByKey struct {
	slots  []slot
	places map[string]int // of the first slots; nil while they are few
}

// fewSlots is how many slots, or members, are looked through.
const fewSlots = 12

// find returns the place of the slot with a key, which may be the ith; -1 for none.
func (s *slotsByKey) find(key string, i int) int {
	if i >= 0 && i < len(s.slots) && s.slots[i].key == key {
		return i
	}
	if len(s.slots) <= fewSlots {
		return slices.IndexFunc(s.slots, func(one slot) bool { return one.key == key })
	}
	if s.places == nil {
		s.places = make(map[string]int, len(s.slots))
	}
	for i := len(s.places); i < len(s.slots); i++ {
		s.places[s.slots[i].key] = i
	}
	if at, there := s.places[key]; there {
		return at
	}
	return -1
}

// members are some that are asked for one by one.
type members struct {
	list []diff.Member
	set  map[diff.Member]bool // nil while they are few
}

func setOf(list []diff.Member) members {
	m := members{list: list}
	if len(list) > fewSlots {
		m.set = make(map[diff.Member]bool, len(list))
		for _, member := range list {
			m.set[member] = true
		}
	}
	return m
}

func (m members) has(member diff.Member) bool {
	if m.set == nil {
		return slices.Contains(m.list, member)
	}
	return m.set[member]
}

// under returns e with the members of top laid over it.
func (e entry) under(top entry) entry {
	extra := maps.Clone(e.Extra)
	if extra == nil {
		extra = map[string]json.RawMessage{}
	}
	maps.Copy(extra, top.Extra)
	return entry{
		Action:           cmp.Or(top.Action, e.Action),
		Enabled:          cmp.Or(top.Enabled, e.Enabled),
		ScoreThreshold:   cmp.Or(top.ScoreThreshold, e.ScoreThreshold),
		SensitivityLevel: cmp.Or(top.SensitivityLevel, e.SensitivityLevel),
		Extra:            extra,
	}
}

// assemble writes the slots that stay into want.
func assemble(want *edge.Overrides, categories, rules []slot) {
	want.Categories, want.Rules = categoriesOf(categories), nil
	if staying := inOrder(rules); len(staying) > 0 {
		want.Rules = make([]edge.RuleOverride, len(staying))
		for i, s := range staying {
			want.Rules[i] = s.want.rule(edge.RuleID(s.key))
		}
	}
	slices.SortFunc(want.Rules, func(a, b edge.RuleOverride) int { return cmp.Compare(a.ID, b.ID) })
}

func categoriesOf(slots []slot) (categories []edge.CategoryOverride) {
	staying := inOrder(slots)
	if len(staying) == 0 {
		return nil
	}
	categories = make([]edge.CategoryOverride, len(staying))
	for i, s := range staying {
		categories[i] = s.want.category(s.key)
	}
	return categories
}

// inOrder returns the slots that stay, in the order in which they are written.
func inOrder(slots []slot) []*slot {
	stay, claimed := make([]*slot, 0, len(slots)), make([]*slot, 0, len(slots))
	for i := range slots {
		switch s := &slots[i]; s.role {
		case kept:
			stay = append(stay, s)
		case ours:
			claimed = append(claimed, s)
		case dropped:
		}
	}
	slices.SortFunc(claimed, func(a, b *slot) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.key, b.key)) })
	return append(stay, claimed...)
}
