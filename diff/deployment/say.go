package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// This file writes declarations of overrides, and notes what a declaration cannot say.

func (v *inverse) sayAll(o edge.Overrides) (desired.Override, entry) {
	live := wideOf(&o)
	if v.documented {
		return desired.Override{}, live
	}
	return say(live, true, true)
}

// sayTags declares the overrides on tags: a paranoia level and disabled tags where the
// form has them, the rest in its order.
func (v *inverse) sayTags(d *desired.Deployment, left *unsaid, slots []slot, f form) {
	level := 0
	if f.paranoia && (d.All.Enabled == nil || d.All.Enabled.Value) {
		level = v.level(slots)
	}
	if level > 0 {
		d.Paranoia = &desired.Declared[int]{Value: level}
	}
	for _, s := range slots {
		if s.key == "" || !v.managed.knowsTag(s.key) {
			left.categories = append(left.categories, s)
			continue
		}
		if _, ok := edge.ParanoiaLevel(s.key); ok && level > 0 {
			s.live.Enabled = nil
			if s.live.isEmpty() {
				continue
			}
		}
		said, rest := say(s.live, !v.documented, !v.documented)
		v.sayTag(d, s.key, said, f)
		if !rest.isEmpty() {
			s.live = rest
			left.categories = append(left.categories, s)
		}
	}
}

// sayTag declares the override on one tag.
func (v *inverse) sayTag(d *desired.Deployment, tag string, said desired.Override, f form) {
	switch {
	case said.IsZero():
	case f.disable && onlyOff(said) && !v.longTags[tag]:
		d.Disable.Tags = append(d.Disable.Tags, desired.Declared[string]{Value: tag})
	default:
		d.Tags = append(d.Tags, desired.TagOverride{Tag: tag, Override: said})
	}
}

// level is the paranoia level that the disabled paranoia tags mean; 0 for none.
func (v *inverse) level(slots []slot) int {
	off := map[int]bool{}
	for _, s := range slots {
		level, ok := edge.ParanoiaLevel(s.key)
		if !ok || s.live.Enabled == nil {
			continue
		}
		if v.longTags[s.key] {
			return 0
		}
		off[level] = !*s.live.Enabled
	}
	level := edge.MaxParanoia
	for level > 0 && off[level] {
		level--
	}
	for below := 1; below < level; below++ {
		if off[below] {
			return 0
		}
	}
	if level == edge.MaxParanoia && (v.base == nil || v.base.Paranoia == nil) {
		return 0 // nothing is off: no one has set a level
	}
	return level
}

// sayRules declares the overrides on rules: the threshold and disabled rules where the
// form has them.
func (v *inverse) sayRules(d *desired.Deployment, left *unsaid, slots []slot, f form) {
	for _, s := range slots {
		i, known := v.managed.byID[edge.RuleID(s.key)]
		if !known || !edge.ValidID(s.key) {
			left.rules = append(left.rules, s)
			continue
		}
		live, rest := s.live, entry{}
		scores := v.managed.Rules[i].ScoreThreshold != nil
		if live.ScoreThreshold != nil && (!scores || live.Enabled != nil && !*live.Enabled) {
			rest.ScoreThreshold, live.ScoreThreshold = live.ScoreThreshold, nil
		}
		said, more := say(live, true, !v.documented)
		rest.Action, rest.SensitivityLevel, rest.Extra = more.Action, more.SensitivityLevel, more.Extra
		if !rest.isEmpty() {
			s.live = rest
			left.rules = append(left.rules, s)
		}
		if last := edge.RuleID(s.key) == v.managed.last; last && f.threshold && said.Score != nil && said.Action != nil {
			d.Threshold = &desired.Threshold{Score: *said.Score, Action: *said.Action}
			said.Score, said.Action = nil, nil
		}
		v.sayRule(d, edge.RuleID(s.key), said)
	}
}

// sayRule declares the override on one rule.
func (v *inverse) sayRule(d *desired.Deployment, id edge.RuleID, said desired.Override) {
	switch {
	case said.IsZero():
	case onlyOff(said) && !v.longRules[id]:
		d.Disable.Rules = append(d.Disable.Rules, desired.Declared[desired.RuleRef]{Value: v.ref(id)})
	default:
		d.Rules = append(d.Rules, desired.RuleOverride{Rule: v.ref(id), Override: said})
	}
}

// onlyOff reports whether an override says nothing but that something is disabled.
func onlyOff(o desired.Override) bool {
	return o.Enabled != nil && !o.Enabled.Value && o.Action == nil && o.Sensitivity == nil && o.Score == nil
}

var (
	actions       = []edge.Action{edge.ActionBlock, edge.ActionManagedChallenge, edge.ActionJSChallenge, edge.ActionLog, edge.ActionChallenge}
	sensitivities = []string{"default", "medium", "low", "eoff"}
)

// say declares the members of an entry that a declaration may have, and returns the
// rest. Without withAction and withSensitivity those two are in the rest.
func say(live entry, withAction, withSensitivity bool) (said desired.Override, rest entry) {
	rest = entry{Extra: live.Extra}
	if live.Enabled != nil {
		said.Enabled = &desired.Declared[bool]{Value: *live.Enabled}
	}
	if live.ScoreThreshold != nil {
		said.Score = &desired.Declared[int]{Value: *live.ScoreThreshold}
	}
	if live.Action != nil {
		if withAction && slices.Contains(actions, *live.Action) {
			said.Action = &desired.Declared[edge.Action]{Value: *live.Action}
		} else {
			rest.Action = live.Action
		}
	}
	if live.SensitivityLevel != nil {
		if withSensitivity && slices.Contains(sensitivities, *live.SensitivityLevel) {
			said.Sensitivity = &desired.Declared[string]{Value: *live.SensitivityLevel}
		} else {
			rest.SensitivityLevel = live.SensitivityLevel
		}
	}
	return said, rest
}
