package bypass

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

// Judge tells how often an expression is true. It takes about a millisecond at most, for
// whatever text; what it does not understand is Sometimes.
func Judge(expression string, f Facts) Verdict {
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
