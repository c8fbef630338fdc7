package deprecation

import "bytes"

// MayMatch reports whether [Matcher.Match] could say anything of a request for
// a path, or an address, with some method and without a body and headers. It
// allocates nothing: it is for passing over most of a log quickly.
func (m *Matcher) MayMatch(path []byte) bool {
	path = pathOf(path)
	for len(path) > 0 {
		var word []byte
		if word, path = nextSegment(path); len(word) == 0 {
			continue
		}
		if next := m.root.word(word); next != nil && next.leads(path) {
			return true
		}
	}
	return false
}

// pathOf cuts host, query and fragment off, as parseAddress does.
func pathOf(text []byte) []byte {
	if len(text) > 0 && text[0] != '/' {
		text = text[afterHost(text):]
	}
	if i := bytes.IndexByte(text, '?'); i >= 0 {
		text = text[:i]
	}
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '#')
		if i < 0 {
			return text
		}
		if at += i; at+1 == len(text) || text[at+1] != '{' {
			return text[:at]
		}
		at++
	}
}

// leads reports whether following the path ends where an entry is.
func (n *node) leads(path []byte) bool {
	if n.restShows {
		return true
	}
	word, path := nextSegment(path)
	for len(word) == 0 && len(path) > 0 {
		word, path = nextSegment(path)
	}
	if len(word) == 0 {
		return n.exactShows
	}
	if next := n.word(word); next != nil && next.leads(path) {
		return true
	}
	return n.param != nil && n.param.leads(path)
}

// word finds the child of a segment as it stands in a path.
func (n *node) word(raw []byte) *node {
	if n.lengths&lengthBit(len(raw)) != 0 {
		if next := n.words[string(raw)]; next != nil { // the compiler makes no string
			return next
		}
	}
	if bytes.IndexByte(raw, '%') >= 0 {
		return n.encodedWord(raw)
	}
	return nil
}

// encodedWord compares by undoing %-encoding byte by byte.
func (n *node) encodedWord(raw []byte) *node {
	for word, next := range n.words {
		if encodes(raw, word) {
			return next
		}
	}
	return nil
}

func encodes(raw []byte, word string) bool {
	i := 0
	for len(raw) > 0 && i < len(word) {
		c, size := raw[0], 1
		if c == '%' {
			if len(raw) < 3 || !isHex(raw[1]) || !isHex(raw[2]) {
				return false // a segment that is badly encoded is what it is
			}
			c, size = unhex(raw[1])<<4|unhex(raw[2]), 3
		}
		if c != word[i] {
			return false
		}
		raw, i = raw[size:], i+1
	}
	return len(raw) == 0 && i == len(word)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

func nextSegment(path []byte) (word, rest []byte) {
	if i := bytes.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return path, nil
}
