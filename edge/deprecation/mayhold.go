package deprecation

import (
	"bytes"
	"slices"
	"strings"
)

// filter tells texts in which no rule can be met: none of them has all the fixed
// words of a path.
type filter struct {
	words []string
	roots []root
}

// root is a word, by its index, and what must stand in a text beside it.
type root struct {
	word   int
	beside [][]int
}

func (f *filter) index(word string) int {
	if i := slices.Index(f.words, word); i >= 0 {
		return i
	}
	f.words = append(f.words, word)
	return len(f.words) - 1
}

// add notes words that stand in a text together where an entry is met.
func (f *filter) add(words ...string) {
	first := f.index(words[0])
	var rest []int
	for _, w := range words[1:] {
		rest = append(rest, f.index(w))
	}
	for i := range f.roots {
		if f.roots[i].word == first {
			f.roots[i].beside = append(f.roots[i].beside, rest)
			return
		}
	}
	f.roots = append(f.roots, root{first, [][]int{rest}})
}

// addEntry notes the fixed words of an entry's path, and of its member.
func (f *filter) addEntry(e *entry) {
	var words []string
	for _, s := range e.template.segments {
		if !s.param {
			words = append(words, s.text)
		}
	}
	if e.member != nil {
		words = append(words, e.member.name())
	}
	if len(words) == 1 {
		f.add("/" + words[0]) // a word such as accounts is in many texts
		f.add(`"` + words[0] + `"`)
		f.add("'" + words[0] + "'")
		return
	}
	f.add(words...)
}

// addLoose notes what is bound to no path.
func (f *filter) addLoose(h hit) {
	switch {
	case h.member != nil:
		f.add(h.member.name())
	case h.headers != nil:
		for _, spelling := range []func(string) string{func(s string) string { return s }, strings.ToLower} {
			var names []string
			for _, name := range h.headers.All {
				names = append(names, spelling(name))
			}
			f.add(names...)
		}
	}
}

// name is the last name of the member's path.
func (m *Member) name() string {
	if m.Equals != "" {
		return m.Equals
	}
	return m.Path[strings.LastIndexByte(m.Path, '.')+1:]
}

// MayHold reports whether a file may hold a request that the calendar concerns, by
// its words alone: it is for passing over most of a source tree quickly. Words that
// are written with escapes are not seen.
func (m *Matcher) MayHold(text []byte) bool {
	seen := make([]int8, len(m.filter.words)) // 1: there, -1: not
	has := func(word int) bool {
		if seen[word] == 0 {
			seen[word] = -1
			if bytes.Contains(text, []byte(m.filter.words[word])) {
				seen[word] = 1
			}
		}
		return seen[word] > 0
	}
	for _, r := range m.filter.roots {
		if !has(r.word) {
			continue
		}
		for _, words := range r.beside {
			if !slices.ContainsFunc(words, func(w int) bool { return !has(w) }) {
				return true
			}
		}
	}
	return false
}
