package gitrepo

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// candidates are the names under which a server may know a ref, in the order
// in which they are tried. They are full names: a server's ref called
// refs/tags/main must not come first for "main".
func candidates(ref string) []string {
	switch {
	case ref == "":
		return []string{"HEAD"}
	case strings.HasPrefix(ref, "refs/"), plumbing.IsHash(ref):
		return []string{ref}
	}
	return []string{"refs/heads/" + ref, "refs/tags/" + ref}
}

// checkRef refuses names that are no refs, among them those that would turn
// into a pattern.
func checkRef(ref string) error {
	for _, name := range candidates(ref) {
		if name == "HEAD" || plumbing.IsHash(name) {
			continue
		}
		if err := plumbing.ReferenceName(name).Validate(); err != nil || strings.ContainsAny(name, "*:") {
			return badSource("the ref is not a ref's name", "write main, refs/heads/main, refs/tags/v1 or a commit's 40 hexadecimal digits")
		}
	}
	return nil
}
