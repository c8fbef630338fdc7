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

// Facts are what is known of each request that an expression sees.
type Facts struct {
	Zone  string     // the name of the zone; empty: not known
	Level edge.Level // of the entry point that the rule is in
}

// Judge tells how often an expression is true.
func Judge(expression string, f Facts) Verdict { return Sometimes }
