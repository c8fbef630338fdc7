package source

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// value is what an expression is, as far as the file shows it.
type value struct {
	is     shape
	text   string // of a text, with holes; of a word as it stands; of what is open its name
	line   int    // of the first string in it, or of the expression
	tokens []int  // the strings it is made of
	keys   []string
	items  []*value // of a list, or, with keys, of an object
	query  []string // what was added to an address
	req    *request // what the methods of a builder are about
}

// shape of a value.
type shape int

const (
	open   shape = iota
	text         // a string
	word         // true, false, null or a number
	list         // […]
	object       // {…}
)

// atom is a value that is open, with the name it has.
func atom(name string, line int) *value { return &value{is: open, text: name, line: line} }

// bounds of a value.
const (
	longestText = 8 << 10 // of one that is not a body as it stands
	mostItems   = 4 << 10
)

// concat joins two values as texts. What is open is a hole.
func concat(a, b *value) *value {
	if a.is == object || a.is == list && b.is != text {
		return a
	}
	if a.is != text && b.is != text {
		return atom("", a.line)
	}
	line := a.line
	if a.is != text {
		line = b.line
	}
	out := &value{is: text, text: a.piece() + b.piece(), line: line, tokens: slices.Clip(a.tokens), query: append(slices.Clip(a.query), b.query...)}
	out.add(b.tokens)
	if len(out.text) > longestText {
		out.text = out.text[:longestText]
	}
	return out
}

// add notes more strings that a text is made of.
func (v *value) add(tokens []int) {
	if len(v.tokens)+len(tokens) <= mostPieces {
		v.tokens = append(v.tokens, tokens...)
	}
}

// mostPieces bounds the strings of one text that are told apart.
const mostPieces = 256

// piece is the value within a text.
func (v *value) piece() string {
	switch v.is {
	case text, word:
		return v.text
	case object:
		return v.form()
	}
	return hole
}

// get is a member of an object; nil where it has none of these names. Names are
// compared without case and underscores.
func (v *value) get(names ...string) *value {
	if v == nil || v.is != object {
		return nil
	}
	for _, name := range names {
		for i, key := range v.keys {
			if plainName(key) == name {
				return v.items[i]
			}
		}
	}
	return nil
}

// plainName is a name in lower case without underscores and hyphens.
func plainName(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// set adds a member, or replaces it.
func (v *value) set(key string, item *value) {
	if i := slices.Index(v.keys, key); i >= 0 {
		v.items[i] = item
		return
	}
	if len(v.items) < mostItems {
		v.keys, v.items = append(v.keys, key), append(v.items, item)
	}
}

// form is an object as a query: name=value&….
func (v *value) form() string {
	var pairs []string
	for i, item := range v.items {
		key := ""
		if i < len(v.keys) {
			key = v.keys[i]
		}
		switch {
		case v.is == list && item.is == list && len(item.items) == 2: // [("name", "value")]
			pairs = append(pairs, item.items[0].piece()+"="+escaped(item.items[1]))
		case item.is == list:
			for _, one := range item.items {
				pairs = append(pairs, key+"="+escaped(one))
			}
		case key != "":
			pairs = append(pairs, key+"="+escaped(item))
		}
	}
	return strings.Join(pairs, "&")
}

// escaped is a value in a query; what is open stays so.
func escaped(v *value) string { return call.Escaped(v.piece(), hole) }

// json is the value as a body; nil where it is none.
func (v *value) json() []byte {
	switch v.is {
	case text:
		if t := strings.TrimSpace(v.text); t == "" || t[0] != '{' && t[0] != '[' {
			return nil
		}
		return []byte(strings.ReplaceAll(v.text, hole, call.Open)) // {} in a string, an empty object outside
	case object, list:
		body, err := json.Marshal(v.plain(0))
		if err != nil {
			return nil
		}
		return body
	}
	return nil
}

// deepest bounds how deep values are nested.
const deepest = 64

func (v *value) plain(depth int) any {
	if depth > deepest {
		return nil
	}
	switch v.is {
	case text:
		return strings.ReplaceAll(v.text, hole, call.Open)
	case word:
		switch lower := strings.ToLower(v.text); {
		case lower == "true" || lower == "false":
			return lower == "true"
		case json.Valid([]byte(v.text)):
			return json.Number(v.text)
		}
	case list:
		out := []any{}
		for _, item := range v.items {
			out = append(out, item.plain(depth+1))
		}
		return out
	case object:
		out := map[string]any{}
		for i, item := range v.items {
			out[v.keys[i]] = item.plain(depth + 1)
		}
		return out
	}
	return nil
}

// address is the value as an address with its query; false where it is none.
func (v *value) address() (string, bool) {
	if v == nil || v.is != text {
		return "", false
	}
	written := strings.ReplaceAll(call.WithQuery(v.text, strings.Join(v.query, "&")), hole, call.Open)
	return written, call.IsAddress(written)
}
