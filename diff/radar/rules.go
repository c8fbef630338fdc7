package radar

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

func ruleOf(r edge.Rule) Rule {
	rule := Rule{ID: r.ID, Ref: r.Ref, Tags: r.Categories, Enabled: r.IsEnabled(), Action: r.Action, Score: r.ScoreThreshold}
	if r.Description != nil {
		rule.Description = *r.Description
	}
	return rule
}

func rulesOf(c rulesets.Comparison) Rules {
	out := Rules{Removed: []Rule{}, Added: []Rule{}, Changed: []Changed{}, Revised: c.Revised, summary: c.String()}
	for _, r := range c.Removed {
		out.Removed = append(out.Removed, ruleOf(r))
	}
	for _, r := range c.Added {
		out.Added = append(out.Added, ruleOf(r))
	}
	for _, change := range c.Changed {
		changed := Changed{Rule: ruleOf(change.After)}
		for _, m := range change.Members {
			changed.Members = append(changed.Members, Member(m))
		}
		out.Changed = append(out.Changed, changed)
	}
	if c.Last != nil {
		out.Last = &LastRules{optional(c.Last.Before), optional(c.Last.After)}
	}
	return out
}

func optional(r *edge.Rule) *Rule {
	if r == nil {
		return nil
	}
	rule := ruleOf(*r)
	return &rule
}

// groupOf is a group without zones.
func groupOf(t rulesets.Touch) Group {
	g := Group{
		Direction: cmp.Or(t.Direction, diff.Neutral), Blocked: len(t.Mistakes) > 0, Mistakes: t.Mistakes, Rewritten: t.Rewritten,
		Meanwhile: t.Meanwhile, Mended: t.Mended, Rules: make([]Effect, len(t.Rules)),
	}
	for i, e := range t.Rules {
		g.Rules[i] = Effect{ruleOf(e.Rule), e.Last, e.Direction, e.Before, e.After}
	}
	slices.SortStableFunc(g.Rules, func(a, b Effect) int { return cmp.Compare(rank(a.Direction), rank(b.Direction)) })
	return g
}
