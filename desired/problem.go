package desired

import (
	"cmp"
	"slices"
	"strings"
)

// Problem is one mistake in a repository, told so that a person can mend it:
// where it stands, what is wrong, and what to try.
type Problem struct {
	Origin  Origin
	Path    string // the field, as CUE writes it: account.prod.zone."shop.example".waf
	Message string
	Hint    string // what to try; may be empty
	Warning bool   // worth saying, but the state is valid
	// Printed is what a process printed that crashed over it, in lines; empty for most. It may quote
	// files: it is for the terminal and the log of who runs Seawall, and goes into no report.
	Printed string `json:"-"`

	// Ended: the evaluation was ended, by a bound or by the kernel. Another time it may do.
	Ended bool `json:"-"`
}

// String is "file:line:col: path: message", without the hint.
func (p Problem) String() string {
	parts := make([]string, 0, 3)
	for _, s := range []string{p.Origin.String(), p.Path, p.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// SortProblems orders problems by place, so that a report reads top to bottom.
func SortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			strings.Compare(a.Origin.File, b.Origin.File),
			cmp.Compare(a.Origin.Line, b.Origin.Line),
			cmp.Compare(a.Origin.Column, b.Origin.Column),
			strings.Compare(a.Path, b.Path),
			strings.Compare(a.Message, b.Message),
		)
	})
}

// Errors returns the problems that are not warnings.
func Errors(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.Warning })
}
