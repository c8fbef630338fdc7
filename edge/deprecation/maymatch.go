package deprecation

import "bytes"

// MayMatch reports whether [Matcher.Match] could say anything of a request for
// a path, or an address, with some method and without a body and headers. It
// allocates nothing: it is for passing over most of a log quickly. A path with
// escapes or a fragment may always match.
func (m *Matcher) MayMatch(path []byte) bool {
	path = path[afterHost(path):]
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	if bytes.IndexByte(path, '%') >= 0 || bytes.IndexByte(path, '#') >= 0 {
		return true
	}
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
		return n.words[string(raw)] // the compiler makes no string
	}
	return nil
}

func nextSegment(path []byte) (word, rest []byte) {
	if i := bytes.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return path, nil
}
