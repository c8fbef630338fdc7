package call

import (
	"iter"
	"strings"
)

// longestLiteral bounds what is taken for an address, in bytes.
const longestLiteral = 4 << 10

// Addresses are the words of a text that can be addresses or paths, in the form
// that calls carry.
func Addresses(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			word, rest := nextWord(text)
			text = rest
			if strings.IndexByte(word, '/') < 0 || len(word) > longestLiteral || strings.HasPrefix(word, "HTTP/") {
				continue
			}
			if address, ok := Normal(word); ok && !yield(address) {
				return
			}
		}
	}
}

// IsAddress reports whether a text is one word that can be an address or a path,
// and no type of media.
func IsAddress(text string) bool {
	if strings.IndexByte(text, '/') < 0 || len(text) > longestLiteral {
		return false
	}
	kind, _, _ := strings.Cut(text, "/")
	word, rest := nextWord(text)
	return rest == "" && word == text && !media[kind] && strings.IndexByte(text, '\n') < 0
}

// media are what types of media begin with.
var media = Words("application text image audio video multipart font model */*")

// nextWord cuts a text at the first white space outside of braces: ${ zone.id } is
// one word.
func nextWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t\r\n")
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			return text[:i], text[i+1:]
		case '{', '(':
			if n := Placeholder(text[max(0, i-1):]); n > 1 && (i == 0 || text[i-1] != ' ') {
				i += n - 2
			} else if n := Placeholder(text[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return text, ""
}
