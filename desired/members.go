package desired

import (
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// Member is one value that a deployment declares. Each element of a list is one.
type Member struct {
	Path string // below the deployment: threshold.score
	Of   string // what an element of a list is about; the same in two declarations
	// Value is of the Go type that [Type] says.
	Value  any
	Origin Origin // zero: a default of the schema
	// Decides: see [MemberOf.Decides].
	Decides bool
}

// Rule is the rule of the managed ruleset that a value is about; zero for none.
func (m Member) Rule() RuleRef {
	switch v := m.Value.(type) {
	case RuleRef:
		return v
	case RuleOverride:
		return v.Rule
	case Decision:
		return v.Rule
	}
	return RuleRef{}
}

// Type is what a member is in CUE, and by that what its value is in Go.
type Type string

// The types. Those of lists are the types of their elements.
const (
	Bool          Type = "bool"
	Int           Type = "int"
	Text          Type = "string"
	Score         Type = "score"          // int
	RuleRefs      Type = "rules"          // [RuleRef]
	TagNames      Type = "tags"           // string
	TagOverrides  Type = "tag overrides"  // [TagOverride]
	RuleOverrides Type = "rule overrides" // [RuleOverride]
	Decisions     Type = "decisions"      // [Decision]
	Acceptances   Type = "accepted"       // [Accepted]; in CUE by the rules that they are about
)

// List reports whether a member of the type is a list in CUE.
func (t Type) List() bool {
	return slices.Contains([]Type{RuleRefs, TagNames, TagOverrides, RuleOverrides, Decisions}, t)
}

// DeploymentMembers lists what a deployment can declare, in the order in which people read
// it. It is the only list: whatever reads declarations from CUE, writes them there, compares
// them, takes their fingerprint, shows them or asks for an origin goes by it.
var DeploymentMembers = slices.Concat(
	[]MemberOf[Deployment]{
		single(Bool, "enabled",
			func(d *Deployment) *Declared[bool] { return &d.Enabled },
			func(d *Deployment, v Declared[bool]) { d.Enabled = v }).unless(true),
		field(Text, "version", func(d *Deployment) **Declared[string] { return &d.Version }),
		field(Text, "expression", func(d *Deployment) **Declared[string] { return &d.Expression }),
		field(Text, "expression_drift", func(d *Deployment) **Declared[ExpressionDrift] { return &d.ExpressionDrift }).decides(),
		field(Int, "paranoia", func(d *Deployment) **Declared[int] { return &d.Paranoia }),
		ofThreshold(Score, "threshold.score", func(t *Threshold) *Declared[int] { return &t.Score }),
		ofThreshold(Text, "threshold.action", func(t *Threshold) *Declared[edge.Action] { return &t.Action }),
		list(RuleRefs, "disable.rules", func(d *Deployment) *[]Declared[RuleRef] { return &d.Disable.Rules }),
		list(TagNames, "disable.tags", func(d *Deployment) *[]Declared[string] { return &d.Disable.Tags }),
	},
	ofAll(),
	[]MemberOf[Deployment]{
		list(TagOverrides, "tags", func(d *Deployment) *[]TagOverride { return &d.Tags }),
		list(RuleOverrides, "rules", func(d *Deployment) *[]RuleOverride { return &d.Rules }),
		field(Text, "unmanaged", func(d *Deployment) **Declared[Unmanaged] { return &d.Unmanaged }).decides(),
		decided(Keep),
		decided(Remove),
		field(Text, "bypass", func(d *Deployment) **Declared[Bypass] { return &d.Bypass }).decides(),
		list(Acceptances, "accepted", func(d *Deployment) *[]Accepted { return &d.Accepted }).decides(),
		flag("deploy", func(d *Deployment) *bool { return &d.Deploy }),
		flag("prune", func(d *Deployment) *bool { return &d.Prune }),
	},
)

// OverrideMembers lists what an override can declare, as [DeploymentMembers] does.
var OverrideMembers = []MemberOf[Override]{
	field(Bool, "enabled", func(o *Override) **Declared[bool] { return &o.Enabled }),
	field(Text, "action", func(o *Override) **Declared[edge.Action] { return &o.Action }),
	field(Text, "sensitivity", func(o *Override) **Declared[string] { return &o.Sensitivity }),
	field(Score, "score", func(o *Override) **Declared[int] { return &o.Score }),
}

// Members are the values that a deployment declares, in the order in which people read them.
func (d Deployment) Members() iter.Seq[Member] { return declaredIn(&d, DeploymentMembers) }

// Members are the values that an override declares.
func (o Override) Members() iter.Seq[Member] { return declaredIn(&o, OverrideMembers) }

func declaredIn[O any](o *O, table []MemberOf[O]) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for _, m := range table {
			if !m.each(o, yield) {
				return
			}
		}
	}
}

// sameIn reports whether two declare the same. Where a value was declared does not count.
func sameIn[O any](a, b *O, table []MemberOf[O]) bool {
	for _, m := range table {
		if !m.same(a, b) {
			return false
		}
	}
	return true
}
