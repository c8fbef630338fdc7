// Package expression finds filter expressions that cannot be one. It knows no
// fields and no functions, so what it takes may still be refused by the real
// service.
package expression

import (
	"errors"
	"fmt"
	"strings"
)

// Check finds what makes a filter expression none at a glance: text
// that is not closed, brackets that do not match, and operators without an
// operand.
func Check(text string) error {
	var open []byte
	rest := text
	for rest != "" {
		c := rest[0]
		switch {
		case c == '"':
			end := closingQuote(rest)
			if end < 0 {
				return errors.New("a text is not closed")
			}
			rest = rest[end:]
		case strings.HasPrefix(rest, `r"`), strings.HasPrefix(rest, "r#"):
			end, ok := closingRaw(rest)
			if !ok {
				return errors.New("a raw text is not closed")
			}
			rest = rest[end:]
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, c)
		case strings.IndexByte(")]}", c) >= 0:
			if len(open) == 0 || open[len(open)-1] != opening[c] {
				return fmt.Errorf("%q closes nothing", string(c))
			}
			open = open[:len(open)-1]
		}
		rest = rest[1:]
	}
	if len(open) > 0 {
		return fmt.Errorf("%q is not closed", string(open[len(open)-1]))
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && dangling[words[len(words)-1]] {
		return fmt.Errorf("nothing follows %q", words[len(words)-1])
	}
	return nil
}

var (
	opening  = map[byte]byte{')': '(', ']': '[', '}': '{'}
	dangling = map[string]bool{"and": true, "or": true, "not": true, "xor": true, "eq": true, "ne": true, "in": true, "contains": true, "matches": true, "&&": true, "||": true}
)

// closingQuote is the place of the quote that closes the one at the beginning,
// or -1.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// closingRaw is the place of the last byte of the raw text r"…" or r#"…"# at the
// beginning. What only begins like one, such as a field r#, is not closed.
func closingRaw(s string) (int, bool) {
	hashes := len(s[1:]) - len(strings.TrimLeft(s[1:], "#"))
	body, ok := strings.CutPrefix(s[1+hashes:], `"`)
	end := strings.Index(body, `"`+strings.Repeat("#", hashes))
	if !ok || end < 0 {
		return 0, false
	}
	return 1 + hashes + 1 + end + hashes, true
}
