// Package visible shows text that somebody else chose so that nothing in it is hidden. A
// character that has no ink, one that looks like another, a blank that a renderer folds:
// each is written as \u{…}, with its number in Unicode in hexadecimal, and a byte that is
// no text as \x{…}.
//
//	Value  what acts: everything outside printable ASCII is escaped
//	Name   a key or label: letters of other scripts stay, and the escapes stand beside them
//	Text   a sentence: like a name, on one line, with the few characters that Seawall itself uses
//	Folded a text with the blanks escaped that Markdown folds
//
// Two different values are never shown the same, nor are two different names, also where
// the reader cannot tell one letter from another: what is ASCII in the output tells them
// apart. It imports the standard library alone.
package visible

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Value is a value as JSON, with everything outside printable ASCII escaped, and so are the
// blanks at the ends of a text and those that follow one. It is not JSON where something is
// escaped. What is not there is nil, and null.
func Value(v any) string {
	var b strings.Builder
	writeValue(&b, v)
	return b.String()
}

func writeValue(b *strings.Builder, v any) {
	switch v := v.(type) {
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		writeQuoted(b, v)
	case []string:
		writeList(b, v)
	case []any:
		writeList(b, v)
	case map[string]any:
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeQuoted(b, key)
			b.WriteByte(':')
			writeValue(b, v[key])
		}
		b.WriteByte('}')
	default:
		writeEncoded(b, v)
	}
}

func writeList[T any](b *strings.Builder, list []T) {
	if list == nil {
		b.WriteString("null")
		return
	}
	b.WriteByte('[')
	for i, one := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		writeValue(b, any(one))
	}
	b.WriteByte(']')
}

// writeEncoded writes a value of another type by way of its JSON.
func writeEncoded(b *strings.Builder, v any) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		writeQuoted(b, fmt.Sprint(v))
		return
	}
	decoder := json.NewDecoder(strings.NewReader(text.String()))
	decoder.UseNumber()
	inOrder(b, decoder)
}

// inOrder writes the next value of a JSON text, its members in their order.
func inOrder(b *strings.Builder, d *json.Decoder) {
	token, _ := d.Token() // it was encoded just now
	open, nested := token.(json.Delim)
	if !nested {
		writeScalar(b, token)
		return
	}
	b.WriteRune(rune(open))
	for i := 0; d.More(); i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		if open == '{' {
			key, _ := d.Token()
			writeScalar(b, key)
			b.WriteByte(':')
		}
		inOrder(b, d)
	}
	end, _ := d.Token()
	b.WriteString(fmt.Sprint(end))
}

func writeScalar(b *strings.Builder, token json.Token) {
	switch v := token.(type) {
	case string:
		writeQuoted(b, v)
	case nil:
		b.WriteString("null")
	default:
		fmt.Fprint(b, v)
	}
}

// writeQuoted writes a text between quotes. A backslash and a quote have one before them.
func writeQuoted(b *strings.Builder, s string) {
	b.WriteByte('"')
	each(s, func(piece string, r rune, folds bool) {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case folds || !ascii(r):
			writeEscape(b, piece, r)
		default:
			b.WriteRune(r)
		}
	})
	b.WriteByte('"')
}

// Name is a key or a label. A word with letters or digits of other scripts is shown as it
// is, and all of it with these escaped in brackets behind it. Everything else outside
// printable ASCII is escaped, and so are blanks that are folded.
func Name(s string) string {
	if plain(s) && !strings.Contains(s, `\`) && s == strings.TrimSpace(s) && !strings.Contains(s, "  ") {
		return s
	}
	var b strings.Builder
	var w word
	each(s, func(piece string, r rune, folds bool) {
		switch {
		case r == ' ':
			w.flush(&b)
			if folds {
				writeEscape(&b, piece, r)
				return
			}
			b.WriteByte(' ')
		case r == '\\': // else a name could hold what looks like an escape
			w.escaped(piece, r)
		default:
			w.add(piece, r)
		}
	})
	w.flush(&b)
	return b.String()
}

// Text is a sentence on one line. What it quotes of others should be quoted or a name: line
// ends and tabs become blanks, and what is escaped already stays as it is.
func Text(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	w := word{again: true}
	each(s, func(piece string, r rune, _ bool) {
		switch {
		case r == ' ' || r == '\n' || r == '\r' || r == '\t':
			w.flush(&b)
			b.WriteByte(' ')
		case strings.ContainsRune(own, r):
			w.plain(r)
		default:
			w.add(piece, r)
		}
	})
	w.flush(&b)
	return b.String()
}

// own are the characters outside ASCII that sentences of Seawall have.
const own = "…→µ✓✗"

// Folded escapes the blanks at the ends of a text and those that follow one.
func Folded(s string) string {
	if s == strings.TrimSpace(s) && !strings.Contains(s, "  ") {
		return s
	}
	var b strings.Builder
	each(s, func(piece string, r rune, folds bool) {
		if folds {
			writeEscape(&b, piece, r)
			return
		}
		b.WriteString(piece)
	})
	return b.String()
}

// word is a run of characters without a blank.
type word struct {
	shown, beside strings.Builder
	raw           strings.Builder // as it was given
	foreign       bool            // it has letters or digits of other scripts
	again         bool            // it may have been shown before
}

// fillers are letters by their category, and nothing to see.
const fillers = "\u115f\u1160\u3164\uffa0"

func (w *word) add(piece string, r rune) {
	switch {
	case ascii(r):
		w.plain(r)
	case r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !strings.ContainsRune(fillers, r):
		w.foreign = true
		w.shown.WriteRune(r)
		writeEscape(&w.beside, piece, r)
	default:
		w.escaped(piece, r)
	}
}

func (w *word) plain(r rune) {
	w.raw.WriteRune(r)
	w.shown.WriteRune(r)
	w.beside.WriteRune(r)
}

func (w *word) escaped(piece string, r rune) {
	writeEscape(&w.shown, piece, r)
	writeEscape(&w.beside, piece, r)
}

// flush writes the word and begins another. One that has the escapes beside it already,
// because it was shown before, stays as it is.
func (w *word) flush(b *strings.Builder) {
	b.WriteString(w.shown.String())
	if w.foreign && !(w.again && strings.Contains(w.raw.String(), escape)) {
		b.WriteString("[" + w.beside.String() + "]")
	}
	*w = word{again: w.again}
}

const escape = `\u{`

// each calls do with every character of a text, or byte that is none, and whether it is a
// blank that is folded: one that follows another, or stands at an end.
func each(s string, do func(piece string, r rune, folds bool)) {
	after := true
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		blank := r == ' '
		do(s[i:i+size], r, blank && (after || i+size == len(s)))
		after, i = blank, i+size
	}
}

// writeEscape writes a character, or a byte that is none, by its number.
func writeEscape(b *strings.Builder, piece string, r rune) {
	if r == utf8.RuneError && len(piece) == 1 {
		fmt.Fprintf(b, `\x{%02x}`, piece[0])
		return
	}
	fmt.Fprintf(b, escape+"%x}", r)
}

// ascii reports whether a character is printable ASCII.
func ascii(r rune) bool { return r >= ' ' && r <= '~' }

func plain(s string) bool {
	for i := range len(s) {
		if !ascii(rune(s[i])) {
			return false
		}
	}
	return true
}
