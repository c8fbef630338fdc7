package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/edge/redact"
	"github.com/seawall-dev/seawall/edge/redact/redacttest"
)

// FuzzRedact: whatever stands around a secret, in whichever encoding, no piece of it is
// left; what is valid text stays valid, and what is redacted once is redacted.
func FuzzRedact(f *testing.F) {
	search, r := redacttest.For(token), of(token)
	f.Add("before ", " after", uint(0))
	f.Add("%", "\\u", uint(5))
	f.Add("&#", ";\\", uint(12))
	f.Add(token[:11], token[3:], uint(20))
	f.Fuzz(func(t *testing.T, before, after string, encoding uint) {
		e := redacttest.Encodings[encoding%uint(len(redacttest.Encodings))]
		text := before + " " + e.Encode(token) + " " + after
		got := r.String(text)
		if found := search.In([]byte(got)); found != "" {
			t.Errorf("%s: %s in %q", e.Name, found, got)
		}
		if !strings.Contains(got, redact.Mark) {
			t.Errorf("%s: nothing is redacted in %q", e.Name, text)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%s: %q became %q", e.Name, text, got)
		}
		if again := r.String(got); again != got {
			t.Errorf("%s: %q became %q", e.Name, got, again)
		}
	})
}
