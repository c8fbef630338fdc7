package desired

import "github.com/seawall-dev/seawall/edge"

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

func (o TagOverride) member() Member { return Member{Of: o.Tag, Value: o, Origin: o.Origin} }

func (o TagOverride) sameAs(p TagOverride) bool {
	return o.Tag == p.Tag && sameIn(&o.Override, &p.Override, OverrideMembers)
}

func (o TagOverride) bare() any { return append(pairs{{"Tag", o.Tag}}, o.printed()...) }

func (TagOverride) from(value any, _ Origin) TagOverride { return value.(TagOverride) }

func (o RuleOverride) member() Member { return Member{Of: o.Rule.String(), Value: o, Origin: o.Origin} }

func (o RuleOverride) sameAs(p RuleOverride) bool {
	return o.Rule == p.Rule && sameIn(&o.Override, &p.Override, OverrideMembers)
}

func (o RuleOverride) bare() any { return append(pairs{{"Rule", o.Rule}}, o.printed()...) }

func (RuleOverride) from(value any, _ Origin) RuleOverride { return value.(RuleOverride) }
