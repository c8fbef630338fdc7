package deployment

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// merger makes the overrides a deployment should have out of those it has and
// the claims on them. What nobody claims is kept, removed, or kept and named
// in leftovers, as the decision says.
type merger struct {
	managed   *managed
	decisions decisions
	merges    bool    // the platform keeps what an update leaves out
	before    members // what the last applied commit owned
	leftovers []diff.Leftover
	quiet     []diff.Member // that are not declared, stay and have no effect as things are
	standIns  []diff.Member // entries of ours that say nothing; see neutral.go
}

// merge returns the overrides that honour the claims, nil where none remain.
// Categories keep their live order, claimed ones after the rest by their place and
// name; rules, whose order means nothing, are sorted.
func (mg *merger) merge(live *edge.Overrides, c claims) *edge.Overrides {
	if live == nil {
		live = &edge.Overrides{}
	}
	want := mg.mergeWide(live, c.all)
	categories := mg.slots("categories", categorySlots(live), c.tags)
	rules := mg.slots("rules", ruleSlots(live), c.rules)
	mg.judge(want, categories, rules)
	assemble(&want, categories, rules)
	if len(live.Categories) > 0 && len(want.Categories) == 0 {
		mg.standIn(&want, "categories", categories, withCategory)
	}
	if len(live.Rules) > 0 && len(want.Rules) == 0 {
		mg.standIn(&want, "rules", rules, withRule)
	}
	slices.SortFunc(mg.leftovers, func(a, b diff.Leftover) int { return cmp.Compare(a.Path, b.Path) })
	return nonEmpty(want)
}

// mergeWide settles the ruleset-wide members. Those that are not claimed and say
// nothing stay; see neutral.go.
func (mg *merger) mergeWide(live *edge.Overrides, c claim) edge.Overrides {
	have := wideOf(live)
	silent := mg.managed.silent(have, c)
	mg.quiet = append(mg.quiet, silent.members(wideMember)...)
	e := silent.under(mg.settle(have.without(silent), c, wideMember))
	e = mg.managed.neutral(have, mg.merges).under(e)
	return edge.Overrides{Action: e.Action, Enabled: e.Enabled, SensitivityLevel: e.SensitivityLevel, Extra: mg.settleExtra(live.Extra, wideMember)}
}

// slots settles every entry of one list, live and claimed.
func (mg *merger) slots(list string, live []slot, claims entryClaims) []slot {
	for i := range live {
		s := &live[i]
		c := claims.of(s.key)
		s.on = c.on
		path := func(member string) diff.Member { return entryMember(list, s.key, member) }
		said := s.live
		if said.enables() && c.enabled == nil && (mg.before.has(path("")) || !mg.before.has(path("enabled")) && !c.on) {
			s.open, said.Enabled = true, nil
		}
		s.want = mg.settle(said, c, path)
		s.want.Extra = mg.settleExtra(s.live.Extra, path)
		switch {
		case s.want.isEmpty():
			s.role = dropped
		case c.writes():
			s.role, s.place = ours, c.place
		default:
			s.role = kept
		}
	}
	have := slotsByKey{slots: live}
	for _, key := range sortedKeys(claims) {
		if c := claims[key]; c.writes() && have.find(key, -1) < 0 {
			live = append(live, slot{key: key, want: mg.settle(entry{}, *c, nil), role: ours, place: c.place})
		}
	}
	return live
}

// settle decides member by member: claimed ones get their value, the rest goes
// by the decision.
func (mg *merger) settle(live entry, c claim, path func(string) diff.Member) entry {
	want := entry{
		Action:           settleMember(mg, "action", live.Action, c.action, path),
		ScoreThreshold:   settleMember(mg, "score_threshold", live.ScoreThreshold, c.score, path),
		SensitivityLevel: settleMember(mg, "sensitivity_level", live.SensitivityLevel, c.sensitivity, path),
		Extra:            live.Extra,
	}
	switch {
	case !c.on:
		want.Enabled = settleMember(mg, "enabled", live.Enabled, c.enabled, path)
	case live.Enabled != nil && *live.Enabled && !mg.before.has(path("enabled")):
		want.Enabled = live.Enabled
		mg.quiet = append(mg.quiet, path("enabled"))
	}
	return want
}

func settleMember[T any](mg *merger, name string, live, claimed *T, path func(string) diff.Member) *T {
	switch {
	case claimed != nil:
		return claimed
	case live == nil || mg.before.has(path(name)):
		return nil
	}
	mg.leftovers = append(mg.leftovers, diff.Leftover{Path: path(name), Value: *live})
	if mg.decisions.removes(path(name)) {
		return nil
	}
	return live
}

// settleExtra decides on the members that are not known here, and returns those that stay.
// Nothing declares such a member, also where the entry that it is in is declared.
func (mg *merger) settleExtra(live map[string]json.RawMessage, path func(string) diff.Member) map[string]json.RawMessage {
	stay := live
	for _, name := range sortedKeys(live) {
		mg.leftovers = append(mg.leftovers, diff.Leftover{Path: path(name), Value: live[name]})
		if mg.decisions.removes(path(name)) {
			stay = maps.Clone(stay)
			delete(stay, name)
		}
	}
	return stay
}

func nonEmpty(o edge.Overrides) *edge.Overrides {
	if o.Action == nil && o.Enabled == nil && o.SensitivityLevel == nil &&
		len(o.Categories) == 0 && len(o.Rules) == 0 && len(o.Extra) == 0 {
		return nil
	}
	return &o
}
