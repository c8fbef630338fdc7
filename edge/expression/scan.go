package expression

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanner reads the text of an expression from front to back. What fails sets mistake, and
// everything after it fails too.
type scanner struct {
	text    string
	at      int
	mistake *Mistake
	tab     int
	comment []Span
}

func (s *scanner) rest() string { return s.text[s.at:] }

// fail notes a mistake at a span, if there is none yet. It returns false, for the caller to pass.
func (s *scanner) fail(at Span, message, hint string) bool {
	if s.mistake == nil {
		s.mistake = &Mistake{Span: at, Message: message, Hint: hint}
	}
	return false
}

// space skips blanks, line breaks and comments.
func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\r', '\n':
			s.at++
		case '\t':
			if s.tab == 0 {
				s.tab = s.at + 1
			}
			s.at++
		case '#':
			line, _, _ := strings.Cut(s.rest(), "\n")
			if n := len(s.comment); n == 0 || s.comment[n-1].At < s.at { // else it was skipped before
				s.comment = append(s.comment, Span{s.at, s.at + len(line)})
			}
			s.at += len(line)
		default:
			return
		}
	}
}

// accept skips a text if it is next.
func (s *scanner) accept(text string) bool {
	if !strings.HasPrefix(s.rest(), text) {
		return false
	}
	s.at += len(text)
	return true
}

// found is what is next as a mistake says it.
func (s *scanner) found() (Span, string) {
	if s.at == len(s.text) {
		return Span{s.at, s.at}, "the end"
	}
	n := max(1, span(s.rest(), isWord))
	if s.text[s.at] >= 0x80 {
		_, n = utf8.DecodeRuneInString(s.rest())
	}
	return Span{s.at, s.at + n}, strconv.Quote(s.text[s.at : s.at+n])
}

// expected fails with what should be next.
func (s *scanner) expected(what, hint string) bool {
	at, found := s.found()
	return s.fail(at, fmt.Sprintf("expected %s, found %s", what, found), hint)
}

// name reads the name of a field or a function.
func (s *scanner) name() (string, bool) {
	start := s.at
	for {
		n := span(s.rest(), isLetterOrDigit)
		if n == 0 {
			return "", s.expected("a field or a function", s.instead(start))
		}
		s.at += n
		if !s.accept(".") {
			return s.text[start:s.at], true
		}
	}
}

// instead is what to try where a name should be.
func (s *scanner) instead(start int) string {
	switch {
	case start < s.at:
		return "the parts of a name are joined by one dot, and each has letters, digits and _"
	case s.at == len(s.text):
		return ""
	}
	switch s.text[s.at] {
	case '"', '\'':
		return `the field stands first: http.host eq "shop.example"`
	case ')':
		return "something is missing before it, or it closes nothing"
	}
	return ""
}

// str reads "…", r"…" or r#"…"#. A regular expression in "…" has escapes of its own.
func (s *scanner) str(regex bool) (Literal, bool) {
	start := s.at
	var text string
	var ok bool
	switch {
	case s.text[s.at] == 'r':
		text, ok = s.raw()
	case regex:
		text, ok = s.quotedRegex()
	default:
		text, ok = s.quoted()
	}
	return Literal{Span{start, s.at}, Text, text}, ok
}

// startsText reports whether a string is next.
func (s *scanner) startsText() bool {
	rest := s.rest()
	return strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, `r"`) || strings.HasPrefix(rest, "r#")
}

func (s *scanner) notClosed(start int, with string) bool {
	return s.fail(Span{start, start + 1}, "the string that begins here is not closed", "it ends with "+with)
}

// quoted reads "…" with the escapes \" \\ \xHH and \OOO.
func (s *scanner) quoted() (string, bool) {
	start := s.at
	var text strings.Builder
	for s.at++; s.at < len(s.text); {
		switch c := s.text[s.at]; c {
		case '"':
			s.at++
			return text.String(), true
		case '\\':
			value, ok := s.escape(start)
			if !ok {
				return "", false
			}
			text.WriteByte(value)
		default:
			text.WriteByte(c)
			s.at++
		}
	}
	return "", s.notClosed(start, `"`)
}

// escape reads an escape in a quoted string.
func (s *scanner) escape(start int) (byte, bool) {
	digits, base, length := s.rest()[1:], 8, 3
	if digits == "" {
		return 0, s.notClosed(start, `"`)
	}
	skip := 1
	switch c := digits[0]; {
	case c == '"', c == '\\':
		s.at += 2
		return c, true
	case c == 'x':
		digits, base, length, skip = digits[1:], 16, 2, 2
	}
	if len(digits) >= length {
		if value, err := strconv.ParseUint(digits[:length], base, 8); err == nil {
			s.at += skip + length
			return byte(value), true
		}
	}
	return 0, s.fail(Span{s.at, min(s.at+2, len(s.text))}, `expected ", \, xHH or OOO after \`,
		`a backslash is written \\; r"…" takes everything as it is`)
}

// quotedRegex reads "…" as a regular expression: it keeps escapes but \", and inside […] a quote
// is a character.
func (s *scanner) quotedRegex() (string, bool) {
	start := s.at
	var text strings.Builder
	class := false
	for s.at++; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		switch {
		case c == '\\' && s.at+1 < len(s.text):
			s.at++
			if class || s.text[s.at] != '"' {
				text.WriteByte('\\')
			}
			c = s.text[s.at]
		case c == '"' && !class:
			s.at++
			return text.String(), true
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		text.WriteByte(c)
	}
	return "", s.notClosed(start, `"; in a regular expression a quote between [ and ] is a character`)
}

// raw reads r"…", r#"…"# and so on: it ends with a quote and as many # as it began with.
func (s *scanner) raw() (string, bool) {
	start := s.at
	hashes := span(s.rest()[1:], func(c byte) bool { return c == '#' })
	shut := `"` + s.text[start+1:start+1+hashes]
	switch body, isRaw := strings.CutPrefix(s.text[start+1+hashes:], `"`); {
	case hashes > 255:
		return "", s.fail(Span{start, start + 1}, "a raw string has at most 255 #", "")
	case !isRaw:
		return "", s.fail(Span{start, start + 1 + hashes}, `expected " after r and #`, `a raw string is written r"…" or r#"…"#`)
	default:
		text, _, closed := strings.Cut(body, shut)
		if !closed {
			return "", s.notClosed(start, shut)
		}
		s.at = start + 1 + hashes + 1 + len(text) + len(shut)
		return text, true
	}
}

// bare is the length of a number, an address, a range or bytes that is next.
func (s *scanner) bare() int {
	rest := s.rest()
	for i := range len(rest) {
		hex := rest[i] == 'x' && i > 0 && rest[i-1] == '0' && (i == 1 || !isHexDigit(rest[i-2]))
		if !hex && !isHexDigit(rest[i]) && strings.IndexByte(":./-", rest[i]) < 0 {
			return i
		}
	}
	return len(rest)
}

// span is the length of the part in front of which all bytes are of a class.
func span(s string, class func(byte) bool) int {
	for i := range len(s) {
		if !class(s[i]) {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isHexDigit(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
func isLetterOrDigit(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
func isWord(c byte) bool { return isLetterOrDigit(c) || c == '.' }
