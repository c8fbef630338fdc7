package call

import (
	"strings"

	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

// Placeholders writes "{}" for every piece of a text that a program fills in:
// {id}, {{id}}, ${id}, #{id}, $id, $1, $this->id, $(…), \(id), %s, %d, %(id)s, <id>, @{id}.
func Placeholders(text string) string {
	if !strings.ContainsAny(text, `{$%<\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		n := Placeholder(text[i:])
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(Open)
		i += n
	}
	return b.String()
}

// Expressions in brackets, with brackets in them.
const (
	inBraces = `\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}`
	inParens = `\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`
)

// placeholder is one, with what printf and its kin fill in at last: %s, %-5d, %[1]s, %1$s, %@.
var placeholder = lazyregexp.New(`^(?:[$#@%]?` + inBraces + `|[$\\]` + inParens + `|%` + inParens + `[A-Za-z_]?|\$\w+(?:->\w+)?|<[\w -]{1,62}>|%[-+0-9.$\[\]]{0,11}[A-Za-z@])`)

// placeholderLimit bounds how long an expression in an address may be.
const placeholderLimit = 256

// Placeholder returns the length of the one that a text begins with, 0 if none. An escape
// of an address (%2F) is none.
func Placeholder(s string) int {
	if s == "" || strings.IndexByte(`{$#@%\<`, s[0]) < 0 || isEscape(s) {
		return 0
	}
	return len(placeholder().FindString(s[:min(len(s), placeholderLimit)]))
}
