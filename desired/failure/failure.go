// Package failure is the shape of errors that people read: what was being done, what
// kind of failure it was, what was found, and what to try. Packages that fail in a few
// known ways give it kinds of their own:
//
//	type Kind string
//
//	func (k Kind) Error() string { return string(k) }
//
//	const ErrFull Kind = "the disk is full"
//
//	type Error = failure.Error[Kind]
//
// It imports the standard library only.
package failure

import (
	"fmt"
	"strings"
)

// Kind is what went wrong, as far as a program acts on it. It is an error itself, for
// errors.Is.
type Kind interface {
	~string
	error
}

// Error is a failure with its kind. Its text parts hold no credential, so that an Error
// can be sent through a pipe as JSON and still answers [errors.Is] for its Kind. It
// answers for From too, which no pipe carries.
type Error[K Kind] struct {
	Kind   K      `json:"kind"`
	Doing  string `json:"doing"`            // "fetching refs/heads/main of https://git.example/edge.git"
	Reason string `json:"reason,omitempty"` // what was found, or what the other side said
	Hint   string `json:"hint,omitempty"`   // what to try

	From error `json:"-"` // what caused it; nil for nothing else
}

// Error is one line, without the hint.
func (e *Error[K]) Error() string {
	parts := make([]string, 0, 3)
	for _, s := range []string{e.Doing, string(e.Kind), e.Reason} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the kind and, where there is one, the cause.
func (e *Error[K]) Unwrap() []error {
	if e.From != nil {
		return []error{e.Kind, e.From}
	}
	return []error{e.Kind}
}

// Cause is the same text for the same cause, for logs: the kind.
func (e *Error[K]) Cause() string { return string(e.Kind) }

// Advice is the hint, for those who show errors of all kinds.
func (e *Error[K]) Advice() string { return e.Hint }

// Bytes is a number of bytes, for texts: "1 MiB", "1.5 MiB", "310 bytes".
func Bytes(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.bytes {
			if n%u.bytes == 0 {
				return fmt.Sprintf("%d %s", n/u.bytes, u.name)
			}
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
