package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/visible"
)

// masked stands for what a report does not show.
const masked = "…"

// pathOf is the path of an address: what precedes it may name a person, and what
// follows it may be a token.
func pathOf(address string) string {
	if i := strings.IndexByte(address, '?'); i >= 0 {
		address = address[:i]
	}
	if i := strings.IndexByte(address, '#'); i >= 0 && !strings.HasPrefix(address[i:], "#{") {
		address = address[:i]
	}
	return clipped(withoutHost(address))
}

func withoutHost(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || strings.ContainsAny(scheme, "/{$%") {
		return address
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// clipped is a text as it may stand in a report: one line, and not too long.
func clipped(s string) string {
	const most = 400
	s = printable(s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + masked
}

func printable(s string) string { return visible.Text(s) }

// longestRewrite bounds a rewritten request, address and body together.
const longestRewrite = 4 << 10

// rewrites are the requests of a notice without what the rule is not about, and
// how many more there are.
func rewrites(n deprecation.Notice, from deprecation.Request) ([]deprecation.Rewrite, int) {
	all := n.Rewrites
	if n.Rewrite != nil {
		all = []deprecation.Rewrite{*n.Rewrite}
	}
	all = slices.Clone(all)
	for i, r := range all {
		if len(r.URL)+len(r.Body) > longestRewrite {
			return nil, len(all)
		}
		all[i].URL = maskQuery(withoutHost(r.URL), from.URL)
		all[i].Body = maskBody(r.Body, from.Body)
	}
	if len(all) > maxRewrites {
		return all[:maxRewrites], len(all) - maxRewrites
	}
	return all, 0
}

// Masked is a notice of a request as it may be shown: its rewrites have of query
// and body what the rule is about, and "…" for the rest.
func Masked(n deprecation.Notice, from deprecation.Request) deprecation.Notice {
	all, more := rewrites(n, from)
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
		return pathOf(path)
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
			pairs[i] = printable(pair)
		case hasValue && isWord(name):
			pairs[i] = name + "=" + masked
		default:
			pairs[i] = masked
		}
	}
	return clipped(path) + "?" + strings.Join(pairs, "&")
}

// isWord tells the name of a parameter from a value that stands alone.
func isWord(name string) bool {
	return len(name) > 0 && len(name) <= 40 && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && r != '_' && r != '.'
	}) < 0
}

// maskBody shows the members that the rewriting made, and of those that it left
// alone the names.
func maskBody(body json.RawMessage, original []byte) json.RawMessage {
	if len(body) == 0 {
		return nil
	}
	next, ok := decode(body)
	if !ok {
		return nil
	}
	old, _ := decode(original)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(maskValue(next, old)) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

func decode(text []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

func maskValue(v, old any) any {
	switch v := v.(type) {
	case map[string]any:
		was, _ := old.(map[string]any)
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[clipped(key)] = maskValue(member, was[key])
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
			return clipped(s)
		}
	}
	return v
}
