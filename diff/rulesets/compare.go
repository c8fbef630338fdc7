package rulesets

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// Comparison is what differs between two versions of a managed ruleset, whoever deploys it.
type Comparison struct {
	Removed []edge.Rule  // as they were
	Added   []edge.Rule  // as they are
	Changed []RuleChange // rules that both versions have, in the order of the newer one
	// Last says that another rule is the last one, the rule with the threshold. Where it does
	// the same for the ruleset as the one before, it is not in the others.
	Last *LastChange
	// Revised counts the rules of which nothing differs but their own version: the vendor
	// has changed what they detect, which the platform does not show.
	Revised int
}

// RuleChange is a rule that another version of a managed ruleset has changed.
type RuleChange struct {
	Before, After edge.Rule
	Members       []RuleMember
}

// RuleMember is a member of a rule in two versions. A value of nil is a member that is not
// there.
type RuleMember struct {
	Path     string
	Old, New any
}

// LastChange is the last rule of two versions; nil is that of a ruleset without rules.
type LastChange struct{ Before, After *edge.Rule }

// IsZero reports whether nothing differs.
func (c Comparison) IsZero() bool {
	return len(c.Removed)+len(c.Added)+len(c.Changed)+c.Revised == 0 && c.Last == nil
}

// String counts the rules.
func (c Comparison) String() string {
	var said []string
	for _, part := range []struct {
		n    int
		what string
	}{{len(c.Removed), "removed"}, {len(c.Added), "added"}, {len(c.Changed), "changed"}} {
		if part.n > 0 {
			said = append(said, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if c.Last != nil {
		said = append(said, "another last rule")
	}
	if c.Revised > 0 {
		said = append(said, fmt.Sprintf("%d revised without a difference that the platform shows", c.Revised))
	}
	if len(said) == 0 {
		return "no rule differs, by what the platform shows of them"
	}
	return strings.Join(said, ", ")
}

// ruleMembers are what is compared of a rule that two versions have. The id is among them,
// since declarations and overrides name rules by it.
var ruleMembers = []struct {
	path string
	of   func(edge.Rule) any
}{
	{"id", func(r edge.Rule) any { return string(r.ID) }},
	{"ref", func(r edge.Rule) any { return orNil(r.Ref) }},
	{"description", func(r edge.Rule) any {
		if r.Description == nil {
			return nil
		}
		return orNil(*r.Description)
	}},
	{"enabled", func(r edge.Rule) any { return r.IsEnabled() }},
	{"action", func(r edge.Rule) any { return orNil(string(r.Action)) }},
	{"tags", func(r edge.Rule) any {
		if tags := tagsOf(r); len(tags) > 0 {
			return tags
		}
		return nil
	}},
	{"score_threshold", func(r edge.Rule) any {
		if r.ScoreThreshold == nil {
			return nil
		}
		return *r.ScoreThreshold
	}},
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// tagsOf are the tags of a rule as a set: their order means nothing.
func tagsOf(r edge.Rule) []string { return slices.Compact(slices.Sorted(slices.Values(r.Categories))) }

// Compare compares two versions of a managed ruleset. The order of rules means nothing but
// for the last one.
func Compare(before, after edge.Ruleset) (c Comparison) {
	to := Pair(before, after)
	from := make([]int, len(after.Rules))
	for j := range from {
		from[j] = -1
	}
	for i, j := range to {
		if j < 0 {
			c.Removed = append(c.Removed, before.Rules[i])
			continue
		}
		from[j] = i
	}
	c.Last = lastChange(before, after, to)
	for j, rule := range after.Rules {
		if from[j] < 0 {
			c.Added = append(c.Added, rule)
			continue
		}
		was := before.Rules[from[j]]
		switch members := differing(was, rule); {
		case c.Last != nil && j == len(after.Rules)-1 && from[j] == len(before.Rules)-1: // it says so
		case len(members) > 0:
			c.Changed = append(c.Changed, RuleChange{was, rule, members})
		case was.Version != rule.Version:
			c.Revised++
		}
	}
	return c
}

// differing are the members in which two rules differ.
func differing(before, after edge.Rule) (members []RuleMember) {
	for _, m := range ruleMembers {
		if old, now := m.of(before), m.of(after); !reflect.DeepEqual(old, now) {
			members = append(members, RuleMember{m.path, old, now})
		}
	}
	return members
}

// lastChange says that another rule is the last one, or that it has another id; nil where it
// is the same.
func lastChange(before, after edge.Ruleset, to []int) *LastChange {
	var c LastChange
	if last, ok := before.Last(); ok {
		c.Before = &last
	}
	if last, ok := after.Last(); ok {
		c.After = &last
	}
	switch {
	case c.Before == nil && c.After == nil:
		return nil
	case c.Before != nil && c.After != nil && c.Before.ID == c.After.ID && to[len(to)-1] == len(after.Rules)-1:
		return nil
	}
	return &c
}

// Pair finds the rules of one version of a managed ruleset in another one: for each rule of
// before its place in after, or -1. Rules are the same by their id; those that are left, by a
// ref that one of them alone has in each version; and last rules with a threshold, because
// they do the same for the ruleset. It is the same in both directions.
func Pair(before, after edge.Ruleset) []int {
	to := make([]int, len(before.Rules))
	places := make(map[edge.RuleID]int, len(after.Rules))
	for j, rule := range after.Rules {
		places[rule.ID] = j
	}
	taken := make([]bool, len(after.Rules))
	for i, rule := range before.Rules {
		j, there := places[rule.ID]
		if !there || taken[j] {
			to[i] = -1
			continue
		}
		to[i], taken[j] = j, true
	}
	pairByRef(before, after, to, taken)
	i, j := len(before.Rules)-1, len(after.Rules)-1
	if i >= 0 && j >= 0 && to[i] < 0 && !taken[j] && before.Rules[i].ScoreThreshold != nil && after.Rules[j].ScoreThreshold != nil {
		to[i] = j
	}
	return to
}

// pairByRef pairs the rules that no id has paired.
func pairByRef(before, after edge.Ruleset, to []int, taken []bool) {
	left := map[string]refPair{}
	for i, rule := range before.Rules {
		if p := left[rule.Ref]; to[i] < 0 && rule.Ref != "" {
			p.before = append(p.before, i)
			left[rule.Ref] = p
		}
	}
	for j, rule := range after.Rules {
		if p := left[rule.Ref]; !taken[j] && rule.Ref != "" {
			p.after = append(p.after, j)
			left[rule.Ref] = p
		}
	}
	for _, p := range left {
		if len(p.before) == 1 && len(p.after) == 1 {
			to[p.before[0]], taken[p.after[0]] = p.after[0], true
		}
	}
}

// refPair are the rules of two versions that have a ref, and that no id pairs.
type refPair struct{ before, after []int }
