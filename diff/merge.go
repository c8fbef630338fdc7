package diff

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Leftover is an override member that is live, that no declaration owns, and
// that changes something.
type Leftover struct {
	Path  Member `json:"path"`
	Value any    `json:"value"`
}

// merger makes the overrides a deployment should have out of those it has and
// the claims on them. What nobody claims is kept, removed, or kept and named
// in leftovers, as the decision says.
type merger struct {
	managed   *managed
	decision  desired.Unmanaged // empty: nobody has decided
	before    map[Member]bool   // what the last applied commit owned
	leftovers []Leftover
}

// slot is one override entry on its way from live to wanted.
type slot struct {
	key  string
	live entry
	want entry
	role role
}

type role int

const (
	dropped   role = iota // leaves
	kept                  // stays where it is
	ours                  // claimed: written after the kept ones
	candidate             // "enabled: true" of nobody's: stays where it changes nothing
)

// merge returns the overrides that honour the claims, nil where none remain.
// Entries keep their live order; claimed ones come last, sorted.
func (mg *merger) merge(live *edge.Overrides, c claims) *edge.Overrides {
	if live == nil {
		live = &edge.Overrides{}
	}
	want := mg.mergeWide(live)
	categories := mg.slots(categorySlots(live), c.tags, categoryMember)
	rules := mg.slots(ruleSlots(live), ruleClaims(c), func(id, member string) Member {
		return ruleMember(edge.RuleID(id), member)
	})
	assemble(&want, categories, rules)
	core := want // the claims' context, against which candidates are judged
	mg.judge(&core, categories, categoryMember, withCategory)
	mg.judge(&core, rules, func(id, m string) Member { return ruleMember(edge.RuleID(id), m) }, withRule)
	assemble(&want, categories, rules)
	if len(live.Categories) > 0 && len(want.Categories) == 0 {
		mg.standIn(&want, categories, withCategory)
	}
	if len(live.Rules) > 0 && len(want.Rules) == 0 {
		mg.standIn(&want, rules, withRule)
	}
	return nonEmpty(want)
}

// mergeWide settles the ruleset-wide members, which no declaration can claim.
func (mg *merger) mergeWide(live *edge.Overrides) edge.Overrides {
	path := func(member string) Member { return Member("overrides." + member) }
	e := mg.settle(entry{Action: live.Action, Enabled: live.Enabled, SensitivityLevel: live.SensitivityLevel}, claim{}, path)
	if live.Enabled != nil && e.Enabled == nil {
		// A merging server keeps what is left out; say "true" where that is the same as nothing.
		on := true
		if mg.managed.sameEffects(&edge.Overrides{Enabled: &on}, nil) {
			e.Enabled = &on
		}
	}
	return edge.Overrides{Action: e.Action, Enabled: e.Enabled, SensitivityLevel: e.SensitivityLevel, Extra: live.Extra}
}

// slots settles every entry of one list, live and claimed.
func (mg *merger) slots(live []slot, claims map[string]claim, member func(key, member string) Member) []slot {
	seen := make(map[string]bool, len(live))
	for i := range live {
		s := &live[i]
		seen[s.key] = true
		c, claimed := claims[s.key]
		path := func(m string) Member { return member(s.key, m) }
		if !claimed && s.live.onlyEnables() && !mg.before[path("enabled")] {
			s.want, s.role = s.live, candidate
			continue
		}
		s.want = mg.settle(s.live, c, path)
		if !claimed {
			mg.settleExtra(s, path)
		}
		switch {
		case s.want.isEmpty():
			s.role = dropped
		case c.enabled != nil || c.score != nil || c.action != nil:
			s.role = ours
		default:
			s.role = kept
		}
	}
	for _, key := range sortedKeys(claims) {
		if c := claims[key]; !seen[key] && !c.on {
			live = append(live, slot{key: key, want: mg.settle(entry{}, c, nil), role: ours})
		}
	}
	return live
}

// settle decides member by member: claimed ones get their value, the rest goes
// by the decision.
func (mg *merger) settle(live entry, c claim, path func(string) Member) entry {
	want := entry{
		Action:           settleMember(mg, "action", live.Action, c.action, path),
		ScoreThreshold:   settleMember(mg, "score_threshold", live.ScoreThreshold, c.score, path),
		SensitivityLevel: settleMember(mg, "sensitivity_level", live.SensitivityLevel, nil, path),
		Extra:            live.Extra,
	}
	switch {
	case !c.on:
		want.Enabled = settleMember(mg, "enabled", live.Enabled, c.enabled, path)
	case live.Enabled != nil && *live.Enabled:
		want.Enabled = live.Enabled
	}
	return want
}

func settleMember[T any](mg *merger, name string, live, claimed *T, path func(string) Member) *T {
	switch {
	case claimed != nil:
		return claimed
	case live == nil || mg.before[path(name)]:
		return nil
	}
	mg.leftovers = append(mg.leftovers, Leftover{path(name), *live})
	if mg.decision == desired.Remove {
		return nil
	}
	return live
}

// settleExtra decides on the unknown members of an entry nobody claims: they go
// with the entry. Claimed entries keep theirs.
func (mg *merger) settleExtra(s *slot, path func(string) Member) {
	for _, name := range sortedKeys(s.live.Extra) {
		mg.leftovers = append(mg.leftovers, Leftover{path(name), s.live.Extra[name]})
	}
	if mg.decision == desired.Remove {
		s.want.Extra = nil
	}
}

// judge decides on the candidates of one list. One that changes nothing on top
// of core stays silently: it is noise a server or an earlier removal left. Any
// other is unmanaged like the rest.
func (mg *merger) judge(core *edge.Overrides, slots []slot, member func(key, m string) Member,
	with func(edge.Overrides, string, entry) edge.Overrides,
) {
	for i := range slots {
		s := &slots[i]
		if s.role != candidate {
			continue
		}
		s.role = kept
		on := with(*core, s.key, s.live)
		if mg.managed.sameEffects(&on, core) {
			continue
		}
		mg.leftovers = append(mg.leftovers, Leftover{member(s.key, "enabled"), true})
		if mg.decision == desired.Remove {
			s.role = dropped
		}
	}
}

// standIn fills a list that would become empty with one entry that changes
// nothing, where there is such an entry: empty lists are refused by the
// platform, and a merging server keeps a list that is left out.
func (mg *merger) standIn(want *edge.Overrides, slots []slot, with func(edge.Overrides, string, entry) edge.Overrides) {
	on := true
	for _, s := range slots {
		neutral := with(*want, s.key, entry{Enabled: &on})
		if mg.managed.sameEffects(&neutral, want) {
			*want = neutral
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

// assemble writes the slots that stay into want.
func assemble(want *edge.Overrides, categories, rules []slot) {
	want.Categories, want.Rules = nil, nil
	for _, s := range inOrder(categories) {
		want.Categories = append(want.Categories, s.want.category(s.key))
	}
	for _, s := range inOrder(rules) {
		want.Rules = append(want.Rules, s.want.rule(edge.RuleID(s.key)))
	}
}

func inOrder(slots []slot) []slot {
	var stay, claimed []slot
	for _, s := range slots {
		switch s.role {
		case kept:
			stay = append(stay, s)
		case ours:
			claimed = append(claimed, s)
		}
	}
	slices.SortFunc(claimed, func(a, b slot) int { return cmp.Compare(a.key, b.key) })
	return append(stay, claimed...)
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
	last := make(map[string]int, n)
	for i := range n {
		key, _ := at(i)
		last[key] = i
	}
	slots := make([]slot, 0, n)
	early := map[string]entry{}
	for i := range n {
		key, e := at(i)
		if lower, ok := early[key]; ok {
			e = lower.under(e)
		}
		if last[key] != i {
			early[key] = e
			continue
		}
		slots = append(slots, slot{key: key, live: e})
	}
	return slots
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

func ruleClaims(c claims) map[string]claim {
	byKey := make(map[string]claim, len(c.rules))
	for id, claim := range c.rules {
		byKey[string(id)] = claim
	}
	return byKey
}

func nonEmpty(o edge.Overrides) *edge.Overrides {
	if o.Action == nil && o.Enabled == nil && o.SensitivityLevel == nil &&
		len(o.Categories) == 0 && len(o.Rules) == 0 && len(o.Extra) == 0 {
		return nil
	}
	return &o
}
