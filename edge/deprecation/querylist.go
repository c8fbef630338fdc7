package deprecation

import (
	"slices"
	"strings"
)

// maxRewrites bounds the requests that one is split into. Lists multiply, and
// the request may be anybody's.
const maxRewrites = 64

// unfiltering are the parameters of a list that choose no records: a list of
// values beside these alone is the sole filter.
var unfiltering = []string{"match", "page", "per_page", "order", "direction"}

// rewrittenQueries is the call without the forms: one request, or several where
// a list is one of several filters. It is nil where there is no safe way, as
// when the parameter that takes over is there already.
func (c *call) rewrittenQueries(forms []met) []Rewrite {
	if len(forms) > maxRewrites {
		return nil // no one's filter; and what follows compares each with each
	}
	pairs, lists, ok := renamed(c.query(), forms)
	if !ok {
		return nil
	}
	queries := [][]pair{pairs}
	switch {
	case len(lists) == 0:
	case matchesAny(pairs) || len(lists) == 1 && len(lists[0].values) > 1 && soleFilter(pairs):
		queries = [][]pair{alternatives(pairs, lists)}
	default:
		queries = oneByOne(pairs, lists)
	}
	var out []Rewrite
	for _, q := range queries {
		out = append(out, Rewrite{Method: c.Method, URL: c.address.withQuery(joined(q)), Body: jsonOrNil(c.Body)})
	}
	return out
}

// list is a parameter with several values, and where it stands.
type list struct {
	at     int
	key    string
	values []string
}

// renamed gives the prefixed forms their new parameters and takes lists apart.
func renamed(query []pair, forms []met) (pairs []pair, lists []list, ok bool) {
	pairs = slices.Clone(query)
	for _, f := range forms {
		if f.Form == FormList {
			l := list{f.at, f.To, elements(f.bare)}
			if len(l.values) == 0 || slices.ContainsFunc(l.values, func(v string) bool { form, _ := FormOf(v); return form != "" }) {
				return nil, nil, false
			}
			lists = append(lists, l)
			continue
		}
		if slices.ContainsFunc(pairs, func(p pair) bool { return p.key == f.To }) {
			return nil, nil, false // two of them: nothing says how they combine
		}
		pairs[f.at] = newPair(f.To, f.bare)
	}
	return pairs, lists, true
}

// elements are the values of a comma list, each once, in its order.
func elements(value string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for v := range strings.SplitSeq(value, ",") {
		if v = strings.TrimSpace(v); !seen[v] {
			out = append(out, v)
			seen[v] = true
		}
	}
	return out
}

func matchesAny(pairs []pair) bool {
	return slices.ContainsFunc(pairs, func(p pair) bool { return p.key == "match" && p.value == "any" })
}

// soleFilter: of the parameters only one chooses records.
func soleFilter(pairs []pair) bool {
	filters := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return slices.Contains(unfiltering, p.key) })
	return len(filters) == 1
}

// alternatives repeats the parameter for each value, under match=any.
func alternatives(pairs []pair, lists []list) []pair {
	var out []pair
	for i, p := range pairs {
		at := slices.IndexFunc(lists, func(l list) bool { return l.at == i })
		switch {
		case at >= 0:
			for _, v := range lists[at].values {
				out = append(out, newPair(lists[at].key, v))
			}
		case p.key != "match":
			out = append(out, p)
		}
	}
	return append(out, newPair("match", "any"))
}

// oneByOne makes one request for each value; for several lists, for each
// combination of values.
func oneByOne(pairs []pair, lists []list) [][]pair {
	queries := [][]pair{pairs}
	for _, l := range lists {
		if len(queries)*len(l.values) > maxRewrites {
			return nil
		}
		var next [][]pair
		for _, q := range queries {
			for _, v := range l.values {
				one := slices.Clone(q)
				one[l.at] = newPair(l.key, v)
				next = append(next, one)
			}
		}
		queries = next
	}
	return queries
}

func joined(pairs []pair) string {
	raw := make([]string, len(pairs))
	for i, p := range pairs {
		raw[i] = p.raw
	}
	return strings.Join(raw, "&")
}
