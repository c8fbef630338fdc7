package compile

import (
	"strings"
	"unicode/utf8"

	"cuelang.org/go/cue/literal"
)

// writes reports whether a literal of CUE writes a string.
func writes(text, value string) bool {
	written, err := literal.Unquote(text)
	return err == nil && written == value
}

// advance is where a byte of a string stands in the literal that writes it: how many lines
// further down, and the column there, counted from 1 in bytes. It is the end for one behind it.
func advance(text string, offset int) (line, column int) {
	hashes := text[:len(text)-len(strings.TrimLeft(text, "#"))]
	at := len(hashes) + 1
	multi, indent := strings.HasPrefix(text[len(hashes):], `"""`), ""
	if multi {
		at = strings.IndexByte(text, '\n') + 1
		indent = text[strings.LastIndexByte(text, '\n')+1 : len(text)-len(`"""`)-len(hashes)]
	}
	for startOfLine := multi; at < len(text); {
		if startOfLine && strings.HasPrefix(text[at:], indent) { // an empty line has none
			at += len(indent)
		}
		if offset <= 0 {
			break
		}
		length, stands := unit(text[at:], `\`+hashes)
		startOfLine = multi && text[at] == '\n'
		at, offset = at+length, offset-stands
	}
	before := text[:min(at, len(text))]
	return strings.Count(before, "\n"), at - strings.LastIndexByte(before, '\n')
}

// unit is the length of what is written first in the text of a literal, a character or an escape,
// and of what it stands for.
func unit(text, escape string) (length, stands int) {
	rest, escaped := strings.CutPrefix(text, escape)
	if !escaped || rest == "" {
		_, length = utf8.DecodeRuneInString(text)
		return length, length
	}
	digits := map[byte]int{'u': 4, 'U': 8}[rest[0]]
	length = min(len(escape)+1+digits, len(text))
	value, err := literal.Unquote(`"\` + text[len(escape):length] + `"`)
	if err != nil {
		return length, 1
	}
	return length, len(value)
}
