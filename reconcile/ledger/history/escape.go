package history

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"unicode/utf8"
)

// The body of an entry may have any bytes in a file, as one did that an earlier version has made of what
// a server or the author of a commit sent. PostgreSQL keeps no NUL and nothing that is no UTF-8, and the
// hash of the chain is that of the bytes. So such a body is kept there with a character for each byte:
// escapes + the byte. That a body is escaped is told by its hash, which only the original has.
const escapes = 0x10FF00

// Escaped is a body as PostgreSQL can keep it.
func Escaped(body string) string {
	if utf8.ValidString(body) && !strings.ContainsRune(body, 0) {
		return body
	}
	var b strings.Builder
	for len(body) > 0 {
		r, size := utf8.DecodeRuneInString(body)
		if part := body[:size]; r == 0 || r == utf8.RuneError && size == 1 || escapedByte(r) { // what looks escaped is, too
			for i := range len(part) {
				b.WriteRune(escapes + rune(part[i]))
			}
		} else {
			b.WriteString(part)
		}
		body = body[size:]
	}
	return b.String()
}

func escapedByte(r rune) bool { return r >= escapes && r <= escapes+0xFF }

// Original is the body of an entry with its hash, be it escaped or not. One that has another hash in any
// case is returned as it is.
func Original(body string, hash []byte) string {
	if sum := sha256.Sum256([]byte(body)); bytes.Equal(sum[:], hash) || !strings.ContainsFunc(body, escapedByte) {
		return body
	}
	var b strings.Builder
	for _, r := range body {
		if escapedByte(r) {
			b.WriteByte(byte(r - escapes))
		} else {
			b.WriteRune(r)
		}
	}
	if sum := sha256.Sum256([]byte(b.String())); !bytes.Equal(sum[:], hash) {
		return body
	}
	return b.String()
}
