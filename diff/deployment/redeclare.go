package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Redeclare changes a declaration as little as it takes for a live execute rule to agree
// with it: members that it does not declare and keeps stay undeclared, and its forms stay
// where they still fit. Lists are in their new order; values have no origins.
func (d *Declarer) Redeclare(declared desired.Deployment, rule edge.Rule) desired.Deployment {
	v := d.inverse()
	v.base = &declared
	v.learn(declared)
	out := v.declare(rule, v.withoutKept(declared, liveOverrides(rule)))
	out.Ruleset = declared.Ruleset
	return out
}

// learn notes how a declaration says what it says.
func (v *inverse) learn(d desired.Deployment) {
	v.names, v.longTags, v.longRules = map[edge.RuleID]desired.RuleRef{}, map[string]bool{}, map[edge.RuleID]bool{}
	name := func(ref desired.RuleRef) edge.RuleID {
		f := v.managed.find(ref)
		if f.message != "" {
			return ref.ID
		}
		v.names[f.id] = ref
		return f.id
	}
	for _, ref := range d.Disable.Rules {
		name(ref.Value)
	}
	for _, o := range d.Rules {
		if id := name(o.Rule); o.Enabled != nil {
			v.longRules[id] = true
		}
	}
	for _, o := range d.Tags {
		if o.Enabled != nil {
			v.longTags[o.Tag] = true
		}
	}
}

// withoutKept returns the overrides without the members that a declaration does not
// declare and keeps, and without those that say nothing.
func (v *inverse) withoutKept(d desired.Deployment, o edge.Overrides) edge.Overrides {
	resolved, _ := resolve(d, v.managed)
	decided, _ := v.managed.decide(d)
	strip := func(live entry, c claim, path func(string) diff.Member) entry {
		keeps := decided.on(path("")).Value == desired.Keep
		if c.action == nil && keeps {
			live.Action = nil
		}
		if c.score == nil && keeps {
			live.ScoreThreshold = nil
		}
		if c.sensitivity == nil && keeps {
			live.SensitivityLevel = nil
		}
		if c.enabled == nil && !c.on && keeps {
			live.Enabled = nil
		}
		if keeps {
			live.Extra = nil
		}
		return live
	}
	out := o
	wide := strip(wideOf(&o), resolved.all, func(string) diff.Member { return wideEntry })
	out.Action, out.Enabled, out.SensitivityLevel, out.Extra = wide.Action, wide.Enabled, wide.SensitivityLevel, wide.Extra
	out.Categories, out.Rules = nil, nil
	for _, s := range categorySlots(&o) {
		live := strip(s.live, resolved.tags.of(s.key), func(member string) diff.Member { return categoryMember(s.key, member) })
		if !live.isEmpty() {
			out.Categories = append(out.Categories, live.category(s.key))
		}
	}
	for _, s := range ruleSlots(&o) {
		id := edge.RuleID(s.key)
		live := strip(s.live, resolved.rules.of(s.key), func(member string) diff.Member { return ruleMember(id, member) })
		if !live.isEmpty() {
			out.Rules = append(out.Rules, live.rule(id))
		}
	}
	return v.withoutNoise(out, resolved)
}

// withoutNoise takes out each "enabled: true" that is not declared and has no effect.
func (v *inverse) withoutNoise(o edge.Overrides, c claims) edge.Overrides {
	for i, category := range o.Categories {
		if e := categoryEntry(category); e.enables() && c.tags.of(category.Category).enabled == nil {
			quiet := o
			quiet.Categories = slices.Clone(o.Categories)
			quiet.Categories[i].Enabled = nil
			if v.managed.sameEffects(&quiet, &o) {
				o = quiet
			}
		}
	}
	for i, rule := range o.Rules {
		if e := ruleEntry(rule); e.enables() && c.rules.of(string(rule.ID)).enabled == nil {
			quiet := o
			quiet.Rules = slices.Clone(o.Rules)
			quiet.Rules[i].Enabled = nil
			if v.managed.sameEffects(&quiet, &o) {
				o = quiet
			}
		}
	}
	o.Categories = slices.DeleteFunc(slices.Clone(o.Categories), func(c edge.CategoryOverride) bool { return categoryEntry(c).isEmpty() })
	o.Rules = slices.DeleteFunc(slices.Clone(o.Rules), func(r edge.RuleOverride) bool { return ruleEntry(r).isEmpty() })
	return o
}
