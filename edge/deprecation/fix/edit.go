package fix

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
)

// candidates are the texts that may make another request of a part of a file: each
// with the smallest change to the address, to the body, or to both.
func candidates(part string, c scan.Call, want deprecation.Rewrite) []string {
	texts := []string{part}
	if want.URL != c.URL {
		texts = addresses(part, c.URL, want.URL)
	}
	if len(want.Body) == 0 || sameJSON(c.Body, want.Body) {
		return texts
	}
	var was, next any
	_, _ = json.Unmarshal(c.Body, &was), json.Unmarshal(want.Body, &next) // what is no JSON has no members
	var out []string
	for _, text := range texts {
		for _, around := range commas {
			edited := text
			for _, m := range changes(was, next) {
				edited = m.in(edited, around)
			}
			out = append(out, edited)
		}
	}
	return out
}

// addresses replaces what differs between two addresses, where it stands once.
func addresses(part, old, wanted string) []string {
	oldPath, oldQuery, _ := strings.Cut(old, "?")
	newPath, newQuery, _ := strings.Cut(wanted, "?")
	if oldPath != newPath {
		return once(part, segments(oldPath, newPath))
	}
	from, to := pairs(oldQuery, newQuery)
	return once(part, [][2]string{{from, to}, {unescaped(from), unescaped(to)}, {"'" + unescaped(from) + "'", "'" + unescaped(to) + "'"}})
}

// once makes each replacement whose old text stands exactly once.
func once(part string, replacements [][2]string) []string {
	var out []string
	for _, r := range replacements {
		if r[0] != "" && strings.Count(part, r[0]) == 1 {
			out = append(out, strings.Replace(part, r[0], r[1], 1))
		}
	}
	return out
}

// segments are the words of a path that differ, with those beside them, so that
// they are told from the same words elsewhere.
func segments(old, wanted string) [][2]string {
	a, b := strings.Split(old, "/"), strings.Split(wanted, "/")
	if len(a) != len(b) {
		return nil
	}
	var out [][2]string
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		if i+1 < len(a) {
			out = append(out, [2]string{"/" + a[i] + "/" + a[i+1], "/" + b[i] + "/" + b[i+1]})
		}
		out = append(out, [2]string{a[i-1] + "/" + a[i], b[i-1] + "/" + b[i]}, [2]string{"/" + a[i] + "/", "/" + b[i] + "/"})
	}
	return out
}

// pairs are the parameters that differ between two queries.
func pairs(old, wanted string) (from, to string) {
	a, b := strings.Split(old, "&"), strings.Split(wanted, "&")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, "&"), strings.Join(b, "&")
}

func unescaped(text string) string {
	if out, err := url.QueryUnescape(text); err == nil {
		return out
	}
	return text
}

// change is a member of a body that goes away, or gets another text.
type change struct {
	name      string
	was, next any
	stays     bool
}

// changes are what differs between two bodies.
func changes(was, next any) (out []change) {
	switch was := was.(type) {
	case map[string]any:
		next, _ := next.(map[string]any)
		for name, old := range was {
			wanted, stays := next[name]
			switch _, isText := old.(string); {
			case stays && !isText:
				out = append(out, changes(old, wanted)...)
			case !stays || old != wanted:
				out = append(out, change{name, old, wanted, stays})
			}
		}
	case []any:
		next, _ := next.([]any)
		for i := range min(len(was), len(next)) {
			out = append(out, changes(was[i], next[i])...)
		}
	}
	return out
}

// commas are what may go with a member that goes away: its line where nothing else stands
// there, the comma before it, or the one behind it.
var commas = []struct{ before, after string }{{`(?m:^[ \t]*)`, `,?[ \t]*\n`}, {`,\s*`, ``}, {``, `\s*,\s*`}}

// in makes the change in a text of JSON or of HCL in which the member stands once. What a
// program fills in is open in what was read.
func (c change) in(text string, around struct{ before, after string }) string {
	written := strings.ReplaceAll(regexp.QuoteMeta(encoded(c.was)), regexp.QuoteMeta("{}"), `(?:\{\}|[^"\n]*)`)
	member := fmt.Sprintf(`("?\b%s"?\s*[:=]\s*)%s`, regexp.QuoteMeta(c.name), written)
	alone := regexp.MustCompile(member)
	next := encoded(c.next)
	if len(alone.FindAllStringIndex(text, 2)) != 1 || strings.Contains(next, "{}") {
		return text
	}
	if c.stays {
		return alone.ReplaceAllString(text, "${1}"+strings.ReplaceAll(next, "$", "$$"))
	}
	if whole := regexp.MustCompile(around.before + member + around.after); whole.MatchString(text) {
		return whole.ReplaceAllString(text, "")
	}
	return alone.ReplaceAllString(text, "")
}

// encoded is a value as people write it.
func encoded(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it was JSON
	return strings.TrimSpace(b.String())
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
