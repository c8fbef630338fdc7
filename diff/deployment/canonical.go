package deployment

import (
	"encoding/json"
	"maps"

	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// canonical is what of an execute rule is compared: sets as maps, so that order
// does not count, and members that were never said as nil, so that absent is
// not false. The order of categories does count, but only where it changes how
// a rule behaves; compare sees to that.
type canonical struct {
	Enabled    bool
	Expression string
	Version    string // of the managed ruleset that is run
	Overrides  canonicalOverrides
}

type canonicalOverrides struct {
	Action           *edge.Action
	Enabled          *bool
	SensitivityLevel *string
	Categories       map[string]canonicalEntry
	Rules            map[string]canonicalEntry
	Extra            map[string]rawText
}

// rawText is the JSON text of a member nobody here knows.
type rawText string

type canonicalEntry struct {
	Action           *edge.Action
	Enabled          *bool
	ScoreThreshold   *int
	SensitivityLevel *string
	Extra            map[string]rawText
}

// canonicalise returns the canonical form of an execute rule.
func canonicalise(rule edge.Rule) canonical {
	c := canonical{Enabled: rule.IsEnabled(), Expression: rule.Expression, Version: rulesets.VersionOf(rule)}
	c.Overrides.Extra = extraText(nil)
	if rule.ActionParameters == nil || rule.ActionParameters.Overrides == nil {
		return c
	}
	o := rule.ActionParameters.Overrides
	c.Overrides = canonicalOverrides{
		Action: o.Action, Enabled: o.Enabled, SensitivityLevel: o.SensitivityLevel,
		Categories: canonicalEntries(categorySlots(o)),
		Rules:      canonicalEntries(ruleSlots(o)),
		Extra:      extraText(o.Extra),
	}
	return c
}

func canonicalEntries(slots []slot) map[string]canonicalEntry {
	entries := make(map[string]canonicalEntry, len(slots))
	for _, s := range slots {
		entries[s.key] = canonicalEntry{
			Action: s.live.Action, Enabled: s.live.Enabled, ScoreThreshold: s.live.ScoreThreshold,
			SensitivityLevel: s.live.SensitivityLevel, Extra: extraText(s.live.Extra),
		}
	}
	return entries
}

// align returns the entries in which a and b differ. Each side has every key of
// the other, with an entry that says nothing, so that an entry that came or went
// is compared member by member.
func align(a, b map[string]canonicalEntry) (left, right map[string]canonicalEntry) {
	nothing := canonicalEntry{Extra: extraText(nil)}
	left, right = map[string]canonicalEntry{}, map[string]canonicalEntry{}
	for key, entry := range a {
		other, both := b[key]
		switch {
		case !both:
			left[key], right[key] = entry, nothing
		case !entry.equal(other):
			left[key], right[key] = entry, other
		}
	}
	for key, entry := range b {
		if _, both := a[key]; !both {
			left[key], right[key] = nothing, entry
		}
	}
	return left, right
}

// equal spares go-cmp the rules that are alike, which are nearly all. Both sides
// are aligned: entries that are left differ.
func (c canonical) equal(other canonical) bool {
	a, b := c.Overrides, other.Overrides
	return c.Enabled == other.Enabled && c.Expression == other.Expression && c.Version == other.Version &&
		same(a.Action, b.Action) && same(a.Enabled, b.Enabled) && same(a.SensitivityLevel, b.SensitivityLevel) &&
		len(a.Categories)+len(b.Categories)+len(a.Rules)+len(b.Rules) == 0 && maps.Equal(a.Extra, b.Extra)
}

// equal spares go-cmp the entries that are alike, which are nearly all.
func (e canonicalEntry) equal(other canonicalEntry) bool {
	return same(e.Action, other.Action) && same(e.Enabled, other.Enabled) && same(e.ScoreThreshold, other.ScoreThreshold) &&
		same(e.SensitivityLevel, other.SensitivityLevel) && maps.Equal(e.Extra, other.Extra)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// extraText is never nil: go-cmp compares a nil map as a whole, not member by
// member.
func extraText(extra map[string]json.RawMessage) map[string]rawText {
	text := make(map[string]rawText, len(extra))
	for name, value := range extra {
		text[name] = rawText(value)
	}
	return text
}
