// Package judge tells how often an expression is true, and what it implies, without a request.
//
//	judge.Expression(`starts_with(http.request.uri.path, "/")`, judge.Facts{}) // Always
//	judge.Implies(`http.host eq "a" and ssl`, `http.host in {"a" "b"}`)        // true
//
// It reads an expression as the platform does, as far as that goes: it knows which comparisons
// cannot be true together, and goes through all cases that are left. Three answers are possible,
// and the two certain ones err to one side each:
//
//   - Never hides a rule, so nothing is assumed for it but logic and the name of the zone.
//   - Always raises an alarm, so it may assume what is known of fields: a path begins with "/".
//   - Sometimes is everything else, and all that is not understood.
package judge

import "github.com/seawall-dev/seawall/edge"

// Verdict is how often an expression is true.
type Verdict int

// The verdicts. What cannot be told is Sometimes.
const (
	Sometimes Verdict = iota
	Always
	Never
)

// String is the verdict in lower case.
func (v Verdict) String() string { return [...]string{"sometimes", "always", "never"}[v] }

// Facts are what is known of each request that an expression sees.
type Facts struct {
	Zone string // the name of the zone; empty: not known
	// Proved says that the platform has told this name. Else a declaration has, and whoever
	// writes it could hide a rule behind another name: nothing is never true by it.
	Proved bool
	// Level is that of the entry point that the rule is in. The platform evaluates rules of an
	// account for zones of the plan ENT alone, and has their expressions say so.
	Level edge.Level
}

// most is the length of the longest expression that is read, in bytes. The platform takes 4096
// characters; two that are joined are twice as long.
const most = 9 << 10

// Expression tells how often an expression is true. It takes about a millisecond at most, for
// whatever text; what it does not understand is Sometimes.
func Expression(expression string, f Facts) Verdict {
	if len(expression) > most {
		return Sometimes
	}
	form, ok := parse(expression, f)
	switch {
	case !ok:
		return Sometimes
	case form.holds(withoutAssumptions, false):
		return Never
	case form.holds(withAssumptions, true):
		return Always
	}
	return Sometimes
}

// Implies reports whether each request of which an expression is true is one of which another is,
// too. It assumes nothing, and is false where that cannot be told.
func Implies(expression, another string) bool {
	return Expression("("+expression+") and not ("+another+")", Facts{}) == Never
}
