package edge

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"

	"github.com/seawall-dev/seawall/edge/redact"
)

// Secret is text that refuses to be printed: by fmt, slog and encoding/json
// alike. [Secret.Reveal] is the only way to the value, and [Redact] finds the value in
// text that others wrote.
type Secret struct{ value string }

const concealed = redact.Mark

// held are the secrets of this process. There is one set for all: a part of the program
// that is not told of a secret prints it, when a server echoes it.
var held = redact.New(mostHeld)

// mostHeld is more than a configuration has; the rest are secrets of tokens that were
// just created.
const mostHeld = 500

// NewSecret wraps a value, which [Redact] takes out of all text from then on. A value of
// fewer than [redact.Shortest] bytes is too common a word for that.
func NewSecret(value string) Secret {
	held.Add(value)
	return Secret{value}
}

// ForgetSecrets has [Redact] know of no secret. It is for tests that run hundreds of commands in
// one process: none of them is to know what another was told.
func ForgetSecrets() { held.Forget() }

// NewAddress wraps an address that is a secret, such as a webhook's. [Redact] takes out what
// follows the host, and a user and password; the host may be in the names of zones, and of
// other services.
func NewAddress(value string) Secret {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return NewSecret(value)
	}
	held.Add(u.User.String())
	held.Add(u.RequestURI())
	held.Add(u.Fragment)
	return Secret{value}
}

// Redact returns text without any piece of [redact.Piece] characters of a secret that this
// process has made with [NewSecret], however it is written; see package redact. Whatever
// leaves the process, or is stored, and holds text of others, passes it.
func Redact(text string) string { return held.String(text) }

// RedactBytes is [Redact] for bytes. It does not change text.
func RedactBytes(text []byte) []byte { return held.Bytes(text) }

// RedactWriter returns a writer that does so with each call of Write.
func RedactWriter(w io.Writer) io.Writer { return held.Writer(w) }

// RedactWriterBut is that for an answer to someone who has said something: that comes back as it
// is, so that no mark in its place confirms a guess.
func RedactWriterBut(w io.Writer, said func() []string) io.Writer { return held.WriterBut(w, said) }

// Reveal returns the value.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == "" }

// Equal reports whether two secrets hold the same value.
func (s Secret) Equal(other Secret) bool { return s.value == other.value }

// String conceals the value.
func (s Secret) String() string { return concealed }

// GoString conceals the value.
func (s Secret) GoString() string { return concealed }

// Format conceals the value, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, concealed) }

// LogValue conceals the value in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(concealed) }

// MarshalText conceals the value in JSON and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(concealed), nil }
