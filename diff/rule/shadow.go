package rule

import (
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression/judge"
)

// A challenge ends the request, also where it is passed: what a rule behind it would block reaches
// the zone then (vendor: ruleset-engine/rules-language/actions). So a challenge protects more only
// where nothing behind it does more than that.

// challenges reports whether a rule is on and challenges.
func challenges(rule tree) bool {
	s, known := strength(rule.at("action"))
	return known && s == strongest-1 && rule.at("enabled") != false
}

// stops reports whether a live rule does more than a challenge, as one may of which it is not known.
func stops(rule edge.Rule) bool {
	s, known := strength(string(rule.Action))
	return rule.IsEnabled() && (!known || s == strongest)
}

// shadows reports whether a rule that is to challenge comes to stand in front of one that does more, and
// that may see the same requests.
func shadows(is tree, behind iter.Seq[edge.Rule]) bool {
	if !challenges(is) {
		return false
	}
	text, _ := is["expression"].(string)
	for rule := range behind {
		if stops(rule) && judge.Expression("("+text+") and ("+rule.Expression+")", judge.Facts{}) != judge.Never {
			return true
		}
	}
	return false
}

// behind are the live rules behind one in a step. What is to move ahead of it, or to go, is behind it
// until that is done, which a guard may hold back.
func (p *zonePlan) behind(s step) iter.Seq[edge.Rule] {
	return func(yield func(edge.Rule) bool) {
		rest := make(map[edge.RuleID]bool, len(s.rest))
		for _, i := range s.rest {
			if i < len(s.live) {
				rest[s.live[i].ID] = true
			}
		}
		from := s.next(p.live.Rules)
		for i, rule := range p.live.Rules {
			if (i >= from || rest[rule.ID]) && !yield(rule) {
				return
			}
		}
	}
}

// behindOf are the rules that stand behind one, or come to where it is put behind another or first.
func behindOf(rules []edge.Rule, i int, position *edge.Position) iter.Seq[edge.Rule] {
	switch {
	case position == nil:
	case position.After != nil:
		i = byID(rules, *position.After)
	default:
		i = -1
	}
	return slices.Values(rules[i+1:])
}

// judged are the members that differ, of a rule that is to stand in front of others. Where it is to
// challenge in front of one that does more, what would strengthen weakens.
func judged(fields []diff.Field, is tree, behind iter.Seq[edge.Rule]) []diff.Field {
	strengthens := func(f diff.Field) bool { return f.Direction == diff.Strengthens }
	if !slices.ContainsFunc(fields, strengthens) || !shadows(is, behind) {
		return fields
	}
	for i := range fields {
		if f := &fields[i]; strengthens(*f) {
			f.Direction, f.Note = diff.Weakens, "a challenge ends the request: a rule behind it that blocks does not see one that has passed it"
		}
	}
	return fields
}
