package report

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Suppression is a person's word that a rule is known to be met somewhere. It
// ends by itself: from 00:00 UTC of its day on it suppresses nothing.
type Suppression struct {
	Rule    string           `json:"rule"`
	Where   string           `json:"where"` // a glob over files, or over names of integrations
	Expires deprecation.Date `json:"expires"`
	Reason  string           `json:"reason"`
	Line    int              `json:"line"` // in its file
}

// Mistake is one in a file of suppressions. Line and Column count from 1.
type Mistake struct {
	Line, Column  int
	Message, Hint string
}

// ParseSuppressions reads a file of suppressions, one on a line:
//
//	# rule                     where           expires     reason
//	firewall-rules-and-filters scripts/old/**  2027-01-01  goes with OPS-12
//
// Where is a glob over files as a report names them: "*" stops at a slash, "**"
// does not. It holds for integrations of that name too. rules are those that
// exist, and nil takes any.
func ParseSuppressions(text string, rules []string) ([]Suppression, []Mistake) {
	var out []Suppression
	var mistakes []Mistake
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		s, mistake := parseSuppression(line, rules)
		if mistake != nil {
			mistake.Line = n
			mistakes = append(mistakes, *mistake)
			continue
		}
		s.Line = n
		out = append(out, s)
	}
	return out, mistakes
}

// shape is told to whoever left something out.
const shape = "write RULE WHERE EXPIRES REASON, such as: firewall-rules-and-filters scripts/old/** 2027-01-01 goes with OPS-12"

func parseSuppression(line string, rules []string) (Suppression, *Mistake) {
	words, columns := fields(line)
	if len(words) < 4 {
		missing := []string{"a rule", "a place", "a day on which it expires", "a reason"}[len(words):]
		return Suppression{}, &Mistake{Column: len(line) + 1, Message: "lacks " + strings.Join(missing, ", "), Hint: shape}
	}
	s := Suppression{Rule: words[0], Where: words[1], Reason: strings.TrimSpace(line[columns[3]-1:])}
	if rules != nil && !slices.Contains(rules, s.Rule) {
		return s, &Mistake{Column: columns[0], Message: fmt.Sprintf("%q is no rule of the calendar", s.Rule), Hint: "seawall deprecations list shows them"}
	}
	for part := range strings.SplitSeq(s.Where, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return s, &Mistake{Column: columns[1], Message: fmt.Sprintf("%q is no pattern of a path", s.Where), Hint: "* stands for a part of a name, ** for any folders"}
		}
	}
	day, err := deprecation.ParseDate(words[2])
	if err != nil {
		return s, &Mistake{Column: columns[2], Message: err.Error(), Hint: shape}
	}
	s.Expires = day
	return s, nil
}

// word is one of a line.
var word = lazyregexp.New(`[^ \t\r]+`)

// fields are the words of a line and the columns they begin at.
func fields(line string) (words []string, columns []int) {
	for _, at := range word().FindAllStringIndex(line, -1) {
		words, columns = append(words, line[at[0]:at[1]]), append(columns, at[0]+1)
	}
	return words, columns
}

// suppressing is a suppression at work.
type suppressing struct {
	Suppression
	pattern      []string
	expired, met bool
}

func newSuppressing(s Suppression, at time.Time) *suppressing {
	return &suppressing{Suppression: s, pattern: strings.Split(path.Clean(s.Where), "/"), expired: s.Expires <= deprecation.DateOf(at)}
}

// suppressed returns the first suppression that holds for a rule at a place; nil
// for none. It marks all that cover the place, those that have expired too.
func (c *Collector) suppressed(rule string, where deprecation.Where) (first *Suppression) {
	for _, s := range c.suppressions {
		if s.Rule != rule || !s.covers(where) {
			continue
		}
		s.met = true
		if !s.expired && first == nil {
			first = &s.Suppression
		}
	}
	return first
}

func (s *suppressing) covers(where deprecation.Where) bool {
	return globs(s.pattern, strings.Split(path.Clean(where.File), "/")) ||
		where.Integration != "" && globs(s.pattern, strings.Split(where.Integration, "/"))
}

// globs matches a path, name by name.
func globs(pattern, names []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(names) + 1 {
				if globs(pattern[1:], names[i:]) {
					return true
				}
			}
			return false
		}
		if len(names) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], names[0]); err != nil || !ok {
			return false
		}
		pattern, names = pattern[1:], names[1:]
	}
	return len(names) == 0
}
