package wire

import (
	"strings"
	"unicode"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// excerptBytes bounds how much of a foreign body an error carries.
const excerptBytes = 200

var (
	hidden = lazyregexp.New(`(?is)<!--.*?-->|<(?:script|style)\b.*?</(?:script|style)\s*>`)
	tag    = lazyregexp.New(`(?s)<[a-zA-Z/!][^>]*>?`)
)

// Excerpt returns the beginning of a body for people to read: markup removed,
// runs of space and of unprintable characters squeezed to one space, at most
// 200 bytes. Gateways answer with whole HTML pages of which one line matters.
func Excerpt(body []byte) string {
	text := string(body[:min(len(body), 64<<10)])
	text = hidden().ReplaceAllString(text, " ")
	text = tag().ReplaceAllString(text, " ")
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar
	})
	return cut(strings.Join(words, " "), excerptBytes)
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
