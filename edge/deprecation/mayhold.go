package deprecation

import (
	"bytes"
	"slices"
	"strings"
)

// word must stand in a text: anywhere, or, where it is a segment of a path, as in
// an address (see [inAddress]).
type word struct {
	text    string
	segment bool
}

// wordsOf are the fixed words of an entry's path, and of its member.
func wordsOf(e *entry) (words []word) {
	for _, s := range e.template.segments {
		if !s.param {
			words = append(words, word{s.text, true})
		}
	}
	if e.member != nil {
		words = append(words, word{e.member.name(), false})
	}
	if e.headers != nil {
		for _, name := range e.headers.All {
			words = append(words, word{name, false})
		}
	}
	return words
}

// lower are words in lower case.
func lower(words []word) (out []word) {
	for _, w := range words {
		out = append(out, word{strings.ToLower(w.text), w.segment})
	}
	return out
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
	seen := map[word]bool{}
	lacks := func(w word) bool {
		there, known := seen[w]
		if !known {
			there = w.in(text)
			seen[w] = there
		}
		return !there
	}
	return slices.ContainsFunc(m.words, func(set []word) bool { return !slices.ContainsFunc(set, lacks) })
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
