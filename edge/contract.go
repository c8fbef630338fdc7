package edge

import "context"

// Reader is the part of the contract that changes nothing.
//
// Every call may return [ErrUnauthenticated], [ErrForbidden], [ErrThrottled],
// [ErrUnavailable] or [ErrUnreadable]; what else a call may return is said at
// the call. None of these ever means "empty".
type Reader interface {
	// Rulesets lists the rulesets of an account, all pages of them, without their
	// rules (reference, "List account rulesets"). The order is the platform's. For a
	// zone, which is known beyond the reference, it lists those that exist there and
	// the managed ones that can be deployed there.
	//
	// It returns [ErrNotFound] for an unknown account or zone.
	Rulesets(ctx context.Context, scope Scope) ([]Ruleset, error)

	// Ruleset returns one of them with its rules (reference, "Get an account
	// ruleset").
	//
	// It returns [ErrNotFound] for an unknown ruleset.
	Ruleset(ctx context.Context, scope Scope, id RulesetID) (Ruleset, error)

	// EntryPoint returns the entry point ruleset of a phase (reference, "Get a zone
	// entry point ruleset"; that of an account is known beyond it).
	//
	// It returns [ErrEntryPointNotFound] where there is none, and only then:
	// the one answer that means "nothing is deployed here".
	EntryPoint(ctx context.Context, scope Scope, phase Phase) (Ruleset, error)
}

// Writer is the part of the contract that changes the platform.
type Writer interface {
	// UpdateRule replaces the definition of one rule of an entry point with
	// body, as [Rule.Update] makes it (reference, "Update a zone ruleset rule").
	// The platform may replace or merge; callers send the full truth and read
	// back. The result is the whole entry point after the write, or nil where the
	// platform answers without a body. Directly before it is sent, it calls what
	// [BeforeSend] put into the context.
	//
	// Beside the errors of [Reader] it returns [ErrInvalid] when the platform
	// refuses the body, [ErrNotFound] for an unknown ruleset or rule, and
	// [ErrOutcomeUnknown] when the request may have taken effect: read before
	// trying again.
	UpdateRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID, body Rule) (*Ruleset, error)
}

// Platform is the whole contract.
type Platform interface {
	Reader
	Writer
}

// NoWriter is the [Writer] of what may only read: it sends nothing.
type NoWriter struct{}

// UpdateRule fails with [ErrReadOnly].
func (NoWriter) UpdateRule(context.Context, Scope, RulesetID, RuleID, Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// ReadOnly returns a view of r that cannot write, not even after a type
// assertion. A plan is made over it.
func ReadOnly(r Reader) Reader { return readOnly{r} }

type readOnly struct{ reader Reader }

func (v readOnly) Rulesets(ctx context.Context, scope Scope) ([]Ruleset, error) {
	return v.reader.Rulesets(ctx, scope)
}

func (v readOnly) Ruleset(ctx context.Context, scope Scope, id RulesetID) (Ruleset, error) {
	return v.reader.Ruleset(ctx, scope, id)
}

func (v readOnly) EntryPoint(ctx context.Context, scope Scope, phase Phase) (Ruleset, error) {
	return v.reader.EntryPoint(ctx, scope, phase)
}
