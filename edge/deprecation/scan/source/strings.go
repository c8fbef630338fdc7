package source

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// string reads a literal that begins here, with its prefix; false where none does.
// A quote that its line does not close is none, so that an apostrophe costs
// nothing.
func (l *lexer) string() bool {
	prefix := l.prefix()
	i := l.at + len(prefix)
	if i >= len(l.text) {
		return false
	}
	q := l.text[i]
	if q != '"' && q != '\'' && q != '`' || prefix != "" && q == '`' {
		return l.long(l.text[l.at:])
	}
	s := l.begun(i, prefix)
	if i < l.unclosed[s.closing] || !l.closes(&s) {
		return false
	}
	l.take(s)
	return true
}

// begun is the literal whose first quote is at a position; its end is not known yet.
func (l *lexer) begun(i int, prefix string) literal {
	q := l.text[i]
	s := literal{open: i, prefix: strings.ToLower(prefix), quote: l.text[i : i+1]}
	if strings.HasPrefix(l.text[i:], strings.Repeat(s.quote, 3)) && q != '`' {
		s.quote = strings.Repeat(s.quote, 3)
	}
	s.closing = s.quote
	verbatim := strings.HasPrefix(s.prefix, "@")
	if verbatim && l.lang.power {
		s.closing = "\n" + s.quote + "@"
	}
	s.template = q == '`' && l.lang.inBack
	s.escapes = !strings.ContainsAny(s.prefix, "r@") && (q != '`' || s.template)
	s.lines = len(s.quote) == 3 || q == '`' && l.lang.backs || l.lang.lines || verbatim
	return s
}

// long reads Lua's [[…]], and here-documents.
func (l *lexer) long(rest string) bool {
	if l.lang.long && strings.HasPrefix(rest, "[[") {
		n := strings.Index(rest, "]]")
		if n > 0 {
			l.addString(token{text: rest[2:n], raw: true}, l.at+n+2)
		}
		return n > 0
	}
	return strings.HasPrefix(rest, "<<") && l.patience > 0 && l.document(rest)
}

// literal is where a string stands, and how.
type literal struct {
	open, close    int // of the first quote, and of what ends it
	prefix         string
	quote, closing string
	lines          bool // it goes over several
	escapes        bool // by backslashes
	template       bool // it has expressions, with strings in them
}

// endsBefore reports whether it cannot go on behind a line end at a position.
func (s *literal) endsBefore(at int) bool { return !s.lines || at-s.open > longestString }

// prefix are the letters and signs that may stand before a quote: f"", rb"", $"",
// @"", r#"".
func (l *lexer) prefix() string {
	to := l.at
	for to < len(l.text) && to-l.at < 3 && strings.IndexByte("fFrRbBuUlLcC$@", l.text[to]) >= 0 {
		to++
	}
	if to == l.at || to >= len(l.text) || l.text[to] != '"' && l.text[to] != '\'' {
		return ""
	}
	return l.text[l.at:to]
}

// closes finds the end of a string.
func (l *lexer) closes(s *literal) bool {
	depth := 0 // of the expressions of a template
	for i := s.open + len(s.quote); i < len(l.text); i++ {
		c := l.text[i]
		switch {
		case depth == 0 && strings.HasPrefix(l.text[i:], s.closing):
			s.close = i
			return true
		case c == '\n' && s.endsBefore(i):
			l.unclosed[s.closing] = i
			return false
		case c == '\\' && s.escapes && !l.lang.power:
			if i++; !s.lines && strings.HasPrefix(l.text[i:], "\n") {
				return false
			}
		case s.template && strings.HasPrefix(l.text[i:], "${"):
			depth++
		case c == '}':
			depth = max(depth-1, 0)
		}
	}
	l.unclosed[s.closing] = len(l.text)
	return false
}

// longestString bounds a string over several lines, in bytes.
const longestString = 1 << 18

// heredoc is the beginning of a here-document.
var heredoc = lazyregexp.New(`^<<[<~-]*['"]?([A-Z_]{2,})`)

// document reads <<~END … END: Ruby's, Perl's and PHP's. What follows the name on its line
// (.to_json, a bracket) is lost: the text counts.
func (l *lexer) document(rest string) bool {
	head, _, ends := strings.Cut(rest[:min(len(rest), longestText)], "\n")
	l.patience -= len(head)
	begin := heredoc().FindStringSubmatch(head)
	if !ends || begin == nil {
		return false
	}
	n := len(head) + 1
	for line := range strings.SplitAfterSeq(rest[n:], "\n") {
		if l.patience -= len(line); l.patience < 0 || n > longestString {
			return false
		}
		if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, begin[1]) {
			t := l.filled(rest[len(head)+1:n], true)
			t.line, t.raw = l.line+1, true
			l.addString(t, l.at+n)
			l.at += len(line) - len(trimmed) + len(begin[1])
			return true
		}
		n += len(line)
	}
	return false
}

// addString adds a literal that goes up to a position; where it has no line of its own it
// is on the line that it begins on.
func (l *lexer) addString(t token, to int) {
	l.add(str, t.text, to)
	last := &l.tokens[len(l.tokens)-1]
	last.fills, last.raw = t.fills, t.raw
	if t.line > 0 {
		last.line = t.line
	}
}

// take makes a token of a string.
func (l *lexer) take(s literal) {
	body := l.text[s.open+len(s.quote) : s.close]
	var t token
	switch {
	case s.quote[0] == '\'' && !strings.Contains(s.prefix, "f"):
		t = token{text: body}
	case strings.ContainsAny(s.prefix, "f$"):
		t = fill(body, "{")
	case s.template:
		t = fill(body, "${")
	default:
		t = l.filled(body, s.quote[0] == '"')
	}
	t.raw = strings.Contains(body, "\n")
	if s.escapes {
		t.text = escapes.Replace(t.text)
	}
	l.addString(t, s.close+len(s.closing))
}

// filled takes out what the language fills into double quotes.
func (l *lexer) filled(body string, double bool) token {
	if !double || l.lang.fills == "" {
		return token{text: body}
	}
	return fill(body, l.lang.fills)
}

// fill writes a hole for each placeholder that begins so. Behind a backslash none does,
// unless that begins it; of f"…{name}…", {{ is a brace.
func fill(body, begin string) token {
	if !strings.Contains(body, begin) {
		return token{text: body}
	}
	var t token
	var b strings.Builder
	for i := 0; i < len(body); {
		n := 0
		switch rest := body[i:]; {
		case begin == "{" && (strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}")):
			i++
		case strings.HasPrefix(rest, begin) && (i == 0 || body[i-1] != '\\' || begin[0] == '\\' || begin == "{"):
			n = call.Placeholder(rest)
		}
		if n == 0 {
			b.WriteByte(body[i])
			i++
			continue
		}
		b.WriteString(hole)
		t.fills = append(t.fills, nameIn(body[i:i+n]))
		i += n
	}
	t.text = b.String()
	return t
}

// accesses writes members as dots.
var accesses = strings.NewReplacer("->", ".", "?.", ".", "::", ".", "@", "", "$", "")

// dotted is a mere name, with dots.
var dotted = lazyregexp.New(`^[\w.]*$`)

// nameIn is the name in a placeholder, with dots; empty where it is no mere name.
func nameIn(placeholder string) string {
	inner := accesses.Replace(strings.Trim(placeholder, "${}#\\()! "))
	if !dotted().MatchString(inner) {
		return ""
	}
	return inner
}

// escapes are those that matter to addresses and to JSON; \( of Swift is none of them.
var escapes = strings.NewReplacer(`\/`, "/", `\"`, `"`, `\'`, "'", `\\`, `\`, "\\`", "`", `\$`, "$", `\#`, "#", `\n`, "\n", `\r`, " ", `\t`, " ", "\\\n", "")
