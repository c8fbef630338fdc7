package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/nearest"
)

// operators compare a term with values; longer signs stand before those that begin them.
var operators = [...]struct{ english, sign string }{
	{"in", ""},
	{"eq", "=="},
	{"ne", "!="},
	{"ge", ">="},
	{"le", "<="},
	{"gt", ">"},
	{"lt", "<"},
	{"bitwise_and", "&"},
	{"contains", ""},
	{"matches", "~"},
	{"wildcard", ""},
	{"strict wildcard", ""},
}

// operatorWords are all operators that are words.
var operatorWords = []string{
	"in", "eq", "ne", "ge", "le", "gt", "lt", "bitwise_and", "contains", "matches", "wildcard", "strict", "and", "or", "xor", "not",
}

// operator reads an operator. It is empty where none is next.
func (p *parser) operator() string {
	for _, o := range operators {
		if o.sign == "&" && strings.HasPrefix(p.rest(), "&&") {
			continue
		}
		if p.accept(o.english) || o.sign != "" && p.accept(o.sign) {
			return o.english
		}
	}
	return ""
}

// comparison reads what a term is compared with. A term that is compared with nothing is a
// condition itself.
func (p *parser) comparison(left *Term) (Node, bool) {
	end := p.at
	p.space()
	c := &Comparison{Left: left, OpAt: Span{At: p.at}}
	if c.Op = p.operator(); c.Op == "" {
		if word := p.rest()[:span(p.rest(), isLetterOrDigit)]; word == "" {
			if strings.HasPrefix(p.rest(), "=") {
				return nil, p.expected("an operator", "equal is == or eq")
			}
		} else if !slices.Contains(operatorWords, word) && (nearest.Word(word, operatorWords) != "" || isUpper(word)) {
			return nil, p.unknownOperator(p.at, word)
		}
		p.at = end
		return left, true
	}
	c.OpAt.To = p.at
	attached := p.at < len(p.text) && isLetterOrDigit(p.text[p.at-1]) && isLetterOrDigit(p.text[p.at])
	p.space()
	if !p.values(c) {
		if attached { // the engine takes "eq10", so that only now it is one
			p.mistake = nil
			return nil, p.unknownOperator(c.OpAt.At, p.text[c.OpAt.At:][:span(p.text[c.OpAt.At:], isLetterOrDigit)])
		}
		return nil, false
	}
	c.Span = Span{left.At, p.at}
	return c, true
}

// isUpper reports whether a word is an operator in upper case.
func isUpper(word string) bool {
	for _, o := range operatorWords {
		if word != o && strings.EqualFold(word, o) {
			return true
		}
	}
	return false
}

func (p *parser) unknownOperator(at int, word string) bool {
	hint := nearest.Hint(word, operatorWords, "an operator is one of eq, ne, lt, le, gt, ge, in, contains, matches, wildcard, strict wildcard")
	if isUpper(word) {
		hint = "operators are written in lower case"
	}
	return p.fail(Span{at, at + len(word)}, fmt.Sprintf("%q is no operator", word), hint)
}

// values reads what stands on the right.
func (p *parser) values(c *Comparison) bool {
	if c.Op == "in" {
		return p.set(c)
	}
	value, ok := p.value(c.Op == "matches")
	if !ok {
		return false
	}
	if value.Kind == Bare && c.Op != "in" && isSeveral(value.Text) {
		return p.fail(value.Span, fmt.Sprintf("%s is no single value", value.Text),
			fmt.Sprintf("networks and ranges stand in a set: in {%s}", value.Text))
	}
	c.Right = []Literal{value}
	return true
}

// value reads one value.
func (p *parser) value(regex bool) (Literal, bool) {
	rest := p.rest()
	switch {
	case p.startsText():
		return p.str(regex)
	case strings.HasPrefix(rest, "'"):
		return Literal{}, p.expected("a value", `strings stand in double quotes: "…"`)
	case strings.HasPrefix(rest, "{"), strings.HasPrefix(rest, "$"):
		return Literal{}, p.expected("one value", "a set and a list follow in")
	}
	word := rest[:span(rest, isWord)]
	if word == "true" || word == "false" {
		p.at += len(word)
		return Literal{Span{p.at - len(word), p.at}, Truth, word}, true
	}
	n := p.bare()
	switch {
	case n == 0 && word == "":
		return Literal{}, p.expected("a value", "")
	case !isBare(rest[:n]) && n < len(word):
		return Literal{}, p.expected("a value", "strings stand in double quotes; a field cannot be compared with another")
	case !isBare(rest[:n]):
		return Literal{}, p.fail(Span{p.at, p.at + n}, fmt.Sprintf("%q is no number, address, network or range", rest[:n]), whyNotBare(rest[:n]))
	}
	p.at += n
	return Literal{Span{p.at - n, p.at}, Bare, rest[:n]}, true
}

// set reads what follows "in": a named list, or values in braces.
func (p *parser) set(c *Comparison) bool {
	if strings.HasPrefix(p.rest(), "$") {
		return p.list(c)
	}
	start := p.at
	if !p.accept("{") {
		return p.expected(`"{" or "$"`, `"in" is followed by a set, {…}, or a list, $name`)
	}
	c.Right = []Literal{}
	for p.space(); !p.accept("}"); p.space() {
		switch {
		case p.at == len(p.text):
			return p.fail(Span{start, start + 1}, `"{" is not closed`, "")
		case strings.HasPrefix(p.rest(), ","):
			return p.expected(`a value or "}"`, "the values of a set are separated by blanks, without commas")
		case strings.HasPrefix(p.rest(), "$"):
			return p.expected("a value", "a list follows in without braces: in $name")
		}
		value, ok := p.value(false)
		if !ok {
			return false
		}
		c.Right = append(c.Right, value)
	}
	return true
}

// list reads $name.
func (p *parser) list(c *Comparison) bool {
	start := p.at
	p.at++
	n := span(p.rest(), func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'z' || c == '_' || c == '.' })
	name := p.rest()[:n]
	if name == "" || name[0] == '.' || name[n-1] == '.' {
		return p.fail(Span{start, start + 1 + n}, "expected the name of a list after $", "it has lower-case letters, digits and _")
	}
	p.at += n
	c.Right = []Literal{{Span{start, p.at}, List, name}}
	return true
}
