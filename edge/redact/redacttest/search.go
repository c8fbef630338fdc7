package redacttest

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// piece is how much of a secret gives it away, in characters.
const piece = 12

// Search looks for pieces of secrets of twelve characters, in the ways that [Encodings]
// writes them. Make one with [For].
type Search struct {
	forms map[string]string // by how a piece is written, in lower case: of which secret and how
	sizes []int             // of the forms
}

// For prepares a search for secrets. Shorter ones are not looked for.
func For(secrets ...string) *Search {
	s := &Search{forms: map[string]string{}}
	for _, secret := range secrets {
		for i := 0; i+piece <= len(secret); i++ {
			if part := secret[i : i+piece]; telling(part) {
				s.add(secret, part)
			}
		}
	}
	sizes := map[int]bool{}
	for form := range s.forms {
		if sizes[len(form)] {
			continue
		}
		sizes[len(form)] = true
		s.sizes = append(s.sizes, len(form))
	}
	return s
}

// telling reports whether a piece has so many characters that it is not in any text, as
// zeros are.
func telling(part string) bool {
	different := map[rune]bool{}
	for _, c := range part {
		different[c] = true
	}
	return len(different) > 3
}

func (s *Search) add(secret, part string) {
	name := func(how string) string { return fmt.Sprintf("%q of the secret %.4s…, %s", part, secret, how) }
	for _, part := range []string{part, strings.ToUpper(part), strings.ToLower(part)} {
		for _, part := range []string{part, reversed(part)} {
			for how, form := range map[string]string{
				"as it is":   part,
				"in hex":     hex.EncodeToString([]byte(part)),
				"in percent": percent(part),
				"in unicode": unicodeEscapes(part),
				"in HTML":    entities(part),
				"in Base64":  base64.StdEncoding.EncodeToString([]byte(part)), // twelve bytes are sixteen characters
			} {
				for _, form := range []string{form, reversed(form)} {
					s.forms[strings.ToLower(form)] = name(how)
					s.forms[strings.ToLower(strings.NewReplacer("+", "-", "/", "_").Replace(form))] = name(how + ", in the alphabet of URLs")
				}
			}
		}
	}
}

// In returns what a text holds of the secrets, with the text before it; empty for nothing.
func (s *Search) In(text []byte) string {
	low := strings.ToLower(string(text))
	for _, size := range s.sizes {
		for i := 0; i+size <= len(low); i++ {
			if name, ok := s.forms[low[i:i+size]]; ok {
				return fmt.Sprintf("%s, after %q", name, low[max(0, i-60):i])
			}
		}
	}
	return ""
}
