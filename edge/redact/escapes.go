package redact

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"unicode/utf8"
)

// layer is room for what unescape returns.
type layer struct {
	plain []byte
	where []int32
}

// unescape takes one layer of escapes off: %41, \x41, \u0041 and \n, &amp; and
// &#65;. at is where each byte of text stands in the original, and its end, nil where it
// is the original; the answer says the same of what it returns. A text without escapes
// comes back as it is. What it returns is in into, which has nothing of the text; nil makes one.
func unescape(text []byte, at []int32, into *layer) (plain []byte, where []int32, changed bool) {
	if !bytes.ContainsAny(text, `%\&`) {
		return text, at, false
	}
	place := func(i int) int32 {
		if at == nil {
			return int32(i)
		}
		return at[i]
	}
	if into == nil {
		into = &layer{}
	}
	into.plain, into.where = slices.Grow(into.plain[:0], len(text)), slices.Grow(into.where[:0], len(text)+1)
	plain, where = into.plain[:len(text)], into.where[:len(text)+1]
	k := 0
	for i := 0; i < len(text); k++ {
		c, n := text[i], 0
		if c == '%' || c == '\\' || c == '&' {
			var value []byte
			value, n = escape(text[i:])
			for _, v := range value[:max(0, len(value)-1)] { // never longer than the escape
				plain[k], where[k] = v, place(i)
				k++
			}
			if n > 0 {
				c, changed = value[len(value)-1], true
			}
		}
		plain[k], where[k] = c, place(i)
		i += max(1, n)
	}
	if !changed {
		return text, at, false
	}
	where[k] = place(len(text))
	return plain[:k], where[:k+1], true
}

// escape returns what the escape stands for that text begins with, and its length; 0
// where there is none.
func escape(text []byte) (value []byte, n int) {
	switch text[0] {
	case '%':
		return number(text, 1, 2)
	case '\\':
		return backslash(text)
	case '&':
		return entity(text)
	}
	return nil, 0
}

// backslash reads an escape of JSON, Go or a shell.
func backslash(text []byte) ([]byte, int) {
	if len(text) < 2 {
		return nil, 0
	}
	switch c := text[1]; c {
	case 'x':
		return number(text, 2, 2)
	case 'u':
		return number(text, 2, 4)
	case 'U':
		return number(text, 2, 8)
	case 'n', 'r', 't':
		return []byte{' '}, 2
	case '"', '\'', '\\', '/', '`', '|', '%', '&':
		return text[1:2], 2
	default:
		if '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '_' || '{' <= c && c <= '~' {
			return text[1:2], 2 // Markdown
		}
	}
	return nil, 0
}

// number reads exactly so many hexadecimal digits behind a prefix as a byte or a character.
func number(text []byte, prefix, digits int) ([]byte, int) {
	if len(text) < prefix+digits {
		return nil, 0
	}
	value, err := strconv.ParseUint(string(text[prefix:prefix+digits]), 16, 32)
	if err != nil {
		return nil, 0
	}
	if digits == 2 {
		return []byte{byte(value)}, prefix + digits
	}
	return utf8.AppendRune(nil, rune(value)), prefix + digits
}

// longestEntity is how far away the end of an entity may be, in bytes.
const longestEntity = 12

// entity reads an entity of HTML.
func entity(text []byte) ([]byte, int) {
	end := bytes.IndexByte(text[:min(len(text), longestEntity)], ';')
	if end < 0 {
		return nil, 0
	}
	name := string(text[:end+1])
	value := html.UnescapeString(name)
	if value == name || len(value) > len(name) {
		return nil, 0
	}
	return []byte(value), end + 1
}
