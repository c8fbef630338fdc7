package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// effect is how one managed rule behaves once overrides are on top of its
// defaults.
type effect struct {
	enabled     bool
	action      edge.Action
	score       int // meaningful where scored
	scored      bool
	sensitivity string
}

// effects computes how every rule of the managed ruleset behaves under
// overrides, in the ruleset's order. Precedence is rule over category over
// ruleset-wide members; of two categories that hit one rule the last listed
// wins. A ruleset-wide action does not reach the last rule: the outcome of a
// scoring ruleset is set there and nowhere else.
func (m *managed) effects(o *edge.Overrides) []effect {
	all := slices.Clone(m.does)
	if o == nil {
		return all
	}
	for i := 0; i < len(all) && (o.Action != nil || o.Enabled != nil || o.SensitivityLevel != nil); i++ {
		all[i].override(m.wide(o, i))
	}
	for _, c := range o.Categories {
		for _, i := range m.byTag[c.Category] {
			all[i].override(categoryEntry(c))
		}
	}
	for _, r := range o.Rules {
		if i, ok := m.byID[r.ID]; ok {
			all[i].override(ruleEntry(r))
		}
	}
	return all
}

// effectsOf are what rules do under overrides, for who asks of few of them: a managed ruleset
// has hundreds, and most changes are about one.
type effectsOf struct {
	managed *managed
	under   *edge.Overrides
	asked   int
	all     []effect // once more than a few were asked for
}

// fewAsked is after how many questions all are worked out.
const fewAsked = 8

// of is what one rule does.
func (e *effectsOf) of(rule int) effect {
	if e.all == nil && e.asked < fewAsked {
		e.asked++
		return e.managed.effect(e.under, rule)
	}
	if e.all == nil {
		e.all = e.managed.effects(e.under)
	}
	return e.all[rule]
}

// effect is that of [managed.effects] on one rule.
func (m *managed) effect(o *edge.Overrides, rule int) effect {
	e := m.does[rule]
	if o == nil {
		return e
	}
	e.override(m.wide(o, rule))
	for _, c := range o.Categories {
		if slices.Contains(m.Rules[rule].Categories, c.Category) {
			e.override(categoryEntry(c))
		}
	}
	for _, r := range o.Rules {
		if i, ok := m.byID[r.ID]; ok && i == rule {
			e.override(ruleEntry(r))
		}
	}
	return e
}

// wide is what ruleset-wide members say of one rule.
func (m *managed) wide(o *edge.Overrides, rule int) entry {
	e := entry{Action: o.Action, Enabled: o.Enabled, SensitivityLevel: o.SensitivityLevel}
	if rule == len(m.does)-1 && m.does[rule].scored {
		e.Action = nil
	}
	return e
}

// effectOf is what a rule does by default.
func effectOf(rule edge.Rule) effect {
	e := effect{enabled: rule.IsEnabled(), action: rule.Action}
	if rule.ScoreThreshold != nil {
		e.score, e.scored = *rule.ScoreThreshold, true
	}
	return e
}

// decides reports whether an override member has the last word on what one rule does: no
// member of the same name takes precedence over it. So has a member that nothing is known
// of, and the order of tags.
func (m *managed) decides(o *edge.Overrides, path diff.Member, rule int) bool {
	list, key, member := path.Override()
	if !slices.Contains(overrideMembers, member) {
		return true
	}
	if o == nil {
		return false
	}
	r := m.Rules[rule]
	for _, one := range o.Rules {
		if one.ID == r.ID && ruleEntry(one).get(member) != nil {
			return list == "rules" && key == string(r.ID)
		}
	}
	for _, one := range slices.Backward(o.Categories) {
		if slices.Contains(r.Categories, one.Category) && categoryEntry(one).get(member) != nil {
			return list == "categories" && key == one.Category
		}
	}
	return list == "" && wideOf(o).get(member) != nil
}

var overrideMembers = []string{"action", "enabled", "score_threshold", "sensitivity_level"}

func (e *effect) override(by entry) {
	if by.Enabled != nil {
		e.enabled = *by.Enabled
	}
	if by.Action != nil {
		e.action = *by.Action
	}
	if by.ScoreThreshold != nil {
		e.score, e.scored = *by.ScoreThreshold, true
	}
	if by.SensitivityLevel != nil {
		e.sensitivity = *by.SensitivityLevel
		if e.sensitivity == defaultSensitivity {
			e.sensitivity = "" // as where nothing says otherwise
		}
	}
}

const defaultSensitivity = "default"

// sameEffects reports whether two sets of overrides make every rule behave alike.
func (m *managed) sameEffects(a, b *edge.Overrides) bool {
	return slices.Equal(m.effects(a), m.effects(b))
}
