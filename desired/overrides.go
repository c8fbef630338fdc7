package desired

import (
	"iter"

	"github.com/seawall-dev/seawall/edge"
)

// Override is what a deployment declares of one override of the platform, member by
// member. A nil member is not declared.
type Override struct {
	Enabled     *Declared[bool]
	Action      *Declared[edge.Action]
	Sensitivity *Declared[string] // default, medium, low or eoff
	Score       *Declared[int]    // only of a rule that has a score
}

// TagOverride is the override on all rules with a tag.
type TagOverride struct {
	Tag    string
	Origin Origin
	Override
}

// RuleOverride is the override on one rule.
type RuleOverride struct {
	Rule   RuleRef
	Origin Origin
	Override
}

// IsZero reports whether no member is declared.
func (o Override) IsZero() bool { return o == Override{} }

// Members are the declared members by the names they have in a repository, and
// where each is declared.
func (o Override) Members() iter.Seq2[string, Origin] {
	return func(yield func(string, Origin) bool) {
		_ = (o.Enabled == nil || yield("enabled", o.Enabled.Origin)) &&
			(o.Action == nil || yield("action", o.Action.Origin)) &&
			(o.Sensitivity == nil || yield("sensitivity", o.Sensitivity.Origin)) &&
			(o.Score == nil || yield("score", o.Score.Origin))
	}
}

func (o Override) sameAs(p Override) bool {
	return sameOrNone(o.Enabled, p.Enabled) && sameOrNone(o.Action, p.Action) &&
		sameOrNone(o.Sensitivity, p.Sensitivity) && sameOrNone(o.Score, p.Score)
}

func (o TagOverride) sameAs(p TagOverride) bool {
	return o.Tag == p.Tag && o.Override.sameAs(p.Override)
}

func (o RuleOverride) sameAs(p RuleOverride) bool {
	return o.Rule == p.Rule && o.Override.sameAs(p.Override)
}

// bareOverride is an override without where it was declared, for a fingerprint.
type bareOverride struct {
	Tag         string       `json:",omitempty"`
	Rule        *RuleRef     `json:",omitempty"`
	Enabled     *bool        `json:",omitempty"`
	Action      *edge.Action `json:",omitempty"`
	Sensitivity *string      `json:",omitempty"`
	Score       *int         `json:",omitempty"`
}

func (o Override) bare() bareOverride {
	return bareOverride{
		Enabled: valueOf(o.Enabled), Action: valueOf(o.Action),
		Sensitivity: valueOf(o.Sensitivity), Score: valueOf(o.Score),
	}
}

func bareTags(all []TagOverride) (bare []bareOverride) {
	for _, o := range all {
		b := o.bare()
		b.Tag = o.Tag
		bare = append(bare, b)
	}
	return bare
}

func bareRules(all []RuleOverride) (bare []bareOverride) {
	for _, o := range all {
		b := o.bare()
		b.Rule = &o.Rule
		bare = append(bare, b)
	}
	return bare
}
