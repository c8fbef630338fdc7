package gitrepo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seawall-dev/seawall/edge/nearest"
	"github.com/seawall-dev/seawall/edge/visible"
)

// mostListed bounds how many refs of a server an error names.
const mostListed = 10

// noRef says that a server does not have ref, and which branches it offers instead; of one
// that should be a tag, which tags. offered is nil where its refs are not known.
func noRef(ref string, offered map[string]plumbing.Hash) *Error {
	if offered == nil {
		return &Error{Kind: ErrRefNotFound, Reason: "the repository has no such ref", Hint: "it may have been deleted or renamed"}
	}
	prefix, kind := "refs/heads/", "branch"
	if isTag(ref) {
		prefix, kind = "refs/tags/", "tag"
	}
	what := "ref " + visible.Name(ref)
	if name, known := strings.CutPrefix(ref, prefix); known {
		what = kind + " " + visible.Name(name)
	}
	there := namesBelow(prefix, offered)
	e := &Error{Kind: ErrRefNotFound, Reason: what + " does not exist; the repository has" + listed(there, kind)}
	near := nearest.Word(strings.TrimPrefix(ref, prefix), there)
	switch {
	case near != "":
		e.Hint = fmt.Sprintf("did you mean %[1]s? set source.ref: %+[2]q", visible.Name(near), prefix+near)
	case len(there) == 1:
		e.Hint = fmt.Sprintf("set source.ref: %+q, or rename that %s", prefix+there[0], kind)
	default:
		e.Hint = "check source.ref; a " + kind + " may have been deleted or renamed"
	}
	return e
}

// namesBelow are the names of the refs with a prefix, without it, in order.
func namesBelow(prefix string, offered map[string]plumbing.Hash) (names []string) {
	for ref := range offered {
		if name, found := strings.CutPrefix(ref, prefix); found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// listed are the first names of a list, as a person may read them.
func listed(names []string, kind string) string {
	if len(names) == 0 {
		return " no " + kind
	}
	var shown []string
	for _, name := range names[:min(len(names), mostListed)] {
		shown = append(shown, visible.Name(name))
	}
	text := ": " + strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
