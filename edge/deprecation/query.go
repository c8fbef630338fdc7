package deprecation

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// pair is a parameter of a query. Raw is the text as it was sent, kept where
// nothing changes.
type pair struct{ key, value, raw string }

func parsePairs(query string) []pair {
	var out []pair
	for raw := range strings.SplitSeq(query, "&") {
		if raw == "" {
			continue
		}
		key, value, _ := strings.Cut(raw, "=")
		out = append(out, pair{unescaped(key), unescaped(value), raw})
	}
	return out
}

// unescaped undoes the encoding of a query; what is badly encoded stays.
func unescaped(s string) string {
	if out, err := url.QueryUnescape(s); err == nil {
		return out
	}
	return s
}

func newPair(key, value string) pair {
	return pair{key, value, url.QueryEscape(key) + "=" + url.QueryEscape(value)}
}

func (c *call) query() []pair {
	if c.pairs == nil && c.address.has {
		c.pairs = parsePairs(c.address.query.of(c.address.text))
	}
	return c.pairs
}

// FormOf is the form that the value of a query parameter is written in, and the
// bare value; the form is empty for a value that is just that. Only a value
// without one of the prefixes is a list.
func FormOf(value string) (Form, string) {
	for _, f := range []Form{FormContains, FormStartsWith, FormEndsWith} {
		if bare, ok := strings.CutPrefix(value, string(f)+":"); ok {
			return f, bare
		}
	}
	if strings.Contains(value, ",") {
		return FormList, value
	}
	return "", value
}

// met is a parameter of the call in a form that ends.
type met struct {
	*Query
	at   int // index in the call's query
	bare string
}

// forms are the parameters of the call that the hits are about.
func (c *call) forms(hits []hit) []met {
	if len(hits) == 0 || !c.address.has {
		return nil
	}
	var out []met
	for i, p := range c.query() {
		form, bare := FormOf(p.value)
		for _, h := range hits {
			if form != "" && h.query.Param == p.key && h.query.Form == form {
				out = append(out, met{h.query, i, bare})
				break
			}
		}
	}
	return out
}

// queryNotices makes one notice of the forms that have the rule's date and one
// of those that have the extended date. Both propose the whole query rewritten.
func (c *call) queryNotices(r *Rule, forms []met, at time.Time) []Notice {
	var out []Notice
	for _, extended := range []bool{false, true} {
		var seen []string
		for _, f := range forms {
			if s := f.shown(); f.Extended == extended && !slices.Contains(seen, s) {
				seen = append(seen, s)
			}
		}
		if len(seen) == 0 {
			continue
		}
		n := r.notice(at, extended || r.extendedForAll())
		n.Detail = "query: " + strings.Join(seen, ", ")
		if all := c.rewrittenQueries(forms); len(all) == 1 {
			n.Rewrite = &all[0]
		} else {
			n.Rewrites = all
		}
		out = append(out, n)
	}
	return out
}

// shown is the form without the value, which may be long or private.
func (q *Query) shown() string {
	if q.Form == FormList {
		return q.Param + "=…,…"
	}
	return q.Param + "=" + string(q.Form) + ":…"
}
