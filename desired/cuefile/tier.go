package cuefile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// A tier is a shape that many zones have. A zone of a tier may say something else in
// places: an exception. What is shorter to read decides: a shape becomes a tier where the
// exceptions of its zones from another tier would take more lines.

// tier is one.
type tier struct {
	name   string
	fields []field
}

// place is what a zone is written as.
type place struct {
	tier   *tier   // nil for a zone of its own
	fields []field // all of its own, or the exceptions from its tier
}

// fewest is the number of zones from which a shape may become a tier.
const fewest = 3

// maxDistance bounds the exceptions of a zone: with more of them it is not one of the
// tier, but a zone of its own.
const maxDistance = 4

type shape struct {
	fields []field
	zones  []int // indexes
}

// factor gives each zone its place. The zones are those of all accounts, in their order;
// shapes that are equally frequent go by the first zone that has them.
func factor(zones [][]field) (places []place, tiers []*tier) {
	zones, apart := withoutAcceptances(zones)
	shapes := shapesOf(zones)
	places = make([]place, len(zones))
	for _, s := range shapes {
		nearest, exceptions := closest(s.fields, tiers)
		if worthTier(s, nearest != nil, weight(exceptions)) {
			nearest, exceptions = &tier{fields: s.fields}, nil
			tiers = append(tiers, nearest)
		}
		for _, i := range s.zones {
			places[i] = place{tier: nearest, fields: exceptions}
			if nearest == nil {
				places[i].fields = s.fields
			}
		}
	}
	placeAcceptances(places, tiers, apart)
	return places, tiers
}

// worthTier weighs the lines of a definition against those of exceptions, or of zones
// of their own.
func worthTier(s shape, near bool, distance int) bool {
	const header = 3 // a tier's name, its comment and an empty line
	if len(s.zones) < fewest || len(s.fields) == 0 {
		return false
	}
	lines := weight(s.fields)
	if near {
		return len(s.zones)*distance > lines+header
	}
	return len(s.zones)*lines > lines+header
}

// weight is how many fields tell one shape from another: what becomes of later overrides, and
// of a deployment that is not there, says nothing of what a zone runs.
func weight(fields []field) (n int) {
	for _, f := range fields {
		if !strings.HasSuffix(f.path, ".unmanaged") && !strings.HasSuffix(f.path, ".deploy") {
			n++
		}
	}
	return n
}

// nameTiers names tiers after a word that the names of all their zones have, and that of no
// other zone: _shop for shop-1.example and shop-2.example. The others are counted in letters;
// a single tier is the standard.
func nameTiers(prefix string, tiers []*tier, places []place, keys []string) {
	zones := make([][]string, len(keys))
	for i, key := range keys {
		if places[i].tier != nil || len(places[i].fields) > 0 { // one that runs nothing says nothing
			zones[i] = wordsOf(key)
		}
	}
	taken := map[string]bool{}
	for i, t := range tiers {
		word := commonWord(zones, func(zone int) bool { return places[zone].tier == t })
		switch {
		case len(tiers) == 1 && prefix == plainPrefix:
			t.name = "_standard"
		case word != "" && !taken[word] && prefix == plainPrefix:
			t.name, taken[word] = "_"+word, true
		case word != "" && !taken[word]:
			t.name, taken[word] = prefix+strings.ToUpper(word[:1])+word[1:], true
		case i < 26:
			t.name = fmt.Sprintf("%s%c", prefix, 'A'+i)
		default:
			t.name = fmt.Sprintf("%s%d", prefix, i+1)
		}
	}
}

// plainPrefix begins the names of tiers in a new repository that have no word.
const plainPrefix = "_tier"

var nameWord = lazyregexp.New(`[a-z]{3,}`)

// wordsOf are the words of a zone's name, but for its last label.
func wordsOf(key string) []string {
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		key = key[:i]
	}
	return nameWord().FindAllString(key, -1)
}

// commonWord is the first word that all zones of a kind have, and no other; empty for none.
func commonWord(zones [][]string, of func(zone int) bool) string {
	var common []string
	for i, words := range zones {
		if of(i) {
			common = words
			break
		}
	}
	for i, words := range zones {
		common = slices.DeleteFunc(slices.Clone(common), func(word string) bool { return slices.Contains(words, word) != of(i) })
	}
	if len(common) == 0 {
		return ""
	}
	return common[0]
}

// own gives each zone a place of its own.
func own(zones [][]field) []place {
	places := make([]place, len(zones))
	for i, fields := range zones {
		places[i] = place{fields: fields}
	}
	return places
}

// shapesOf groups the zones that run the same, the largest group first.
func shapesOf(zones [][]field) []shape {
	byKey := map[string]int{}
	var shapes []shape
	for i, fields := range zones {
		key := keyOf(fields)
		at, known := byKey[key]
		if !known {
			at = len(shapes)
			byKey[key] = at
			shapes = append(shapes, shape{fields: fields})
		}
		shapes[at].zones = append(shapes[at].zones, i)
	}
	slices.SortStableFunc(shapes, func(a, b shape) int { return cmp.Compare(len(b.zones), len(a.zones)) })
	return shapes
}

func keyOf(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%q=%q;", f.path, f.text())
	}
	return b.String()
}

// closest finds the tier from which a shape has the fewest exceptions; none where it
// cannot be said as a few of them.
func closest(fields []field, tiers []*tier) (nearest *tier, exceptions []field) {
	for _, t := range tiers {
		found, ok := exceptionsFrom(t.fields, fields)
		if ok && weight(found) <= maxDistance && weight(found) < max(weight(fields), 2) && (nearest == nil || weight(found) < weight(exceptions)) {
			nearest, exceptions = t, found
		}
	}
	return nearest, exceptions
}

// exceptionsFrom are the fields that a zone of a tier declares to run a shape. It is
// false where no declaration does: CUE cannot take a field away.
func exceptionsFrom(tier, fields []field) (exceptions []field, ok bool) {
	theirs, ours := byPath(tier), byPath(fields)
	for _, f := range fields {
		t, both := theirs[f.path]
		switch {
		case both && t.text() == f.text(), !both && f.value == "{}" && below(tier, f.path):
		case both && !t.mayBe(f):
			return nil, false
		default:
			exceptions = append(exceptions, f)
		}
	}
	for _, t := range tier {
		_, both := ours[t.path]
		switch {
		case both, t.value == "{}" && below(fields, t.path):
		case !t.isList() || !deploys(fields, t.path):
			return nil, false
		default:
			exceptions = append(exceptions, field{path: t.path, kind: t.kind})
		}
	}
	return exceptions, true
}

// below reports whether some of the fields are members of the one at a path.
func below(fields []field, path string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return strings.HasPrefix(f.path, path+".") })
}

// deploys reports whether the fields have the deployment that a path is in.
func deploys(fields []field, path string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return deploymentOf(f.path) == deploymentOf(path) })
}

// deploymentOf is the first label of a path.
func deploymentOf(path string) string {
	if quoted, err := strconv.QuotedPrefix(path); err == nil && path[0] == '"' {
		return quoted
	}
	label, _, _ := strings.Cut(path, ".")
	return label
}

// mayBe reports whether a zone may say other where the tier's default is f. A list of structs
// does not replace one with which it unifies: the two would become one.
func (f field) mayBe(other field) bool {
	switch {
	case f.kind == "" || other.kind != f.kind:
		return false
	case !f.isList():
		return true
	case len(f.items) != len(other.items):
		return true
	}
	for i := range f.items {
		if conflict(f.items[i], other.items[i]) {
			return true
		}
	}
	return false
}

// conflict reports whether two elements of lists cannot be one: their first members name
// the same thing, by another value.
func conflict(a, b string) bool {
	if a == b {
		return false
	}
	if !strings.HasPrefix(a, "{") || !strings.HasPrefix(b, "{") {
		return true // different texts, or a text and a struct
	}
	nameA, valueA := firstMember(a)
	nameB, valueB := firstMember(b)
	return nameA == nameB && valueA != valueB
}

// firstMember splits {tag: "x", …} into its first name and value.
func firstMember(item string) (name, value string) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(item, "{"), ": ")
	value, _, _ = strings.Cut(strings.TrimSuffix(rest, "}"), ", ")
	return name, value
}

func byPath(fields []field) map[string]field {
	m := make(map[string]field, len(fields))
	for _, f := range fields {
		m[f.path] = f
	}
	return m
}
