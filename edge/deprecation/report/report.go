// Package report groups what was found to use the deprecation calendar, and
// writes it: for a person, for a pull request, and for the programs that read
// SARIF and JUnit.
//
//	c := report.NewCollector(day, suppressions)
//	for call := range calls {
//		c.Add(matcher.Match(call, day), report.Seen{Request: call, Where: where})
//	}
//	err := c.Report(matcher.Calendar()).Text(os.Stdout, false)
//
// What a collector holds is bounded, whatever it is given: the same call on the
// same path is one [Place] with a count, and of the places some are listed and
// the others counted.
//
// Nothing secret is written. Of an address there is the path; of a query and of
// a body there is what the rule is about, and "…" for the rest. Header fields are
// named at most.
package report

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Report is what was found on a day, the gravest rule first.
type Report struct {
	At       deprecation.Date
	DataAsOf deprecation.Date
	Rules    []Group
	// Calendar is what was looked for.
	Calendar    deprecation.Calendar
	Corrections []deprecation.Correction // of the calendar, by a repository
	Inputs      []Input                  // what was read
	Expired     []Suppression            // that would have suppressed something
	Unused      []Suppression
}

// Group is one rule and who uses it. A rule has a second group where some
// of its forms have a date of their own, and where some calls are merely affected.
type Group struct {
	// Notice says how the rule stands; it has no place, detail or rewrite.
	Notice     deprecation.Notice
	Count      int // how often it was met, suppressed ones apart
	Suppressed int
	Places     []Place // as they were met
	Unlisted   int     // met, suppressed or not, at places that are not listed
}

// Place is one call at one place, however often.
type Place struct {
	Where deprecation.Where
	Lines []int // the first ones, Where.Line included; empty where there are none
	Count int
	// Similar are calls in the same file that differ in the path's parameters
	// alone and are not listed.
	Similar int
	Owner   string // of an integration
	Detail  string // what of the call the rule is about
	Method  string // empty for a text in source code
	Path    string // without host and query
	// Address names a resource of a Terraform document.
	Address string
	// Rewrites are the requests that take its place; masked, see the package.
	Rewrites   []deprecation.Rewrite
	More       int          // rewrites that are not listed
	Suppressed *Suppression // nil: it counts
}

// Input is something that was read.
type Input struct {
	Name    string `json:"name"`
	Format  string `json:"format,omitempty"` // empty for a folder
	Files   int    `json:"files,omitempty"`  // of a folder
	Lines   int    `json:"lines"`
	Calls   int    `json:"calls"` // or literals
	Skipped int    `json:"skipped"`
	Skips   []Skip `json:"skips,omitempty"` // the first ones
	// Unread counts the files of a folder that could not be read as what they are.
	Unread []Unread `json:"unread,omitempty"`
	// OtherHosts counts calls that the calendar would concern if they went to the
	// platform.
	OtherHosts int    `json:"other_hosts,omitempty"`
	Error      string `json:"error,omitempty"` // why it was not read to its end
}

// Unread is a kind of files, and how many of them could not be read as that.
type Unread struct {
	As    string `json:"as"`
	Files int    `json:"files"`
}

// Skip is a place that could not be read.
type Skip struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

// ExitCode is the highest of what is not suppressed (see
// [deprecation.Notice.ExitCode]).
func (r Report) ExitCode() int {
	code := 0
	for _, g := range r.Rules {
		if g.Count > 0 {
			code = max(code, g.Notice.ExitCode())
		}
	}
	return code
}

// sorted puts the gravest first; of equally grave ones the nearest end, and of
// those that are past it the latest.
func sorted(groups []Group) []Group {
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(
			cmp.Compare(b.rank(), a.rank()),
			cmp.Compare(abs(a.Notice.DaysLeft), abs(b.Notice.DaysLeft)),
			cmp.Compare(a.Notice.Rule, b.Notice.Rule),
		)
	})
	return groups
}

// rank orders by exit code, and puts what is suppressed and what is information
// behind all that counts.
func (g Group) rank() int {
	switch {
	case g.Count == 0:
		return -2
	case g.Notice.Info:
		return -1
	}
	return g.Notice.ExitCode()
}

func abs(n int) int { return max(n, -n) }
