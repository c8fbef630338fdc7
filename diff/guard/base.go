package guard

import (
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// Base has the zones that the shares of limits are shares of: those that were there before
// what is judged, and exist on the platform. Who writes a commit can add any number of
// zones and labels, and must not widen a limit by it. It keeps a count for each rule.
//
// It is not safe for concurrent use. Make it with [NewBase].
type Base struct {
	rules []Rule
	zones map[edge.Scope]selected
	count []int // by rule
}

// selected are the rules that select a zone: a bit for each, eight in a byte.
type selected string

func selectedBy(rules []Rule, selects func(Rule) bool) selected {
	bits := make([]byte, (len(rules)+7)/8)
	for i, rule := range rules {
		if selects(rule) {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return selected(bits)
}

// by reports whether a rule is one of them, by its place.
func (s selected) by(rule int) bool {
	return rule >= 0 && rule/8 < len(s) && s[rule/8]&(1<<(rule%8)) != 0
}

// add adds a number to the counts of each of these rules.
func (s selected) add(counts []int, n int) {
	for i := range counts {
		if s.by(i) {
			counts[i] += n
		}
	}
}

// placeOf is the place of a rule among others; below zero where it is not there.
func placeOf(rules []Rule, rule Rule) int {
	return slices.IndexFunc(rules, func(r Rule) bool { return r.Name == rule.Name })
}

// NewBase returns an empty one for rules, with room for so many zones.
func NewBase(rules []Rule, zones int) *Base {
	return &Base{rules: rules, zones: make(map[edge.Scope]selected, zones), count: make([]int, len(rules))}
}

// Add has a zone count for the rules whose labels select it by each of these labels: those
// that it had before, and those with which it was proved. A zone counts once, as it was when
// it was added first.
func (b *Base) Add(zone edge.Scope, labels ...Labels) {
	if _, counts := b.zones[zone]; counts {
		return
	}
	_, account := zone.Account()
	by := selectedBy(b.rules, func(rule Rule) bool { return account || selectsAll(rule.Labels, labels) })
	b.zones[zone] = by
	by.add(b.count, 1)
}

// Drop has a zone count no longer, so that it may be added as it is now.
func (b *Base) Drop(zone edge.Scope) {
	b.zones[zone].add(b.count, -1)
	delete(b.zones, zone)
}

// Len is how many zones count.
func (b *Base) Len() int { return len(b.zones) }

func selectsAll(l Labels, all []Labels) bool {
	for _, labels := range all {
		if !l.Selects(labels) {
			return false
		}
	}
	return true
}

// base is of how many zones the shares of a rule are shares.
func (f Facts) base(rule Rule) int {
	if f.Base == nil {
		return f.selected(rule.Labels)
	}
	if i := placeOf(f.Base.rules, rule); i >= 0 {
		return f.Base.count[i]
	}
	return 0
}
