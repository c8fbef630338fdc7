package source

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// kind of a token.
type kind int

const (
	end kind = iota
	name
	str
	number
	mark // an operator or a bracket
	newline
	comment
)

// token is a word of a program. The text of a string is between its quotes, with
// the escapes undone; what a program fills in is written as hole, and the names of
// those that are only a name are kept.
type token struct {
	kind     kind
	text     string
	line     int
	from, to int
	fills    []string // one for each hole: a name, or empty
	spaced   bool     // a space or a line end stands before it
	raw      bool     // the lines of the text are lines of the input
}

// hole stands for what a program fills in. No address and no JSON has it.
const hole = "\x00"

// lexer cuts a text into tokens.
type lexer struct {
	text   string
	at     int
	line   int
	lang   language
	tokens []token
	// unclosed says for a quote up to where nothing closes it; patience is how many
	// bytes may still be searched in vain. Without them a text of quotes would take
	// the square of its length.
	unclosed map[string]int
	patience int
}

// mostTokens bounds how much of one file is read as a program; what follows is
// searched as text.
const mostTokens = 1 << 21

// perToken is how many bytes of a program have a token, about.
const perToken = 5

func lex(text string, lang language) []token {
	l := &lexer{text: text, line: 1, lang: lang, unclosed: map[string]int{}, patience: 8*len(text) + 1<<16}
	l.tokens = make([]token, 0, min(len(text)/perToken, mostTokens)+1)
	for l.at < len(l.text) && len(l.tokens) < mostTokens {
		l.next()
	}
	return append(l.tokens, token{kind: end, line: l.line, from: len(text), to: len(text)})
}

func (l *lexer) add(k kind, text string, to int) {
	spaced := l.at == 0 || strings.IndexByte(" \t\r\n", l.text[l.at-1]) >= 0
	l.tokens = append(l.tokens, token{kind: k, text: text, line: l.line, from: l.at, to: to, spaced: spaced})
	l.line += strings.Count(l.text[l.at:to], "\n")
	l.at = to
}

func (l *lexer) next() {
	c := l.text[l.at]
	switch {
	case c == '\n':
		l.add(newline, "", l.at+1)
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case l.takesBack(c):
		l.skipBreak()
	case l.comment() || l.string() || l.pattern():
	case beginsName(l.text[l.at:]):
		l.name()
	case c >= '0' && c <= '9':
		l.number()
	default:
		l.mark()
	}
}

// beginsName reports whether a text begins with a name, or with one behind the sign of a variable.
func beginsName(text string) bool {
	if c := text[0]; c != '$' && c != '@' {
		return call.IsLetter(c) || c >= 0x80
	}
	return len(text) > 1 && call.IsLetter(text[1])
}

// takesBack reports whether a character takes the end of the line back.
func (l *lexer) takesBack(c byte) bool {
	return c == '\\' && !l.lang.power && strings.HasPrefix(l.text[l.at+1:], "\n") || c == '`' && l.lang.power
}

// skipBreak passes over a line end that a character before it takes back.
func (l *lexer) skipBreak() {
	l.at++
	for l.at < len(l.text) && (l.text[l.at] == '\r' || l.text[l.at] == '\n') {
		if l.text[l.at] == '\n' {
			l.at++
			l.line++
			return
		}
		l.at++
	}
}

func (l *lexer) comment() bool {
	rest := l.text[l.at:]
	for _, c := range l.lang.comments {
		begin, closing := c[0], c[1]
		if !strings.HasPrefix(rest, begin) || begin == "#" && strings.HasPrefix(rest, "#{") {
			continue
		}
		to := len(rest)
		if n := strings.Index(rest[len(begin):], closing); n >= 0 {
			to = len(begin) + n + len(strings.TrimSuffix(closing, "\n"))
		}
		l.add(comment, rest[:to], l.at+to)
		return true
	}
	return false
}

// pattern passes over /…/ where an operand is expected: no quote and no comment begins in it.
func (l *lexer) pattern() bool {
	if !l.lang.regexp || l.text[l.at] != '/' || l.patience < 0 || !l.expectsOperand() {
		return false
	}
	class := false
	for i := l.at + 1; i < len(l.text) && l.text[i] != '\n'; i++ {
		switch c := l.text[i]; {
		case c == '\\':
			i++
		case c == '[', c == ']':
			class = c == '['
		case c == '/' && !class:
			l.add(mark, "/re/", i+1)
			return true
		}
		l.patience--
	}
	return false
}

func (l *lexer) expectsOperand() bool {
	if len(l.tokens) == 0 {
		return true
	}
	last := l.tokens[len(l.tokens)-1]
	switch last.kind {
	case newline, comment:
		return true
	case mark:
		return strings.IndexByte(")]}", last.text[len(last.text)-1]) < 0
	case name:
		return last.text == "return"
	}
	return false
}

func (l *lexer) name() {
	to := l.at + 1
	for to < len(l.text) {
		c := l.text[to]
		hyphen := l.lang.words && c == '-' && to+1 < len(l.text) && call.IsLetter(l.text[to+1]) && l.text[l.at] != '$'
		if !call.IsLetter(c) && (c < '0' || c > '9') && c < 0x80 && !hyphen {
			break
		}
		to++
	}
	l.add(name, strings.TrimLeft(l.text[l.at:to], "$@"), to)
}

func (l *lexer) number() {
	to := l.at + 1
	for to < len(l.text) && (l.text[to] >= '0' && l.text[to] <= '9' || call.IsLetter(l.text[to]) || l.text[to] == '.' && to+1 < len(l.text) && l.text[to+1] >= '0' && l.text[to+1] <= '9') {
		to++
	}
	l.add(number, l.text[l.at:to], to)
}

// marks are the operators of more than one character that matter, longest first.
var marks = []string{"===", "!==", "...", "<=>", "||=", "??=", ":=", "=>", "->", "::", "?.", "??", "++", "<>", "..", "||", "&&", "==", "!=", "<=", ">=", "+=", ".=", "|>", "<<", ">>", "@{", "%{", "@("}

// marksBy are the marks by their first character.
var marksBy = func() (by [256][]string) {
	for _, m := range marks {
		by[m[0]] = append(by[m[0]], m)
	}
	return by
}()

func (l *lexer) mark() {
	for _, m := range marksBy[l.text[l.at]] {
		if strings.HasPrefix(l.text[l.at:], m) {
			l.add(mark, m, l.at+len(m))
			return
		}
	}
	l.add(mark, l.text[l.at:l.at+1], l.at+1)
}
