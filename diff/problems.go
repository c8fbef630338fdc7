package diff

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// what says what a problem is about.
func (p Problem) what() string {
	if p.Token != "" {
		return "token " + p.Token
	}
	return cmp.Or(name(p.Account, p.Zone, p.Deployment), "this commit")
}

// words is the state as people say it.
func (s ProblemState) words() string { return strings.ReplaceAll(string(s), "_", " ") }

// alike are problems with the same state, reason and hint: a platform that is
// down is one thing to know, not one for each zone.
type alike []Problem

// grouped returns the problems by what they say, in the order in which each is
// first said.
func grouped(problems []Problem) []alike {
	type saying struct {
		state        ProblemState
		reason, hint string
	}
	index := map[saying]int{}
	var groups []alike
	for _, p := range problems {
		key := saying{p.State, p.Reason, p.Hint}
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
		if what := p.what(); !seen[what] {
			seen[what] = true
			names = append(names, quote(what))
		}
	}
	text := strings.Join(names[:min(len(names), namesShown)], ", ")
	if more := len(names) - namesShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// What permissions the platform asks for is not in the reference; these are the
// vendor's names for them.
const (
	hintForbiddenZone = "give the rulesets token the permission Zone WAF (edit) for this zone; " +
		"where it has that, check from which addresses the token may be used"
	hintForbiddenAccount = "give the rulesets token the permission Account WAF or Account Rulesets (read) for this account; " +
		"permissions for its zones do not cover the account's list of rulesets"
)

// unread is the problem of what could not be read; forbidden is what to do where
// the credential may not.
func unread(err error, forbidden string, origin desired.Origin) Problem {
	p := Problem{State: Unknown, Reason: err.Error(), Hint: hintFor(err), Err: err, Origin: origin}
	if errors.Is(err, edge.ErrForbidden) {
		p.State, p.Hint = Forbidden, forbidden
	}
	return p
}

// hintFor is what a person can do about a platform that did not answer.
func hintFor(err error) string {
	switch {
	case errors.Is(err, edge.ErrNotOffered):
		return "check platform.base_url, or --base-url: it is the part of the URL before the paths of the API"
	case errors.Is(err, edge.ErrForbidden):
		return "check what the credential may do, and from which addresses"
	case errors.Is(err, edge.ErrNotFound):
		return "check the id, and that the credential may see it"
	}
	return ""
}
