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
	for member := range c.origins() {
		if _, key, name := member.Override(); name == "enabled" && c.tags[key].on {
			continue
		}
		members = append(members, member)
	}
	slices.Sort(members)
	return members
}

// origins maps each claimed member to the line that claims it.
func (c claims) origins() map[diff.Member]desired.Origin {
	origins := map[diff.Member]desired.Origin{}
	c.all.origins(origins, wideMember)
	for tag, claim := range c.tags {
		claim.origins(origins, func(member string) diff.Member { return categoryMember(tag, member) })
	}
	for id, claim := range c.rules {
		claim.origins(origins, func(member string) diff.Member { return ruleMember(id, member) })
	}
	return origins
}

// annotate fills in where each field was asked for, and what rule it is about.
// A field nobody claims changes because a person said "remove", or because it is
// no longer declared.
func annotate(fields []diff.Field, in intent, m *managed) {
	d, decided, origins := in.declared, in.decided, in.claims.origins()
	origins["enabled"], origins[diff.DescriptionMember], origins[diff.RefMember] = d.Enabled.Origin, d.Origin, d.Origin
	if d.Version != nil {
		origins[versionMember] = d.Version.Origin
	}
	if d.Expression != nil {
		origins["expression"] = d.Expression.Origin
	} else if d.ExpressionDrift != nil {
		origins["expression"] = d.ExpressionDrift.Origin
	}
	for i := range fields {
		f := &fields[i]
		origin, claimed := origins[f.Path]
		if !claimed && decided.removes(f.Path) {
			origin = decided.on(f.Path).Origin
		}
		if origin.IsZero() {
			origin = d.Origin
		}
		f.Origin = &origin
		if f.Note == "" {
			f.Note = m.describe(f.Path, f.Old == nil)
		}
	}
}

// describe says in words which rule a path with a rule's id is about, and what
// holds by default where live overrides nothing.
func (m *managed) describe(path diff.Member, unset bool) string {
	list, key, member := path.Override()
	if list != "rules" {
		return ""
	}
	i, ok := m.byID[edge.RuleID(key)]
	if !ok {
		return noteGone
	}
	rule := m.Rules[i]
	text := cmp.Or(descriptionOf(rule), rule.Ref)
	if rule.ID == m.last && rule.ScoreThreshold != nil {
		text = "last rule: " + text
	}
	switch {
	case !unset:
	case member == "score_threshold" && rule.ScoreThreshold != nil:
		text = fmt.Sprintf("default %d; %s", *rule.ScoreThreshold, text)
	case member == "action" && rule.Action != "":
		text = fmt.Sprintf("default %s; %s", rule.Action, text)
	}
	return text
}

// What a note says of a rule that a managed ruleset lacks, and where another version runs.
const (
	noteGone    = "a rule that the managed ruleset no longer has"
	noteUnknown = "a rule that the latest version lacks; the version that runs cannot be read"
)
