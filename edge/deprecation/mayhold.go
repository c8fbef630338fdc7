package deprecation

import (
	"bytes"
	"slices"
	"strings"
)

// filter tells texts in which no rule can be met: none of them has all the fixed
// words of a path.
type filter struct {
	words []word
	sets  [][]int // words, by their index, that stand in a text together where a rule is met
}

// word must stand in a text: anywhere, or, where it is a segment of a path, as in
// an address (see [inAddress]).
type word struct {
	text    string
	segment bool
}

func (f *filter) index(w word) int {
	if i := slices.Index(f.words, w); i >= 0 {
		return i
	}
	f.words = append(f.words, w)
	return len(f.words) - 1
}

// add notes words that stand in a text together where an entry is met.
func (f *filter) add(words ...word) {
	var set []int
	for _, w := range words {
		set = append(set, f.index(w))
	}
	f.sets = append(f.sets, set)
}

// addEntry notes the fixed words of an entry's path, and of its member.
func (f *filter) addEntry(e *entry) {
	var words []word
	for _, s := range e.template.segments {
		if !s.param {
			words = append(words, word{text: s.text, segment: true})
		}
	}
	if e.member != nil {
		words = append(words, word{text: e.member.name()})
	}
	f.add(words...)
}

// addLoose notes what is bound to no path.
func (f *filter) addLoose(h hit) {
	switch {
	case h.member != nil:
		f.add(word{text: h.member.name()})
	case h.headers != nil:
		for _, spelling := range []func(string) string{func(s string) string { return s }, strings.ToLower} {
			var names []word
			for _, name := range h.headers.All {
				names = append(names, word{text: spelling(name)})
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
			if m.filter.words[word].in(text) {
				seen[word] = 1
			}
		}
		return seen[word] > 0
	}
	return slices.ContainsFunc(m.filter.sets, func(set []int) bool {
		return !slices.ContainsFunc(set, func(w int) bool { return !has(w) })
	})
}

// in reports whether the word stands in a text.
func (w word) in(text []byte) bool {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(w.text))
		switch {
		case i < 0:
			return false
		case !w.segment || inAddress(text, from+i, from+i+len(w.text)):
			return true
		}
		from += i + len(w.text)
	}
}

// inAddress reports whether what stands from i to j can be a segment of an
// address: a slash, a quote, a backslash or a sign of a variable is next to it, or
// an equals sign before it. Most programs have words such as "user" and "rules" as
// names of their own, or in comments.
func inAddress(text []byte, i, j int) bool {
	before, after := byte('/'), byte('/') // a text may be one address
	if i > 0 {
		before = text[i-1]
	}
	if j < len(text) {
		after = text[j]
	}
	const beside = "/\"'`\\"
	return strings.IndexByte(beside+"$?#{", after) >= 0 || strings.IndexByte(beside+"=}", before) >= 0 && !continues(after)
}

// continues reports whether a byte would go on with a word.
func continues(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
