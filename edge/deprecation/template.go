package deprecation

import (
	"fmt"
	"strings"
)

// template is a path of the calendar, taken apart.
type template struct {
	segments []segment
	rest     bool // ends in "...": whatever follows, nothing included
}

// segment is a word of a path, or a parameter.
type segment struct {
	text  string // the word, or the parameter's name
	param bool
}

// parseTemplate reads a path with parameters written ":name" or "{name}". A
// path that begins with a parameter would match everything, so it is refused.
func parseTemplate(path string) (template, error) {
	var t template
	words := strings.Split(strings.Trim(path, "/"), "/")
	if last := len(words) - 1; words[last] == "..." {
		t.rest, words = true, words[:last]
	}
	for _, word := range words {
		s, err := parseSegment(word)
		if err != nil {
			return template{}, fmt.Errorf("path %q: %w", path, err)
		}
		t.segments = append(t.segments, s)
	}
	if len(t.segments) == 0 || t.segments[0].param {
		return template{}, fmt.Errorf("path %q does not begin with a word", path)
	}
	return t, nil
}

func parseSegment(word string) (segment, error) {
	name, colon := strings.CutPrefix(word, ":")
	if inner, ok := strings.CutPrefix(word, "{"); ok && strings.HasSuffix(inner, "}") {
		name, colon = strings.TrimSuffix(inner, "}"), true
	}
	switch {
	case word == "":
		return segment{}, fmt.Errorf("an empty segment")
	case word == "...":
		return segment{}, fmt.Errorf(`"..." stands at the end only`)
	case colon && name == "":
		return segment{}, fmt.Errorf("a parameter without a name")
	case strings.ContainsAny(word, "?#% "):
		return segment{}, fmt.Errorf("%q is not a plain segment", word)
	}
	return segment{text: name, param: colon}, nil
}

// filled writes the template with the values that another one, from, has for
// its parameters. Values are raw, and so is what is written.
func (t template) filled(from template, raw []string) (string, bool) {
	values := map[string]string{}
	for i, s := range from.segments {
		if s.param {
			values[s.text] = raw[i]
		}
	}
	var out []string
	for _, s := range t.segments {
		word := s.text
		if s.param {
			value, known := values[s.text]
			if !known {
				return "", false
			}
			word = value
		}
		out = append(out, word)
	}
	if t.rest {
		out = append(out, raw[len(from.segments):]...)
	}
	return strings.Join(out, "/"), true
}
