package edge

import (
	"fmt"
	"log/slog"
)

// Secret is text that refuses to be printed: by fmt, slog and encoding/json
// alike. [Secret.Reveal] is the only way to the value.
type Secret struct{ value string }

const concealed = "[secret]"

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value} }

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
