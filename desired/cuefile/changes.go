package cuefile

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// Change is one member of what a zone runs that is to be declared otherwise.
type Change struct {
	Path          string // below waf: core.threshold.score; of another kind below the zone
	before, after *field // nil where it is not declared
}

// Changes are the members in which two declarations of one zone differ. Lists whose order
// means nothing keep that of before.
func Changes(before, after desired.Zone, words Words) []Change {
	return append(changesOf(fieldsOf(before, words), fieldsOf(after, words)), changesOf(othersOf(before), othersOf(after))...)
}

// Other reports whether it is about another kind than deployments.
func (c Change) Other() bool {
	return c.before != nil && c.before.other || c.after != nil && c.after.other
}

func changesOf(old, now []field) (changes []Change) {
	theirs := byPath(old)
	ours := byPath(now)
	for _, f := range now {
		was, both := theirs[f.path]
		switch {
		case f.value == "{}":
		case !both:
			changes = append(changes, Change{Path: f.path, after: &f})
		case f.isAcceptance():
			changes = append(changes, changesOf(was.below, f.below)...)
		case f.isList():
			if next := f.orderedLike(was); next.text() != was.text() {
				changes = append(changes, Change{f.path, &was, &next})
			}
		case f.value != was.value:
			changes = append(changes, Change{f.path, &was, &f})
		}
	}
	for _, f := range old {
		if _, both := ours[f.path]; !both && f.value != "{}" {
			changes = append(changes, Change{Path: f.path, before: &f})
		}
	}
	return changes
}

// orderedLike has the items that another list has, too, in its order, before the rest;
// but tags, whose order counts.
func (f field) orderedLike(other field) field {
	if strings.HasSuffix(f.path, ".tags") && !strings.HasSuffix(f.path, "disable.tags") {
		return f
	}
	place := func(item string) int {
		if i := slices.Index(other.items, item); i >= 0 {
			return i
		}
		return len(other.items)
	}
	order := make([]int, len(f.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return place(f.items[a]) - place(f.items[b]) })
	next := f
	next.items, next.notes = nil, nil
	for _, i := range order {
		next.items = append(next.items, f.items[i])
		if i < len(f.notes) {
			next.notes = append(next.notes, f.notes[i])
		}
	}
	return next
}
