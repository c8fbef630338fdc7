package deprecation

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/visible"
)

// masked stands for what a report does not show.
const masked = "…"

// ShownPath is the path of an address as it may stand in a report: what precedes it may
// name a person, and what follows it may be a token.
func ShownPath(address string) string {
	from, to, _ := cut(address)
	return Clipped(address[from:to])
}

// Clipped is a text as it may stand in a report: one line, and not too long.
func Clipped(s string) string {
	const most = 400
	s = visible.Text(s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + masked
}

// longestRewrite bounds a rewritten request, address and body together.
const longestRewrite = 4 << 10

// mostShown bounds the rewritten requests of a notice that are shown.
const mostShown = 10

// ShownRewrites are the requests of a notice as they may be shown, and how many more there
// are: they have of query and body what the rule is about, and "…" for the rest.
func (n Notice) ShownRewrites(from Request) ([]Rewrite, int) {
	all := n.Rewrites
	if n.Rewrite != nil {
		all = []Rewrite{*n.Rewrite}
	}
	all = slices.Clone(all)
	for i, r := range all {
		if len(r.URL)+len(r.Body) > longestRewrite {
			return nil, len(all)
		}
		all[i].URL = maskQuery(r.URL[afterHost(r.URL):], from.URL)
		all[i].Body = maskBody(r.Body, from.Body)
	}
	if len(all) > mostShown {
		return all[:mostShown], len(all) - mostShown
	}
	return all, 0
}

// Masked is a notice of a request with its rewrites as they may be shown.
func (n Notice) Masked(from Request) Notice {
	all, more := n.ShownRewrites(from)
	n.Rewrite, n.Rewrites = nil, all
	if len(all) == 1 && more == 0 {
		n.Rewrite, n.Rewrites = &all[0], nil
	}
	return n
}

// maskQuery shows the parameters that the rewriting made, and of those that stand
// in the original address as they are the names.
func maskQuery(address, original string) string {
	path, query, ok := strings.Cut(address, "?")
	if !ok {
		return ShownPath(path)
	}
	query, _, _ = strings.Cut(query, "#")
	_, old, _ := strings.Cut(original, "?")
	old, _, _ = strings.Cut(old, "#")
	kept := strings.Split(old, "&")
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, hasValue := strings.Cut(pair, "=")
		switch {
		case pair == "match=any" || !slices.Contains(kept, pair):
			pairs[i] = visible.Text(pair)
		case hasValue && isWord().MatchString(name):
			pairs[i] = name + "=" + masked
		default:
			pairs[i] = masked
		}
	}
	return Clipped(path) + "?" + strings.Join(pairs, "&")
}

// isWord tells the name of a parameter from a value that stands alone.
var isWord = lazyregexp.New(`^[a-z_.]{1,40}$`)

// maskBody shows the members that the rewriting made, and of those that it left
// alone the names.
func maskBody(body json.RawMessage, original []byte) json.RawMessage {
	if !json.Valid(body) {
		return nil
	}
	return encodeJSON(maskValue(decodeJSON(body), decodeJSON(original)))
}

func maskValue(v, old any) any {
	switch v := v.(type) {
	case map[string]any:
		was, _ := old.(map[string]any)
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[Clipped(key)] = maskValue(member, was[key])
		}
		return out
	case []any:
		was, _ := old.([]any)
		out := make([]any, len(v))
		for i, element := range v {
			var before any
			if i < len(was) {
				before = was[i]
			}
			out[i] = maskValue(element, before)
		}
		return out
	case string, json.Number:
		if v == old {
			return masked
		}
		if s, ok := v.(string); ok {
			return Clipped(s)
		}
	}
	return v
}
