package desired

import "fmt"

// Unmanaged is the decision on override entries that are live and not declared.
type Unmanaged string

// The two decisions; where there is none, the entries stay and are a problem.
const (
	Keep   Unmanaged = "keep"
	Remove Unmanaged = "remove"
)

// ExpressionDrift is what becomes of the filter expression of an execute rule that is not
// declared and that is not the one which was last proved.
type ExpressionDrift string

// What becomes of it; where nothing is declared it is reported.
const (
	ReportDrift  ExpressionDrift = "report"
	RestoreDrift ExpressionDrift = "restore"
	IgnoreDrift  ExpressionDrift = "ignore"
)

// Decision is that on the members of one override that are not declared: of the one
// on the ruleset as a whole, on a tag, or on a rule; or on the version. Exactly one of the
// four is set.
type Decision struct {
	Unmanaged Unmanaged
	Origin    Origin
	All       bool
	Version   bool // of the managed ruleset
	Tag       string
	Rule      RuleRef
}

// Bare is the decision without where it was declared.
func (d Decision) Bare() Decision {
	d.Origin = Origin{}
	return d
}

func (d Decision) member() Member { return Member{Of: d.About(), Value: d, Origin: d.Origin} }

func (d Decision) sameAs(o Decision) bool { return d.Bare() == o.Bare() }

func (d Decision) bare() any { return d.Bare() }

func (Decision) from(value any, _ Origin) Decision { return value.(Decision) }

// About names the override that it is about.
func (d Decision) About() string {
	switch {
	case d.Version:
		return "the version"
	case d.All:
		return "the override on all rules"
	case d.Tag != "":
		return fmt.Sprintf("the tag %q", d.Tag)
	}
	return "the rule " + d.Rule.String()
}
