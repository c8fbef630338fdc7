package edge

import "context"

// Reader is the part of the contract that changes nothing.
//
// Every call may return [ErrUnauthenticated], [ErrForbidden], [ErrThrottled],
// [ErrUnavailable] or [ErrUnreadable]; what else a call may return is said at
// the call. None of these ever means "empty". A call that the reference does not show
// ([InReference]) may also return [ErrNotOffered]: this platform lacks it.
type Reader interface {
	// Offers is false for a call that is known to be missing for scopes of a level: it
	// returns [ErrNotOffered], and sends nothing. A call that is offered may turn out to
	// be missing.
	Offers(call Call, level Level) bool

	// Rulesets lists the rulesets of an account, all pages of them, without their
	// rules (reference, "List account rulesets"). The order is the platform's. For a
	// zone it lists those that exist there and the managed ones that can be deployed
	// there, also for a credential that may not read the account's.
	//
	// It returns [ErrNotFound] for an unknown account or zone.
	Rulesets(ctx context.Context, scope Scope) ([]Ruleset, error)

	// Ruleset returns one of them with its rules (reference, "Get an account
	// ruleset").
	//
	// It returns [ErrNotFound] for an unknown ruleset.
	Ruleset(ctx context.Context, scope Scope, id RulesetID) (Ruleset, error)

	// RulesetVersion returns one of them as it was at a version, which is what an execute
	// rule with that action_parameters.version runs.
	//
	// It returns [ErrNotFound] for a version that does not exist.
	RulesetVersion(ctx context.Context, scope Scope, id RulesetID, version string) (Ruleset, error)

	// EntryPoint returns the entry point ruleset of a phase (reference, "Get a zone
	// entry point ruleset").
	//
	// It returns [ErrEntryPointNotFound] where there is none, and only then:
	// the one answer that means "nothing is deployed here".
	EntryPoint(ctx context.Context, scope Scope, phase Phase) (Ruleset, error)

	Directory
}

// Writer is the part of the contract that changes rulesets. No [Write] replaces what
// exists: an entry point is created where there is none, and rules are added, updated
// and deleted one at a time.
type Writer interface {
	// Send makes a write. It is sent at most as often as it certainly had no effect, and
	// what [BeforeSend] put into the context is called directly before. The result is the
	// whole entry point after the write, or nil where the platform answers without one.
	//
	// Beside the errors of [Reader] it returns [ErrInvalid] when the platform refuses the
	// body, [ErrNotFound] for an unknown scope, ruleset or rule, and [ErrOutcomeUnknown]
	// when the request may have taken effect: read before trying again.
	Send(ctx context.Context, write Write) (*Ruleset, error)
}

// DryRunner asks the platform whether it would accept a write: permission,
// entitlement, expression and all that it validates. The reference shows no such call.
type DryRunner interface {
	// Try is a dry run of a write: nothing is written. Nil means that the platform would
	// accept it now. There is none of a deletion: [ErrNotOffered].
	//
	// It returns the errors of the write itself, never [ErrOutcomeUnknown]; and [ErrNotDry]
	// where the platform answered as if it had written.
	Try(ctx context.Context, write Write) error
}

// Platform is the whole contract about zones, accounts and their rulesets.
type Platform interface {
	Reader
	Writer
	DryRunner
}

// ReadOnly returns a view of r that cannot write, not even after a type
// assertion. A plan is made over it.
func ReadOnly(r Reader) Reader { return readOnly{r} }

type readOnly struct{ Reader }

// DryRunOnly returns a view of r that can try writes and make none, not even after a type
// assertion.
func DryRunOnly(r DryRunner) DryRunner { return dryRunOnly{r} }

type dryRunOnly struct{ DryRunner }

// NoWriter is the [Writer] of what may only read: it sends nothing, and every call fails
// with [ErrReadOnly].
type NoWriter struct{}

// Send implements [Writer].
func (NoWriter) Send(context.Context, Write) (*Ruleset, error) { return nil, ErrReadOnly }
