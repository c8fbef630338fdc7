package deprecation

import (
	"slices"
	"strings"
	"time"
)

// Match says what a request uses, in the calendar's order. A rule that the
// request meets in several ways makes one notice, except where a part of it has
// an extended date of its own. Methods that the schedule does not list never
// match.
func (m *Matcher) Match(req Request, at time.Time) []Notice { return m.notices(m.call(req), at) }

// MatchPath says of what a path, with or without a query, shows a use whatever its
// method, as it is with a text in a source file. Calls that are affected and stay are
// not among it.
func (m *Matcher) MatchPath(path string, at time.Time) []Notice {
	c := &call{address: parseAddress(path)}
	c.hits = m.root.find(c.address.parts)
	sortHits(c.hits)
	return slices.DeleteFunc(m.notices(c, at), func(n Notice) bool { return n.Info })
}

func (m *Matcher) notices(c *call, at time.Time) (out []Notice) {
	for hits := range byRule(c.hits) {
		out = append(out, c.notices(&m.calendar.Rules[hits[0].rule], hits, at)...)
	}
	return out
}

// call is a request on its way through the index.
type call struct {
	Request
	address address
	hits    []hit  // by rule
	pairs   []pair // the query; read when first asked for
	body    any    // likewise
	decoded bool
}

// call finds what of the calendar a request may concern.
func (m *Matcher) call(req Request) *call {
	c := &call{Request: req, address: parseAddress(req.URL)}
	c.Method = strings.ToUpper(req.Method)
	c.hits = slices.DeleteFunc(m.root.find(c.address.parts), func(h hit) bool { return !h.takes(c.Method) })
	if len(req.Header) > 0 || len(req.Body) > 0 {
		c.hits = append(c.hits, m.loose...)
	}
	sortHits(c.hits)
	return c
}

func sortHits(hits []hit) {
	slices.SortStableFunc(hits, func(a, b hit) int { return a.rule - b.rule })
}

// byRule yields the hits of one rule after the other.
func byRule(hits []hit) func(func([]hit) bool) {
	return func(yield func([]hit) bool) {
		for len(hits) > 0 {
			n := 1
			for n < len(hits) && hits[n].rule == hits[0].rule {
				n++
			}
			if !yield(hits[:n]) {
				return
			}
			hits = hits[n:]
		}
	}
}

func ofRole(hits []hit, r role) []hit {
	var out []hit
	for _, h := range hits {
		if h.role == r {
			out = append(out, h)
		}
	}
	return out
}

// notices is what one rule has to say of the call. A call that ends says
// it all; one that is merely affected counts where nothing else was met.
func (c *call) notices(r *Rule, hits []hit, at time.Time) []Notice {
	if gone := ofRole(hits, goesAway); len(gone) > 0 {
		n := r.Notice(at)
		n.Detail = strings.TrimSpace(c.Method + " " + gone[0].endpoint.Path)
		n.Rewrite = c.moved(gone[0])
		return []Notice{n}
	}
	out := c.queryNotices(r, c.forms(ofRole(hits, ofQuery)), at)
	if met := c.members(ofRole(hits, ofBody)); len(met) > 0 {
		n := r.Notice(at)
		n.Detail = "body: " + strings.Join(memberPaths(met), ", ")
		n.Rewrite = c.withoutMembers(met)
		out = append(out, n)
	}
	for _, h := range ofRole(hits, ofHeaders) {
		if h.headers.in(c.Header) {
			n := r.Notice(at)
			n.Detail = "headers: " + strings.Join(h.headers.All, " and ")
			out = append(out, n)
		}
	}
	if calls := ofRole(hits, affected); len(out) == 0 && len(calls) > 0 {
		n := r.Notice(at)
		n.Info, n.Detail = true, c.Method+" "+calls[0].endpoint.Path
		out = append(out, n)
	}
	return out
}

// in reports whether all the fields are among a header, in any spelling.
func (h *Headers) in(header map[string][]string) bool {
	for _, name := range h.All {
		if len(values(header, name)) == 0 {
			return false
		}
	}
	return true
}

// values are a field's values, in whatever capitals the header was kept.
func values(header map[string][]string, name string) []string {
	if v, ok := header[name]; ok {
		return v
	}
	for key, v := range header {
		if strings.EqualFold(key, name) {
			return v
		}
	}
	return nil
}
