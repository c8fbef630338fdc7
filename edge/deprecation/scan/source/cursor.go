package source

import (
	"slices"
	"strings"
)

// cursor is where in the tokens of a file the parser is.
type cursor struct {
	lang   language
	tokens []token
	at     int
}

func (p *cursor) now() token { return p.token(p.at) }

func (p *cursor) peek() token { return p.token(p.at + 1) }

// token is the one at a position; behind the last there is the end.
func (p *cursor) token(at int) token { return p.tokens[min(at, len(p.tokens)-1)] }

func (p *cursor) step() token {
	t := p.now()
	if t.kind != end {
		p.at++
	}
	return t
}

func (p *cursor) is(marks ...string) bool {
	t := p.now()
	return t.kind == mark && slices.Contains(marks, t.text)
}

// breaks passes over line ends and comments.
func (p *cursor) breaks() {
	for p.now().kind == newline || p.now().kind == comment {
		p.at++
	}
}

// asName takes the name in "with … as name"; empty where there is none.
func (p *cursor) asName() string {
	t, next := p.now(), p.peek()
	if t.kind != name || t.text != "as" || next.kind != name {
		return ""
	}
	p.at += 2
	return next.text
}

// passOver passes over the words before a name, and its type arguments.
func (p *cursor) passOver() {
	for t := p.now(); t.kind == name && silent[t.text] && p.startsOperand(p.peek()); t = p.now() {
		p.at++
	}
	if past := p.pastTypes(p.at + 1); p.lang.typed && past > p.at+1 && p.now().kind == name && p.token(past).kind == name {
		p.at = past // HttpEntity<String> entity
	}
}

// targets are the names before the last one in "a, b := …".
func (p *cursor) targets(statement bool) (names []string) {
	if !statement {
		return nil
	}
	at := p.at
	for p.token(at).kind == name && p.token(at+1).kind == mark && p.token(at+1).text == "," && len(names) < 8 {
		names = append(names, p.token(at).text)
		at += 2
	}
	if len(names) > 0 && p.token(at).kind == name && p.token(at+1).kind == mark && (p.token(at+1).text == ":=" || p.token(at+1).text == "=") {
		p.at = at
		return names
	}
	return nil
}

// endsHere reports whether a colon ends a line, as behind Python's if.
func (p *cursor) endsHere() bool {
	k := p.peek().kind
	return k == newline || k == end || k == comment
}

// keyOf is the name that an expression from a position on can be: a string, or
// names joined by dots.
func (p *cursor) keyOf(from int, v *value) string {
	from = min(from, len(p.tokens))
	first := p.token(from)
	switch {
	case first.kind == str && p.at == from+1:
		return first.text
	case v.is == open && v.text != "":
		return v.text
	case p.markAt(from, "[") && p.at == from+3, p.markAt(from, ":") && p.at == from+2: // [key]: of Lua and TypeScript, :key
		return p.token(from + 1).text
	}
	return pathOf(p.tokens[from:min(p.at, len(p.tokens))])
}

// pathOf is "a.b.c" of tokens that are just that.
func pathOf(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		switch {
		case i%2 == 0 && t.kind == name:
			b.WriteString(t.text)
		case i%2 == 1 && t.kind == mark && isDot(t.text):
			b.WriteByte('.')
		default:
			return ""
		}
	}
	return b.String()
}

func isDot(mark string) bool { return mark == "." || mark == "::" || mark == "->" || mark == "?." }

// operator takes one that goes on with an expression; empty where none does. It
// may stand on the next line if that can begin no statement.
func (p *cursor) operator(left *value) string {
	at := p.at
	for p.token(at).kind == newline || p.token(at).kind == comment {
		at++
	}
	t := p.token(at)
	switch {
	case t.kind == name && at == p.at && (t.text == "or" || t.text == "and"), t.kind == mark && t.text == "?" && at == p.at,
		t.kind == mark && joinsTexts(t.text, left, p.lang) && (at == p.at || crossesLines(t.text)):
		p.at = at + 1
		return t.text
	}
	return ""
}

// startsOperand reports whether a token can begin one, so that the word before it
// is no name.
func (p *cursor) startsOperand(t token) bool {
	return t.kind == name || t.kind == str || t.kind == mark && (t.text == "[" || t.text == "!")
}

// skipNested passes over what is nested too deep, up to the end of its bracket.
func (p *cursor) skipNested() {
	depth := 0
	for ; p.now().kind != end; p.at++ {
		switch {
		case p.is("(", "[", "{", "@{", "%{", "@("):
			depth++
		case p.is(")", "]", "}"):
			if depth--; depth < 0 {
				return
			}
		}
	}
}
