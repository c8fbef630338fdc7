package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// form is one way to write a secret, folded.
type form struct {
	text  []byte
	width int  // of the pieces that are looked for
	plain bool // the secret has so few different characters that repetition tells it
}

const (
	// fewest is how many different characters a piece has at least that is looked for. The
	// zeros in the middle of a key are in any text.
	fewest = 4
	// longCased is the length of a secret, in bytes, up to which it is also encoded after
	// its case was changed.
	longCased = 1 << 10
)

// forms are the ways in which a secret is written. Lines that only say what a PEM block
// is are left out.
func forms(secret string) (list []form) {
	secret = withoutBoundaries(secret)
	plain := distinct(fold([]byte(secret))) < fewest
	add := func(text string, width int) {
		for _, text := range []string{text, backwards(text)} {
			if folded := fold([]byte(text)); len(folded) >= Shortest {
				list = append(list, form{folded, min(width, len(folded)), plain})
			}
		}
	}
	for _, text := range cases(secret, !ascii(secret)) { // the case of the others is folded
		add(text, pieceOf(text))
	}
	if form := strings.ReplaceAll(secret, " ", "+"); form != secret { // in the query of a URL
		add(form, Piece)
	}
	for _, text := range unescaped(secret) {
		add(text, unescapedPiece)
	}
	for _, source := range cases(secret, len(secret) <= longCased) {
		for _, source := range []string{source, backwards(source)} {
			add(hex.EncodeToString([]byte(source)), Piece)
			for before := range 3 {
				add(base64At(source, before), Piece)
			}
		}
	}
	return list
}

// unescapedPiece is the width of pieces of which a character may stand for several.
const unescapedPiece = 8

// unescaped is what a secret looks like where its own characters are taken for escapes:
// text is searched in such views.
func unescaped(secret string) (list []string) {
	view := []byte(secret)
	for range deepest {
		var changed bool
		if view, _, changed = unescape(view, nil, nil); !changed {
			break
		}
		list = append(list, string(view))
	}
	return list
}

// cases are a text and, if asked for, the text in lower and in upper case.
func cases(text string, all bool) []string {
	if !all {
		return []string{text}
	}
	list := []string{text, strings.ToLower(text), strings.ToUpper(text)}
	slices.Sort(list)
	return slices.Compact(list)
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf })
}

// pieceOf is the width of the pieces of a text: [Piece], less the spaces and the colons that
// are in as many characters of it. The end of a line is not part of a piece.
func pieceOf(text string) int {
	dropped, most := 0, 0
	for i := range len(text) {
		if strings.IndexByte(" \t:", text[i]) >= 0 {
			dropped++
		}
		if i >= Piece && strings.IndexByte(" \t:", text[i-Piece]) >= 0 {
			dropped--
		}
		most = max(most, dropped)
	}
	return max(Shortest, Piece-most)
}

// base64At encodes text the way it is encoded after so many bytes, modulo 3: only the
// characters that depend on it alone, but for the last.
func base64At(text string, before int) string {
	encoded := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00\x00"[:before] + text))
	encoded = encoded[[]int{0, 2, 3}[before]:]
	if len(encoded) <= Piece && (before+len(text))%3 != 0 {
		encoded = encoded[:len(encoded)-1] // the next byte decides it, too
	}
	return encoded
}

// withoutBoundaries leaves out the boundaries of PEM blocks (RFC 7468, 2), unless
// there is nothing else: what only looks like such a line is secret.
func withoutBoundaries(secret string) string {
	if !strings.Contains(secret, "-----") {
		return secret
	}
	var kept strings.Builder
	for line := range strings.Lines(secret) {
		if !boundary(strings.TrimSpace(line)) {
			kept.WriteString(line)
		}
	}
	if len(fold([]byte(kept.String()))) < Shortest {
		return secret
	}
	return kept.String()
}

func boundary(line string) bool {
	begins := strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END ")
	return begins && strings.HasSuffix(line, "-----") && strings.Count(line, "-----") == 2
}

func backwards(text string) string {
	reversed := []byte(text)
	slices.Reverse(reversed)
	return string(reversed)
}

func distinct(text []byte) (n int) {
	var seen [256]bool
	for _, c := range text {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

// folded is how a byte is compared: without case, and one for both alphabets of Base64.
// Zero is left out: white space, colons as in "6f:70", and the zeros of UTF-16.
var folded = func() (table [256]byte) {
	for c := range table {
		table[c] = byte(c)
	}
	for c := 'A'; c <= 'Z'; c++ {
		table[c] = byte(c) + 'a' - 'A'
	}
	table['-'], table['_'] = '+', '/'
	for _, c := range " \t\r\n:" {
		table[c] = 0
	}
	return table
}()

// fold returns the folded bytes of text.
func fold(text []byte) (to []byte) {
	for _, c := range text {
		if f := folded[c]; f != 0 {
			to = append(to, f)
		}
	}
	return to
}
