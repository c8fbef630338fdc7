package gitrepo

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Kind is what went wrong, as far as a program acts on it. A Kind is an error
// itself: errors.Is(err, gitrepo.ErrAuth).
type Kind string

// The kinds of [Error].
const (
	ErrSource       Kind = "the source cannot be used"
	ErrUnreachable  Kind = "the git server cannot be reached"
	ErrNotFound     Kind = "there is no such repository"
	ErrAuth         Kind = "the git server does not accept the credential"
	ErrHostKey      Kind = "the server's host key is not accepted"
	ErrRefNotFound  Kind = "there is no such ref"
	ErrPathNotFound Kind = "there is no such folder in the commit"
	ErrNoCommit     Kind = "there is no such commit in the store"
	ErrShallow      Kind = "the history is cut short"
	ErrFetch        Kind = "the fetch failed"
	ErrTooLarge     Kind = "it is over a bound"
	ErrStore        Kind = "the local store failed"
	ErrFull         Kind = "the disk is full"
	ErrUnsigned     Kind = "it is not signed"
	ErrUntrusted    Kind = "its signature is not accepted"
	ErrTrust        Kind = "the keys to trust cannot be used"
)

func (k Kind) Error() string { return string(k) }

// Is makes ErrFull the operating system's error for it, and a failure of the store.
func (k Kind) Is(target error) bool {
	return k == ErrFull && (target == syscall.ENOSPC || target == ErrStore)
}

// Error is a failure told for a person. All exported fields are plain text
// without credentials, so an Error survives the way through a pipe as JSON and
// still answers [errors.Is] for its Kind. Where a context ended, it answers
// for the context's error too, on the near side of a pipe.
type Error struct {
	Kind   Kind   `json:"kind"`
	Doing  string `json:"doing"`            // "fetching https://git.example/edge.git main"
	Reason string `json:"reason,omitempty"` // what the other side said
	Hint   string `json:"hint,omitempty"`   // what to try

	cause error
}

// Error is one line, without the hint.
func (e *Error) Error() string {
	parts := make([]string, 0, 3)
	for _, s := range []string{e.Doing, string(e.Kind), e.Reason} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the kind and, where there is one, the context's error or the
// store's.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Kind, e.cause}
	}
	return []error{e.Kind}
}

// Cause is the same text for the same cause, for logs: the kind.
func (e *Error) Cause() string { return string(e.Kind) }

func storeError(doing string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	e := &Error{
		Kind: ErrStore, Doing: doing + " the store", Reason: err.Error(),
		Hint: "check the disk and permissions; you may delete the store, the next fetch creates it again",
	}
	if isFull(err) {
		e.Kind, e.Hint = ErrFull, "free space on the disk that holds the state folder"
	}
	return e
}

// isFull reports whether a disk has no space, which says nothing against what is on it.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func noCommit(hash string, err error) error {
	return &Error{
		Kind: ErrNoCommit, Doing: fmt.Sprintf("reading commit %.12s", hash), Reason: err.Error(),
		Hint: "fetch it first",
	}
}
