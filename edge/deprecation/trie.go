package deprecation

// node is a place in the index, reached by the segments of a path. The root's
// words are the first ones of templates; a path's base ends wherever one is met.
type node struct {
	words   map[string]*node
	lengths uint64 // a bit for each length that a word has, to look up fewer
	param   *node
	exact   []*entry // templates that end here
	rest    []*entry // templates that end here in "..."
	// Of each, whether one shows in a path alone, without the body or headers.
	exactShows, restShows bool
}

// role is what an entry makes of a call.
type role int

const (
	goesAway role = iota
	affected
	ofQuery
	ofBody
	ofHeaders
	ofResponse
)

// entry is an endpoint in the index and what it stands for.
type entry struct {
	rule     int // index in the calendar
	role     role
	methods  []string
	endpoint *Endpoint
	template template
	query    *Query   // of ofQuery
	member   *Member  // of ofBody and ofResponse
	headers  *Headers // of ofHeaders
}

func (e *entry) takes(method string) bool {
	for _, m := range e.methods {
		if m == method || m == AnyMethod {
			return true
		}
	}
	return false
}

// add puts an entry where its template leads.
func (n *node) add(e *entry) {
	for _, s := range e.template.segments {
		n = n.child(s)
	}
	shows := e.role == goesAway || e.role == affected || e.role == ofQuery
	if e.template.rest {
		n.rest, n.restShows = append(n.rest, e), n.restShows || shows
	} else {
		n.exact, n.exactShows = append(n.exact, e), n.exactShows || shows
	}
}

func (n *node) child(s segment) *node {
	if s.param {
		if n.param == nil {
			n.param = &node{}
		}
		return n.param
	}
	if n.words == nil {
		n.words = map[string]*node{}
	}
	if n.words[s.text] == nil {
		n.words[s.text] = &node{}
		n.lengths |= lengthBit(len(s.text))
	}
	return n.words[s.text]
}

func lengthBit(n int) uint64 { return 1 << (uint(n) % 64) }

// hit is an entry that a path leads to, and the segment at which its base ends.
type hit struct {
	*entry
	first int
}

// find collects what the path's segments lead to, wherever its base ends.
func (n *node) find(parts []part) []hit {
	var hits []hit
	for first := range parts {
		if next := n.words[parts[first].text]; next != nil {
			hits = next.follow(parts, first, first+1, hits)
		}
	}
	return hits
}

func (n *node) follow(parts []part, first, at int, hits []hit) []hit {
	for _, e := range n.rest {
		hits = append(hits, hit{e, first})
	}
	if at == len(parts) {
		for _, e := range n.exact {
			hits = append(hits, hit{e, first})
		}
		return hits
	}
	if next := n.words[parts[at].text]; next != nil {
		hits = next.follow(parts, first, at+1, hits)
	}
	if n.param != nil {
		hits = n.param.follow(parts, first, at+1, hits)
	}
	return hits
}
