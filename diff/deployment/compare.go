package deployment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// compare returns the fields in which two execute rules differ, sorted by path,
// without direction and origin. It is empty when they say the same and
// make every managed rule behave alike. Overrides are sets, so that order
// does not count, and a member that was never said is not false. The order of categories
// does count, but only where it changes how a rule behaves; order sees to that.
func compare(live, want edge.Rule, m *managed) []diff.Field {
	var fields differing
	if live.IsEnabled() != want.IsEnabled() {
		fields.add("enabled", live.IsEnabled(), want.IsEnabled())
	}
	if live.Expression != want.Expression {
		fields.add("expression", live.Expression, want.Expression)
	}
	if was, is := rulesets.VersionOf(live), rulesets.VersionOf(want); was != is {
		fields.add(versionMember, was, is)
	}
	was, is := saidOf(live), saidOf(want)
	fields.entry(wideOf(was), wideOf(is), wideMember)
	fields.entries("categories", categorySlots(was), categorySlots(is))
	fields.entries("rules", ruleSlots(was), ruleSlots(is))
	fields = append(fields, order(live, want, m)...)
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
	return fields
}

// saidOf are the overrides of a rule, empty where it has none.
func saidOf(rule edge.Rule) *edge.Overrides {
	if o := overridesOf(rule); o != nil {
		return o
	}
	return &edge.Overrides{}
}

// differing are fields that differ.
type differing []diff.Field

func (d *differing) add(path diff.Member, old, now any) {
	*d = append(*d, diff.Field{Path: path, Old: old, New: now})
}

// entries adds what differs in a list.
func (d *differing) entries(list string, was, is []slot) {
	before := slotsByKey{slots: was}
	seen := 0
	for i := range is {
		path := func(member string) diff.Member { return entryMember(list, is[i].key, member) }
		var old entry
		if at := before.find(is[i].key, i); at >= 0 {
			old, seen = was[at].live, seen+1
		}
		d.entry(old, is[i].live, path)
	}
	if seen == len(was) {
		return
	}
	after := slotsByKey{slots: is}
	for i := range was {
		if after.find(was[i].key, i) < 0 {
			d.entry(was[i].live, entry{}, func(member string) diff.Member { return entryMember(list, was[i].key, member) })
		}
	}
}

// entry adds the members in which two entries differ; nil is a member that is not said.
func (d *differing) entry(was, is entry, path func(member string) diff.Member) {
	if was.equal(is) {
		return
	}
	for _, member := range overrideMembers {
		if old, now := was.get(member), is.get(member); old != now { // they are texts, numbers and truths
			d.add(path(member), old, now)
		}
	}
	for name, old := range was.Extra {
		if now, there := is.Extra[name]; !there {
			d.add(path(name), old, nil)
		} else if !bytes.Equal(old, now) {
			d.add(path(name), old, now)
		}
	}
	for name, now := range is.Extra {
		if _, there := was.Extra[name]; !there {
			d.add(path(name), nil, now)
		}
	}
}

// equal spares the entries that are alike, which are nearly all, the look at each member.
func (e entry) equal(other entry) bool {
	return same(e.Action, other.Action) && same(e.Enabled, other.Enabled) && same(e.ScoreThreshold, other.ScoreThreshold) &&
		same(e.SensitivityLevel, other.SensitivityLevel) && maps.EqualFunc(e.Extra, other.Extra, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// order finds the one difference that sets are blind to: categories
// that hit the same rule, listed the other way round.
func order(live, want edge.Rule, m *managed) []diff.Field {
	a, b := overridesOf(live), overridesOf(want)
	if a == nil || b == nil || slices.Equal(tagOrder(a), tagOrder(b)) {
		return nil
	}
	once := *a // as sets see it
	once.Categories = nil
	for _, s := range categorySlots(a) {
		once.Categories = append(once.Categories, s.live.category(s.key))
	}
	asListed := *b
	asListed.Categories = orderedLike(b.Categories, once.Categories)
	if m.sameEffects(a, &once) && m.sameEffects(&asListed, b) {
		return nil
	}
	return []diff.Field{{Path: "overrides.categories", Old: tagOrder(a), New: tagOrder(b), Note: "order"}}
}

// orderedLike returns categories in the order in which model lists them; those
// it does not list come last.
func orderedLike(categories, model []edge.CategoryOverride) []edge.CategoryOverride {
	place := make(map[string]int, len(model))
	for i, c := range model {
		place[c.Category] = i - len(model)
	}
	categories = slices.Clone(categories)
	slices.SortStableFunc(categories, func(a, b edge.CategoryOverride) int {
		return cmp.Compare(place[a.Category], place[b.Category])
	})
	return categories
}

func overridesOf(rule edge.Rule) *edge.Overrides {
	if rule.ActionParameters == nil {
		return nil
	}
	return rule.ActionParameters.Overrides
}

func tagOrder(o *edge.Overrides) []string {
	tags := make([]string, len(o.Categories))
	for i, c := range o.Categories {
		tags[i] = c.Category
	}
	return tags
}
