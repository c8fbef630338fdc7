package rule

import (
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

// shadows reports whether a rule that is to challenge comes to stand in front of a live one that does
// more, and that may see the same requests.
func (s step) shadows(is tree) bool {
	if !challenges(is) {
		return false
	}
	text, _ := is["expression"].(string)
	return slices.ContainsFunc(s.rest, func(i int) bool {
		return i < len(s.live) && stops(s.live[i]) && judge.Expression("("+text+") and ("+s.live[i].Expression+")", judge.Facts{}) != judge.Never
	})
}

// fieldsAt are the members that differ, of a rule that is to stand at a place. Where it is to challenge
// in front of one that does more, what would strengthen weakens.
func (p *zonePlan) fieldsAt(s step, was, is tree) []diff.Field {
	fields := p.fields(was, is)
	if len(fields) == 0 || !s.shadows(is) {
		return fields
	}
	for i := range fields {
		if f := &fields[i]; f.Direction == diff.Strengthens {
			f.Direction, f.Note = diff.Weakens, "a challenge ends the request: a rule behind it that blocks does not see it"
		}
	}
	return fields
}
