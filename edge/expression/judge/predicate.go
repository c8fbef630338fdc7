package judge

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge/expression/eval"
)

// predicate is what an operator says of a term beside the values that it has.
type predicate struct {
	op   string // its name, or that of the function
	text string
	// regexp is compiled of text, where it means here what it means on the platform.
	regexp *regexp.Regexp
}

// key is a form that no other predicate has.
func (p *predicate) key() string { return p.op + " " + strconv.Quote(p.text) }

// of tells whether the predicate is true of a value, where that can be told.
func (p *predicate) of(value string) (is, known bool) {
	switch p.op {
	case "contains":
		return strings.Contains(value, p.text), true
	case "starts_with":
		return strings.HasPrefix(value, p.text), true
	case "ends_with":
		return strings.HasSuffix(value, p.text), true
	case "wildcard", "strict wildcard":
		return wildcard(p.text, value, p.op == "wildcard")
	case "matches":
		if p.regexp != nil && isASCII(value) {
			return p.regexp.MatchString(value), true
		}
	}
	return false, false
}

// follows reports whether the predicate is true of each value that a term has, by what is known
// of it.
func (p *predicate) follows(t term) bool {
	switch p.op {
	case "contains":
		return strings.Contains(t.begins, p.text) || strings.Contains(t.within, p.text)
	case "starts_with":
		return strings.HasPrefix(t.begins, p.text)
	case "ends_with":
		return p.text == ""
	case "wildcard", "strict wildcard":
		// A star takes what a value has beside that.
		fold := p.op == "wildcard"
		if !strings.HasSuffix(p.text, "*") || strings.HasSuffix(p.text, `\*`) {
			return false
		}
		begins, _ := wildcard(p.text, t.begins, fold)
		within, _ := wildcard(p.text, t.within, fold)
		return begins || within && strings.HasPrefix(p.text, "*")
	case "matches":
		return regexFollows(p.text, t)
	}
	return false
}

// regexFollows reads the usual forms of a regular expression that matches each value: a literal
// part of what is known of it, with or without ^ before it, and .* around it.
func regexFollows(pattern string, t term) bool {
	pattern = strings.NewReplacer("(.*)", ".*", "(.+)", ".+", `\/`, "/").Replace(pattern)
	rest, anchored := strings.CutPrefix(pattern, "^")
	if rest == "$" && !anchored {
		return true
	}
	// A dot stops at a line break: no field of the table has one.
	if cut, ended := strings.CutSuffix(rest, ".*$"); ended && t.present {
		rest = cut
	}
	rest = strings.TrimSuffix(rest, ".*")
	if cut, open := strings.CutPrefix(rest, ".*"); open && t.present {
		rest, anchored = cut, false
	}
	switch {
	case rest == ".", rest == ".+", rest == ".+$":
		return t.begins != ""
	case strings.ContainsAny(rest, `\^$.|?*+()[]{}`):
		return false
	case anchored:
		return strings.HasPrefix(t.begins, rest)
	}
	return strings.Contains(t.begins, rest) || strings.Contains(t.within, rest)
}

// mostRegexps is how many regular expressions of one expression are compiled, and longestRegexp
// how long each may be.
const (
	mostRegexps   = 16
	longestRegexp = 128
)

// compile compiles the text, if it means the same to the engine of the platform and to that of
// Go: without classes, counts and flags.
func (p *predicate) compile() {
	if len(p.text) > longestRegexp || strings.ContainsAny(p.text, "[]{}") || strings.Contains(p.text, "(?") {
		return
	}
	for i := range len(p.text) {
		escapes := p.text[i] == '\\' && (i+1 == len(p.text) || strings.IndexByte(`./-`, p.text[i+1]) < 0)
		if escapes || p.text[i] < ' ' || p.text[i] > '~' {
			return
		}
	}
	p.regexp, _ = regexp.Compile(p.text) // nil where the platform reads it and Go does not
}

// mostSteps bounds the work of one match with wildcards.
const mostSteps = 4096

// wildcard tells whether a pattern matches all of a value. It is not known for what is no
// pattern, and for very long ones.
func wildcard(pattern, value string, fold bool) (is, known bool) {
	if len(pattern)*len(value) > mostSteps {
		return false, false
	}
	return eval.Wildcard(pattern, value, fold)
}
