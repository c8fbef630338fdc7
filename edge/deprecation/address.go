package deprecation

import (
	"net/url"
	"strings"
)

// address is a request's URL, taken apart by hand: what stands in logs, shells
// and source code ("/zones/%s/filters", "/zones/${id}/filters") is often none
// that net/url would read.
type address struct {
	text  string
	path  span
	query span // without the "?"; empty where there is none
	has   bool // there is a "?"
	// parts are the path's segments. Empty ones are left out: a doubled or a
	// trailing slash makes no difference. "." and ".." are ordinary segments, since
	// clients resolve them before they send.
	parts []part
}

// span is a piece of a text, from its first byte to before its last.
type span struct{ from, to int }

// part is a segment, decoded, and where it stands. A "%2F" in it is a slash of
// the segment and separates nothing.
type part struct {
	text string
	span
}

func (s span) of(text string) string { return text[s.from:s.to] }

func parseAddress(text string) address {
	from, question, to := cut(text)
	a := address{text: text, path: span{from, question}, query: span{to, to}}
	if question < to {
		a.query, a.has = span{question + 1, to}, true
	}
	a.parts = make([]part, 0, strings.Count(text[from:question], "/")+1)
	for at := from; at < question; {
		end := at
		for end < question && text[end] != '/' {
			end++
		}
		if end > at {
			a.parts = append(a.parts, part{decoded(text[at:end]), span{at, end}})
		}
		at = end + 1
	}
	return a
}

// cut finds where the path begins, where it ends and where the query does.
func cut(text string) (path, question, end int) {
	path, end = afterHost(text), len(text)
	question = -1
scan:
	for i := path; i < len(text); i++ {
		switch {
		case text[i] == '?' && question < 0:
			question = i
		case text[i] == '#' && (i+1 == len(text) || text[i+1] != '{'): // #{id} is a placeholder
			end = i
			break scan
		}
	}
	if question < 0 {
		question = end
	}
	return path, question, end
}

// afterHost skips "scheme://host"; without a scheme a host is a segment like
// any other, before those that count.
func afterHost[T string | []byte](text T) int {
	i := 0
	for i < len(text) && isSchemeByte(text[i]) {
		i++
	}
	if i == 0 || i+2 >= len(text) || text[i] != ':' || text[i+1] != '/' || text[i+2] != '/' {
		return 0
	}
	for i += 3; i < len(text) && text[i] != '/' && text[i] != '?' && text[i] != '#'; i++ {
	}
	return i
}

func isSchemeByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'
}

// decoded undoes %-encoding; what is badly encoded stays as it is.
func decoded(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}

// withQuery is the address with another query; an empty one takes its "?" away.
func (a address) withQuery(query string) string {
	if query != "" {
		query = "?" + query
	}
	return a.text[:a.path.to] + query + a.text[a.query.to:]
}

// withSegments is the address with another text in place of the segments from
// first on.
func (a address) withSegments(first int, text string) string {
	return a.text[:a.parts[first].from] + text + a.text[a.parts[len(a.parts)-1].to:]
}

// raw are the segments from first on as they were written.
func (a address) raw(first int) []string {
	var out []string
	for _, p := range a.parts[first:] {
		out = append(out, p.of(a.text))
	}
	return out
}
