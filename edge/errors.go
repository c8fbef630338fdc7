package edge

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The outcomes a caller can act on. A [*Error] answers [errors.Is] for them by
// its HTTP status and the platform's code, so they hold across HTTP as well as
// in memory.
var (
	// ErrUnauthenticated: the credential was rejected (401), or has a form that no
	// credential has (400 with code 6111). Nothing else will work with it either.
	ErrUnauthenticated = errors.New("the platform rejected the credential")
	// ErrForbidden: the credential is good but may not do this, to this zone or
	// account (403, whatever its code). It says nothing of other zones: the service
	// has been seen to answer 403 with code 10000 for one zone, and to read the
	// zones beside it.
	ErrForbidden = errors.New("the credential does not permit this")
	// ErrNotFound: no such account, zone, ruleset or rule (404).
	ErrNotFound = errors.New("not found")
	// ErrEntryPointNotFound: the zone has no entry point ruleset (404 with code
	// 10003, and nothing else).
	ErrEntryPointNotFound = errors.New("the zone has no entry point ruleset")
	// ErrInvalid: the platform refused the request body (400).
	ErrInvalid = errors.New("the platform refused the request")
	// ErrEntryPointExists: the zone has an entry point ruleset already (400 with code
	// 20217).
	ErrEntryPointExists = errors.New("the zone has an entry point ruleset already")
	// ErrNotEntitled: the plan of the zone or account does not include this (400 with
	// code 50002). It is [ErrInvalid] too.
	ErrNotEntitled = errors.New("the plan does not include this")
	// ErrNotDry: the platform answered a dry run as if it had written. Read what is
	// there, and make no further dry run.
	ErrNotDry = errors.New("the platform may have written what it was only to validate")
	// ErrNotOffered: this platform has no such call (405, 501, or 404 with code 7003).
	ErrNotOffered = errors.New("this platform does not offer the call")
	// ErrThrottled: too many requests (429); [Error.RetryAfter] says how long to wait.
	ErrThrottled = errors.New("the platform throttles this credential")
	// ErrUnavailable: the platform failed (5xx except 501) or could not be reached.
	ErrUnavailable = errors.New("the platform is unavailable")
	// ErrUnreadable: an answer arrived that could not be understood: cut short, or
	// not JSON. It never means "empty".
	ErrUnreadable = errors.New("the platform's answer could not be read")
	// ErrOutcomeUnknown: a write was sent and its outcome was not learned.
	ErrOutcomeUnknown = errors.New("the outcome of the write is unknown")
	// ErrReadOnly: the caller holds nothing that could write. No request was sent.
	ErrReadOnly = errors.New("this process may only read from the platform")
)

// Codes seen on the platform, where the status alone does not tell.
const (
	CodeInvalidToken       = 1000  // with 401
	CodeAuthentication     = 10000 // with 401: no such credential; with 403: no permission for this object
	CodeMalformed          = 6111  // with 400, below 6003: the Authorization header has no valid form
	CodeNotPermitted       = 9109  // with 403: also for an address that the token does not allow, and for tokens of the other owner
	CodeRulesetNotFound    = 10001
	CodeEntryPointNotFound = 10003
	CodeNoRoute            = 7003
	CodeThrottled          = 971
	CodeActionParameters   = 20106
	CodeExpressionBlank    = 20125
	CodeEntryPointExists   = 20217
	CodeNotEntitled        = 50002
)

// Error is a failure the platform described (reference, "Errors").
type Error struct {
	Call       string        // method and path, "PATCH /zones/…"
	Status     int           // HTTP status
	Details    []ErrorDetail // at least one for an envelope; none for a body that is not JSON
	RetryAfter time.Duration // from Retry-After; zero when not said
	Body       string        // the beginning of a body that is not an envelope
}

// ErrorDetail is one element of an envelope's errors.
type ErrorDetail struct {
	Code             int           `json:"code,omitempty"` // zero when the platform gave none
	Message          string        `json:"message"`
	DocumentationURL string        `json:"documentation_url,omitempty"`
	Source           ErrorSource   `json:"source,omitzero"`
	Chain            []ErrorDetail `json:"error_chain,omitempty"`
}

// ErrorSource says which member of the request body an error is about, by a JSON pointer.
type ErrorSource struct {
	Pointer string `json:"pointer,omitempty"`
}

// Foreign reports whether a refusal is not the platform's own, which answers with an envelope: something
// between has answered, such as a proxy or a firewall.
func (e *Error) Foreign() bool {
	return len(e.Details) == 0 && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusProxyAuthRequired)
}

// WithDetails returns a copy of the error with each detail changed, also those in chains.
func (e *Error) WithDetails(change func(ErrorDetail) ErrorDetail) *Error {
	copied := *e
	copied.Details = changedDetails(e.Details, change)
	return &copied
}

func changedDetails(details []ErrorDetail, change func(ErrorDetail) ErrorDetail) (changed []ErrorDetail) {
	for _, d := range details {
		d.Chain = changedDetails(d.Chain, change)
		changed = append(changed, change(d))
	}
	return changed
}

// Code returns the platform's first code, zero when there is none.
func (e *Error) Code() int {
	if len(e.Details) == 0 {
		return 0
	}
	return e.Details[0].Code
}

// hasCode looks through the whole chain: older answers wrap the root cause.
func (e *Error) hasCode(code int) bool { return anyDetail(e.Details, code) }

func anyDetail(details []ErrorDetail, code int) bool {
	for _, d := range details {
		if d.Code == code || anyDetail(d.Chain, code) {
			return true
		}
	}
	return false
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Call != "" {
		b.WriteString(e.Call + ": ")
	}
	fmt.Fprintf(&b, "%d %s", e.Status, http.StatusText(e.Status))
	for _, d := range e.Details {
		b.WriteString(": " + d.String())
	}
	if len(e.Details) == 0 && e.Body != "" {
		fmt.Fprintf(&b, ": %q", e.Body)
	}
	return b.String()
}

// String renders a detail with its code, where it points, and what it wraps.
func (d ErrorDetail) String() string {
	var b strings.Builder
	b.WriteString(d.Message)
	if d.Code != 0 {
		fmt.Fprintf(&b, " (code %d)", d.Code)
	}
	if d.Source.Pointer != "" {
		b.WriteString(" at " + d.Source.Pointer)
	}
	for _, c := range d.Chain {
		b.WriteString(": " + c.String())
	}
	return b.String()
}

// Is reports whether the failure is the outcome target stands for.
func (e *Error) Is(target error) bool {
	for _, o := range outcomes {
		if o.outcome == target {
			return o.is(e)
		}
	}
	return false
}

// outcomes says by status and code which failure is which.
var outcomes = []struct {
	outcome error
	is      func(*Error) bool
}{
	{ErrUnauthenticated, func(e *Error) bool {
		return e.Status == http.StatusUnauthorized || e.Status == http.StatusBadRequest && e.hasCode(CodeMalformed)
	}},
	{ErrForbidden, func(e *Error) bool { return e.Status == http.StatusForbidden }},
	{ErrEntryPointNotFound, func(e *Error) bool { return e.Status == http.StatusNotFound && e.hasCode(CodeEntryPointNotFound) }},
	{ErrNotFound, func(e *Error) bool { return e.Status == http.StatusNotFound && !e.hasCode(CodeNoRoute) }},
	{ErrNotOffered, func(e *Error) bool {
		return e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented ||
			e.Status == http.StatusNotFound && e.hasCode(CodeNoRoute)
	}},
	{ErrEntryPointExists, func(e *Error) bool { return e.Status == http.StatusBadRequest && e.hasCode(CodeEntryPointExists) }},
	{ErrNotEntitled, func(e *Error) bool { return e.Status == http.StatusBadRequest && e.hasCode(CodeNotEntitled) }},
	{ErrInvalid, func(e *Error) bool {
		return e.Status == http.StatusBadRequest && !e.hasCode(CodeEntryPointExists) && !e.hasCode(CodeMalformed) ||
			e.Status == http.StatusUnprocessableEntity
	}},
	{ErrThrottled, func(e *Error) bool { return e.Status == http.StatusTooManyRequests }},
	{ErrUnavailable, func(e *Error) bool { return e.Status >= 500 && e.Status != http.StatusNotImplemented }},
}

// CredentialError says that a credential could not be read, so that nothing was sent. It is
// [ErrUnauthenticated]: until it can be read, nothing else works with it either.
type CredentialError struct{ Err error }

func (e *CredentialError) Error() string { return "reading the credential: " + e.Err.Error() }

// Unwrap returns why.
func (e *CredentialError) Unwrap() error { return e.Err }

// Is reports whether it is [ErrUnauthenticated].
func (e *CredentialError) Is(target error) bool { return target == ErrUnauthenticated }

// Cause is the reason without what differs each time.
func (e *CredentialError) Cause() string { return "the credential cannot be read" }
