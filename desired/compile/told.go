package compile

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// maxTold bounds the errors, and the warnings, of one report.
const maxTold = 50

// told prepares problems for a person. Folders inherit files, and many zones
// share a template: one mistake is reported once, with the number of further
// places it shows in. A name that is not declared is one mistake, too, wherever
// it is used. What is beyond the bound is counted.
func told(problems []desired.Problem) []desired.Problem {
	first := map[mistake]int{}
	shows := map[mistake]*uses{}
	var out []desired.Problem
	desired.SortProblems(problems)
	for _, p := range problems {
		m := mistakeOf(p)
		if _, seen := first[m]; !seen {
			first[m], shows[m] = len(out), &uses{paths: map[string]bool{}, zones: map[string]bool{}}
			out = append(out, p)
		}
		shows[m].add(p)
	}
	for m, i := range first {
		if explain.Unresolved(out[i]) {
			out[i] = shows[m].ofName(out[i])
		} else if more := len(shows[m].paths) - 1; more > 0 {
			out[i].Message += fmt.Sprintf(" (and in %d more %s)", more, plural(more, "place"))
		}
	}
	return append(bounded(out, false, "error"), bounded(out, true, "warning")...)
}

// mistake is what makes two problems one.
type mistake struct {
	origin        desired.Origin
	message, hint string
	field         string // the last part of the path: two missing fields of one struct are two
	warning       bool
}

func mistakeOf(p desired.Problem) mistake {
	if explain.Unresolved(p) {
		return mistake{message: p.Message, warning: p.Warning}
	}
	return mistake{p.Origin, p.Message, p.Hint, p.Path[strings.LastIndexAny(p.Path, ".\"]")+1:], p.Warning}
}

// maxPlaces bounds the places that a hint names.
const maxPlaces = 3

// uses are the places where one mistake shows.
type uses struct {
	origins []desired.Origin // each once
	paths   map[string]bool
	zones   map[string]bool // paths of the zones; "" for what is in none
}

// add takes problems in the order of their places.
func (u *uses) add(p desired.Problem) {
	if last := len(u.origins) - 1; last < 0 || u.origins[last] != p.Origin {
		u.origins = append(u.origins, p.Origin)
	}
	u.paths[p.Path] = true
	u.zones[zoneOf(p.Path)] = true
}

// zoneOf is the path of the zone that a path is in; empty for none.
func zoneOf(path string) string {
	selectors := cue.ParsePath(path).Selectors()
	if len(selectors) < 4 || selectors[0].String() != "account" || selectors[2].String() != "zone" {
		return ""
	}
	return cue.MakePath(selectors[:4]...).String()
}

// ofName says of a name that is not declared how often it is used, and where.
func (u *uses) ofName(p desired.Problem) desired.Problem {
	switch {
	case len(u.paths) == 1:
	case u.zones[""] || len(u.zones) == 1:
		p.Message += fmt.Sprintf(" (used in %d places)", len(u.paths))
	default:
		p.Message += fmt.Sprintf(" (used in %d zones)", len(u.zones))
	}
	var also []string
	for _, o := range u.origins[1:min(len(u.origins), 1+maxPlaces)] {
		also = append(also, o.String())
	}
	if len(also) > 0 {
		see := "; see also "
		if strings.HasSuffix(p.Hint, "?") {
			see = " See also "
		}
		p.Hint += see + strings.Join(also, ", ")
		if rest := len(u.origins) - 1 - len(also); rest > 0 {
			p.Hint += fmt.Sprintf(" and %d more %s", rest, plural(rest, "place"))
		}
	}
	return p
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
