package fix

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
	"github.com/seawall-dev/seawall/edge/deprecation/scan/terraform"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
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
	var out []string
	for _, text := range texts {
		if edited, ok := body(text, c.Body, want.Body); ok {
			out = append(out, edited)
		}
		if edited, ok := terraform.Reshape(text, c.Body, want.Body); ok {
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

// body changes the JSON text in a part of a file that is the old body.
func body(part string, old, wanted []byte) (string, bool) {
	for i := range len(part) {
		if part[i] != '{' && part[i] != '[' {
			continue
		}
		d := json.NewDecoder(strings.NewReader(part[i:]))
		var text json.RawMessage
		if d.Decode(&text) != nil || !same(text, old) {
			continue
		}
		end := i + int(d.InputOffset())
		edited, ok := reshape([]byte(part[i:end]), wanted)
		return part[:i] + string(edited) + part[end:], ok
	}
	return "", false
}

// filled are the variables of a REST client, which are open in what was read.
var filled = lazyregexp.New(`\{\{[^{}]*\}\}`)

// same reports whether a text is a body, what is filled in left aside.
func same(text, body []byte) bool {
	return sameJSON(text, body) || sameJSON(filled().ReplaceAll(text, []byte("{}")), body)
}

// reshape changes the text of an object as little as it takes to have another
// value: members that are gone are cut out, others replaced, new ones put first.
func reshape(text, wanted []byte) ([]byte, bool) {
	var target map[string]json.RawMessage
	if json.Unmarshal(wanted, &target) != nil {
		return wanted, json.Valid(wanted)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return wanted, true
	}
	out, at := []byte{}, 0
	var kept []string
	for d.More() {
		before := int(d.InputOffset())
		key, value, ok := member(d)
		if !ok {
			return nil, false
		}
		end := int(d.InputOffset())
		next, stays := target[key]
		switch {
		case !stays:
			out = append(out, text[at:before]...)
		case same(value, next):
			out = append(out, text[at:end]...)
		default:
			inner, ok := reshape(value, next)
			if !ok {
				return nil, false
			}
			out = append(append(out, text[at:end-len(value)]...), inner...)
		}
		if at = end; stays {
			kept = append(kept, key)
		} else if len(kept) == 0 {
			at = behindComma(text, end) // its comma goes with it
		}
	}
	out = append(out, text[at:]...)
	if len(kept) != len(target) {
		return wanted, true // a member that is new: the whole is written again
	}
	return out, json.Valid(out)
}

// member reads the next member of an object.
func member(d *json.Decoder) (key string, value json.RawMessage, ok bool) {
	t, err := d.Token()
	if key, ok = t.(string); err != nil || !ok {
		return "", nil, false
	}
	err = d.Decode(&value)
	return key, value, err == nil
}

// behindComma is where the text goes on behind a comma at a position; the position
// itself where there is no comma.
func behindComma(text []byte, at int) int {
	rest := bytes.TrimLeft(text[at:], " \t\r\n")
	if len(rest) == 0 || rest[0] != ',' {
		return at
	}
	return len(text) - len(bytes.TrimLeft(rest[1:], " \t\r\n"))
}
