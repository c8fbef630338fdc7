package render

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
)

// alike are problems with the same state, reason and hint: a platform that is
// down is one thing to know, not one for each zone.
type alike []diff.Problem

// grouped returns the problems by what they say, in the order in which each is
// first said.
func grouped(problems []diff.Problem) []alike {
	type saying struct {
		state                   diff.ProblemState
		reason, hint, unmanaged string
	}
	index := map[saying]int{}
	var groups []alike
	for _, p := range problems {
		key := saying{p.State, p.Reason, p.Hint, leftoversText(p.Unmanaged)}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

// namesShown is how many of several alike are named.
const namesShown = 3

// names lists what a group is about, quoted by quote, the rest counted.
func (g alike) names(quote func(string) string) string {
	var names []string
	seen := map[string]bool{} // a token may have the same problem twice
	for _, p := range g {
		if what := p.About(); !seen[what] {
			seen[what] = true
			names = append(names, quote(what))
		}
	}
	return firstOf(names)
}

// firstOf lists names, and counts those that are too many.
func firstOf(names []string) string {
	return words.First(names[:min(len(names), namesShown)], len(names))
}
