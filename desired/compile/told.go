package compile

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// maxTold bounds the errors, and the warnings, of one report.
const maxTold = 50

// told prepares problems for a person. Folders inherit files, and many zones
// share a template: one mistake is reported once, with the number of further
// places it shows in. What is beyond the bound is counted.
func told(problems []desired.Problem) []desired.Problem {
	type mistake struct {
		origin        desired.Origin
		message, hint string
		field         string // the last part of the path: two missing fields of one struct are two
		warning       bool
	}
	first := map[mistake]int{}
	paths := map[mistake]map[string]bool{}
	var out []desired.Problem
	desired.SortProblems(problems)
	for _, p := range problems {
		m := mistake{p.Origin, p.Message, p.Hint, p.Path[strings.LastIndexAny(p.Path, ".\"]")+1:], p.Warning}
		if _, seen := first[m]; !seen {
			first[m], paths[m] = len(out), map[string]bool{}
			out = append(out, p)
		}
		paths[m][p.Path] = true
	}
	for m, i := range first {
		if more := len(paths[m]) - 1; more > 0 {
			out[i].Message += fmt.Sprintf(" (and in %d more %s)", more, plural(more, "place"))
		}
	}
	return append(bounded(out, false, "error"), bounded(out, true, "warning")...)
}

func bounded(problems []desired.Problem, warning bool, noun string) []desired.Problem {
	var out []desired.Problem
	rest := 0
	for _, p := range problems {
		switch {
		case p.Warning != warning:
		case len(out) < maxTold:
			out = append(out, p)
		default:
			rest++
		}
	}
	if rest > 0 {
		out = append(out, desired.Problem{Message: fmt.Sprintf("and %d more %s", rest, plural(rest, noun)), Warning: warning})
	}
	return out
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
