package history

import (
	"crypto/sha256"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Any body can be kept as UTF-8 without NUL, and comes back as it was; another one stays another one.
func TestEscapedBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\xff", "\x00", "\xed\xa0\x80", "\U0010FF41", "\U0010FFFF", "\uFFFD", "a"}))
		body := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		hash := sha256.Sum256([]byte(body))
		kept := Escaped(body)
		if !utf8.ValidString(kept) || strings.ContainsRune(kept, 0) {
			t.Fatalf("%q is kept as %q", body, kept)
		}
		if got := Original(kept, hash[:]); got != body {
			t.Fatalf("%q has become %q, by %q", body, got, kept)
		}
		if got := Original(kept+"x", hash[:]); got != kept+"x" {
			t.Fatalf("a body that was changed has become %q", got)
		}
	})
}
