package diff

import (
	"slices"
	"strings"
)

// foundMember begins the members of [Applied] that remember what was live and not declared
// when a deployment was proved. Alone it says that this is on record.
const foundMember = "found"

// Found are the members that were live and not declared when a deployment was proved
// first, and those that its declaration has kept since.
type Found struct {
	known   bool
	members []Member // sorted
}

// FoundIn is what members remember. What was written by an earlier version of Seawall, or
// what is lost, remembers nothing: then nothing counts as new.
func FoundIn(applied []Member) (f Found) {
	for _, m := range applied {
		rest, ok := strings.CutPrefix(string(m), foundMember)
		switch {
		case !ok:
		case rest == "":
			f.known = true
		case strings.HasPrefix(rest, " "):
			f.members = append(f.members, Member(rest[1:]))
		}
	}
	slices.Sort(f.members)
	return f
}

// New reports whether a member that is live and not declared came after the first proof.
func (f Found) New(m Member) bool {
	_, there := slices.BinarySearch(f.members, m)
	return f.known && !there
}

// Remember are the members of [Applied] that remember what is live and not declared, sorted.
func Remember(live []Member) []Member {
	all := make([]Member, 0, len(live)+1)
	all = append(all, foundMember)
	for _, m := range live {
		all = append(all, foundMember+" "+m)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
