package bypass

import (
	"strconv"
	"strings"
)

// kind is what a token is.
type kind byte

const (
	tokenEnd    kind = iota
	tokenWord        // a name, or an operator by its English name
	tokenText        // a string; text is its value
	tokenValue       // a number, an address, or a range of them
	tokenList        // $name
	tokenSymbol      // one of ( ) [ ] { } , *
)

type token struct {
	kind kind
	text string
}

// is reports whether the token is a word or a symbol.
func (t token) is(text string) bool {
	return t.text == text && (t.kind == tokenWord || t.kind == tokenSymbol)
}

// key is the token in a form that no other token has.
func (t token) key() string {
	if t.kind == tokenText {
		return strconv.Quote(t.text)
	}
	return t.text
}

// signs are the operators with two spellings; longer ones first.
var signs = [...][2]string{
	{"&&", "and"},
	{"||", "or"},
	{"^^", "xor"},
	{"==", "eq"},
	{"!=", "ne"},
	{"<=", "le"},
	{">=", "ge"},
	{"!", "not"},
	{"<", "lt"},
	{">", "gt"},
	{"~", "matches"},
	{"&", "bitwise_and"},
}

// tokenize splits an expression. It is false where a part is no token.
func tokenize(s string) ([]token, bool) {
	tokens := make([]token, 0, len(s)/6+2)
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" {
			return append(tokens, token{}), true
		}
		regex := len(tokens) > 0 && tokens[len(tokens)-1].is("matches")
		t, n := next(s, regex)
		if n == 0 {
			return nil, false
		}
		tokens, s = append(tokens, t), s[n:]
	}
}

// next is the first token of a text that is not empty, and its length: 0 where it is none. A
// quoted regular expression has escapes of its own.
func next(s string, regex bool) (token, int) {
	switch c := s[0]; {
	case c == '"' && regex:
		return quotedRegex(s)
	case c == '"':
		return quoted(s)
	case strings.HasPrefix(s, `r"`), strings.HasPrefix(s, "r#"):
		return raw(s)
	case strings.IndexByte("()[]{},*", c) >= 0:
		return token{tokenSymbol, s[:1]}, 1
	case c == '$':
		n := 1 + span(s[1:], isWord)
		return token{tokenList, s[:n]}, n
	case isLetter(c), c == '_':
		return word(s)
	case isValue(c):
		n := span(s, isValue)
		return token{tokenValue, s[:n]}, n
	}
	for _, sign := range signs {
		if strings.HasPrefix(s, sign[0]) {
			return token{tokenWord, sign[1]}, len(sign[0])
		}
	}
	return token{}, 0
}

// word reads a name, or an address that begins with a letter.
func word(s string) (token, int) {
	if n := span(s, isValue); strings.IndexByte(s[:n], ':') >= 0 {
		return token{tokenValue, s[:n]}, n
	}
	n := span(s, isWord)
	return token{tokenWord, s[:n]}, n
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

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '_' || c == '.' }

// isValue is the class of bytes of numbers, addresses and ranges of both.
func isValue(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || strings.IndexByte("x:./-", c) >= 0
}

// quoted reads "…" with the escapes \" \\ \xHH and \OOO.
func quoted(s string) (token, int) {
	var text strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return token{tokenText, text.String()}, i + 1
		case s[i] != '\\':
			text.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case i == len(s):
			return token{}, 0
		case s[i] == '"' || s[i] == '\\':
			text.WriteByte(s[i])
			continue
		}
		digits, base := s[i:], 8
		if s[i] == 'x' {
			digits, base = s[i+1:], 16
		}
		length := 3
		if base == 16 {
			length = 2
		}
		if len(digits) < length {
			return token{}, 0
		}
		value, err := strconv.ParseUint(digits[:length], base, 8)
		if err != nil {
			return token{}, 0
		}
		text.WriteByte(byte(value))
		i = len(s) - len(digits) + length - 1
	}
	return token{}, 0
}

// quotedRegex reads "…" as a regular expression: it keeps escapes but \", and inside […] a quote
// is a character.
func quotedRegex(s string) (token, int) {
	var text strings.Builder
	class := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if class || s[i] != '"' {
				text.WriteByte('\\')
			}
		case c == '"' && !class:
			return token{tokenText, text.String()}, i + 1
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		text.WriteByte(s[i])
	}
	return token{}, 0
}

// raw reads r"…", r#"…"# and so on: it ends with a quote and as many # as it began with.
func raw(s string) (token, int) {
	hashes := span(s[1:], func(c byte) bool { return c == '#' })
	start := 1 + hashes
	if start >= len(s) || s[start] != '"' || hashes > 255 {
		return token{}, 0
	}
	text, _, ended := strings.Cut(s[start+1:], `"`+s[1:start])
	if !ended {
		return token{}, 0
	}
	return token{tokenText, text}, start + 1 + len(text) + 1 + hashes
}
