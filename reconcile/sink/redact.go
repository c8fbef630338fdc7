package sink

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// output keeps the beginning of what a command says, and lets it say the rest.
type output struct{ text []byte }

const (
	keptOutput  = 16 << 10 // bytes that are looked through
	shownOutput = 500      // bytes that an error repeats
)

func (o *output) Write(p []byte) (int, error) {
	o.text = append(o.text, p[:min(len(p), keptOutput-len(o.text))]...)
	return len(p), nil
}

// redacted returns the beginning without the secrets. It is cut after that, so
// that no half of a secret stands at the end.
func (o *output) redacted(secrets ...edge.Secret) string {
	text := string(o.text)
	for _, secret := range secrets {
		text = redact(text, secret)
	}
	text = strings.TrimSpace(text)
	if len(text) > shownOutput {
		text = strings.ToValidUTF8(text[:shownOutput], "") + " …"
	}
	return text
}

const concealed = "[secret]"

// shortest is how much of a secret in a row gives it away.
const shortest = 8

// redact replaces each stretch of text that is a part of the secret: all of it,
// a line of it, what was left where something was cut off. Commands that fail
// like to repeat what they sent, so the usual disguises count too.
func redact(text string, secret edge.Secret) string {
	if secret.IsZero() {
		return text
	}
	forms := disguises(secret.Reveal())
	hidden := make([]bool, len(text))
	for _, form := range forms {
		n := min(shortest, len(form))
		for i := 0; n > 0 && i+n <= len(text); i++ {
			if !strings.Contains(form, text[i:i+n]) {
				continue
			}
			for j := i; j < i+n; j++ {
				hidden[j] = true
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			b.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			b.WriteString(concealed)
		}
	}
	return b.String()
}

// hushed returns the beginning of what a server or a library said, on one line
// and without the secrets.
func hushed(text string, secrets ...edge.Secret) string {
	var o output
	_, _ = o.Write([]byte(text)) // cannot fail
	return strings.Join(strings.Fields(o.redacted(secrets...)), " ")
}

// disguises are the ways in which a secret is written. In Base64 a text looks
// different after one byte, two and three, as in "user:secret".
func disguises(secret string) []string {
	forms := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for before := range 3 {
		shifted := []byte(strings.Repeat("\x00", before) + secret)
		forms = append(forms, base64.RawStdEncoding.EncodeToString(shifted), base64.RawURLEncoding.EncodeToString(shifted))
	}
	return forms
}
