package control

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// skipRules are the skip rules that act on deployments of a zone, by where they are. One that
// acts on several is one.
type skipRules map[skipRuleAt]skipRuleSeen

type skipRuleAt struct {
	level edge.Level
	phase edge.Phase
	rule  edge.RuleID
}

// skipRuleSeen is one with whether the history has that it appeared, or changed.
type skipRuleSeen struct {
	diff.Bypass
	told bool
}

// skipRules are the entries of the skip rules of a zone that have appeared or changed without
// Seawall, and of those that are gone again; and which there are now. One that Seawall removes
// is drift that is corrected, and has its entries with that.
func (s *state) skipRules(o Outcome) (entries []reconcile.Entry, now skipRules) {
	g := s.current.Load()
	before := s.zones.of(o.Scope).skips
	if g == nil || g.declaration(o.Scope) != o.Fingerprint || len(before)+len(o.Plan.Bypasses) == 0 {
		return nil, before
	}
	now = skipRules{}
	for _, b := range o.Plan.Bypasses {
		at := skipRuleAt{b.Level, b.Phase, b.Rule}
		if _, twice := now[at]; twice {
			continue
		}
		was, known := before[at]
		seen := skipRuleSeen{b, was.told && !b.Remove}
		came := b.State == diff.BypassNew || b.State == diff.BypassChanged
		if came && !b.Remove && (!was.told || !sameRule(was.Bypass, b)) {
			entries = append(entries, reconcile.SkipRuleEntry(beforeIt(b, was, known), &b))
			seen.told = true
		}
		now[at] = seen
	}
	for at, was := range before {
		switch _, there := now[at]; {
		case there:
		case !isGone(g, o, was.Bypass):
			now[at] = was
		case was.told:
			entries = append(entries, reconcile.SkipRuleEntry(&was.Bypass, nil))
		}
	}
	return entries, now
}

// beforeIt is what a skip rule was before it appeared, or changed; nil for nothing. What one that
// changed before this process began was is not known.
func beforeIt(b diff.Bypass, was skipRuleSeen, known bool) *diff.Bypass {
	switch {
	case known:
		return &was.Bypass
	case b.State == diff.BypassChanged:
		b.Expression = "(not known)"
		return &b
	}
	return nil
}

func sameRule(a, b diff.Bypass) bool { return a.Expression == b.Expression && a.Skips() == b.Skips() }

// isGone reports whether a skip rule does not act any more, because of nothing that git says:
// its place was looked at, and the deployment is declared and there.
func isGone(g *Generation, o Outcome, b diff.Bypass) bool {
	t, declared := g.Task(o.Scope)
	if !declared {
		return false
	}
	for _, p := range o.Plan.Problems {
		if p.State != diff.Bypassed && p.State != diff.Undecided && (p.Deployment == "" || p.Deployment == b.Deployment) {
			return false
		}
	}
	if b.Level != o.Scope.Level || b.Phase != edge.PhaseFirewallManaged {
		scope := o.Scope
		if b.Level == edge.LevelAccount {
			scope = edge.AccountScope(t.Account().ID)
		}
		if seen, looked := o.Ahead[scope.At(b.Phase)]; !looked || seen.Failed() != nil {
			return false
		}
	}
	for _, d := range t.Zone().Deployments {
		if d.Name() == b.Deployment {
			return true
		}
	}
	return false
}

// recordSkipRules puts on record which skip rules have come and gone, and remembers them.
func (c *Control) recordSkipRules(ctx context.Context, zone edge.Scope, entries []reconcile.Entry, now skipRules) error {
	if len(entries) > 0 {
		slices.SortFunc(entries, func(a, b reconcile.Entry) int { return strings.Compare(a.Subject.Ref, b.Subject.Ref) })
		if err := c.Records.Record(ctx, entries...); err != nil {
			return fmt.Errorf("recording a skip rule that was changed without Seawall: %w", err)
		}
	}
	if now == nil {
		return nil // most zones have none
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	z := c.state.zones.of(zone)
	if z.skips = now; len(now) == 0 {
		z.skips = nil
	}
	return nil
}
