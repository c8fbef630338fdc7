package desired

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seawall-dev/seawall/edge"
)

// Bypass decides on skip rules that came after a deployment was proved.
type Bypass string

// The decisions. A skip rule that is removed is one of the entry point that the deployment is
// in; those of other phases, and those of the account of a zone, are only reported.
const (
	ReportBypass Bypass = "report"
	RemoveBypass Bypass = "remove"
)

// Accepted is a skip rule that a person accepts as it is declared: it may act on the deployment.
type Accepted struct {
	Rule       string // its id, or its ref
	Origin     Origin
	Owner      string
	Until      string        // YYYY-MM-DD, the last day; empty: without an end
	Expression string        // what it was when it was accepted; else it is not accepted
	All        bool          // all of the managed ruleset is skipped
	Rules      []edge.RuleID // else these rules of it, sorted
}

// NoOwner stands for the owner of an acceptance that nobody has named yet.
const NoOwner = "TODO"

// Owned reports whether a person has named the owner: it has a letter or a digit, and its first
// word is neither TODO nor TBD.
func (a Accepted) Owned() bool {
	named := strings.ContainsFunc(a.Owner, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	words := strings.FieldsFunc(a.Owner, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
	return named && len(words) > 0 && !strings.EqualFold(words[0], NoOwner) && !strings.EqualFold(words[0], "TBD")
}

// Skips is what it accepts to be skipped, as CUE and JSON have it: "all", or ids of rules.
func (a Accepted) Skips() any {
	if a.All {
		return SkipsAll
	}
	return a.Rules
}

// SkipsAll is what an acceptance of a skip rule for all of the managed ruleset says.
const SkipsAll = "all"

func (a Accepted) member() Member { return Member{Of: a.Rule, Value: a, Origin: a.Origin} }

func (a Accepted) sameAs(o Accepted) bool {
	return a.Rule == o.Rule && a.Owner == o.Owner && a.Until == o.Until && a.Expression == o.Expression && a.All == o.All && slices.Equal(a.Rules, o.Rules)
}

func (a Accepted) bare() any {
	return pairs{{"Rule", a.Rule}, {"Owner", a.Owner}, {"Until", a.Until}, {"Expression", a.Expression}, {"Skips", a.Skips()}}
}

func (Accepted) from(value any, _ Origin) Accepted { return value.(Accepted) }

func (a Accepted) plain() map[string]any {
	all := map[string]any{"rule": a.Rule, "owner": a.Owner, "expression": a.Expression, "skips": a.Skips()}
	if a.Until != "" {
		all["until"] = a.Until
	}
	return all
}
