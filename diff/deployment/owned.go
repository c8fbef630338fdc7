package deployment

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// owned lists the override members a declaration writes, and the entries that
// stand in for some it removed, sorted. Remembered once applied, it tells a
// later commit what to take back under "keep". A paranoia tag that a level only
// forbids to be off is not among them: what is there was put by somebody else.
func owned(c claims, standIns []diff.Member) []diff.Member {
	members := slices.Clone(standIns)
	for member := range c.origins {
		if _, key, name := member.Override(); name == "enabled" && c.tags.of(key).on {
			continue
		}
		members = append(members, member)
	}
	slices.Sort(members)
	return members
}

// claimed are the members that are claimed, each with the line that claims it.
func (c claims) claimed() map[diff.Member]*desired.Origin {
	origins := make(map[diff.Member]*desired.Origin, len(c.tags)+len(c.rules))
	c.all.origins(origins, wideMember)
	for tag, claim := range c.tags {
		claim.origins(origins, func(member string) diff.Member { return categoryMember(tag, member) })
	}
	for id, claim := range c.rules {
		claim.origins(origins, func(member string) diff.Member { return entryMember("rules", id, member) })
	}
	return origins
}

// annotate fills in where each field was asked for, and what rule it is about.
// A field nobody claims changes because a person said "remove", or because it is
// no longer declared.
func annotate(fields []diff.Field, in intent, m *managed) {
	d, decided := in.declared, in.decided
	for i := range fields {
		f := &fields[i]
		var origin desired.Origin
		switch claimed := in.claims.origins[f.Path]; {
		case claimed != nil:
			origin = *claimed
		case f.Path == "enabled":
			origin = d.Enabled.Origin
		case f.Path == versionMember && d.Version != nil:
			origin = d.Version.Origin
		case f.Path == "expression" && d.Expression != nil:
			origin = d.Expression.Origin
		case f.Path == "expression" && d.ExpressionDrift != nil:
			origin = d.ExpressionDrift.Origin
		case f.Path != descriptionMember && f.Path != refMember && decided.removes(f.Path):
			origin = decided.on(f.Path).Origin
		}
		if origin.IsZero() {
			origin = d.Origin
		}
		f.Origin = &origin
		if f.Note == "" {
			m.describe(f)
		}
	}
}

// describe adds to a field which rule a path with a rule's id is about, and what holds by
// default where live overrides nothing.
func (m *managed) describe(f *diff.Field) {
	member := ""
	if f.Old == nil {
		_, _, member = f.Path.Override()
	}
	f.Note, f.Rule = m.about(f.Path, member)
}

// about says which rule a path is about, and with a member the default of that; the rule is
// zero where there is none.
func (m *managed) about(path diff.Member, member string) (string, diff.RuleNote) {
	list, key, _ := path.Override()
	if list != "rules" {
		return "", diff.RuleNote{}
	}
	i, ok := m.byID[edge.RuleID(key)]
	if !ok {
		return noteGone, diff.RuleNote{}
	}
	rule := m.Rules[i]
	note := diff.RuleNote{About: cmp.Or(descriptionOf(rule), rule.Ref), Last: rule.ID == m.last && rule.ScoreThreshold != nil}
	switch {
	case member == "score_threshold" && rule.ScoreThreshold != nil:
		note.Default = fmt.Sprint(*rule.ScoreThreshold)
	case member == "action" && rule.Action != "":
		note.Default = string(rule.Action)
	}
	return note.String(), note
}

// What a note says of a rule that a managed ruleset lacks, and where another version runs.
const (
	noteGone    = "a rule that the managed ruleset no longer has"
	noteUnknown = "a rule that the latest version lacks; the version that runs cannot be read"
)
