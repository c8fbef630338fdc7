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

// Writer is the part of the contract that changes rulesets. No call replaces what
// exists: an entry point is created where there is none, and rules are added, updated
// and deleted one at a time.
//
// Each call is sent at most as often as it certainly had no effect, and calls
// what [BeforeSend] put into the context directly before. The result is the whole
// entry point after the write, or nil where the platform answers without one.
// Beside the errors of [Reader] each returns [ErrInvalid] when the platform
// refuses the body, [ErrNotFound] for an unknown scope, ruleset or rule, and
// [ErrOutcomeUnknown] when the request may have taken effect: read before trying
// again.
type Writer interface {
	// UpdateRule replaces the definition of one rule of an entry point with
	// body, as [Rule.Update] makes it (reference, "Update a zone ruleset rule").
	// The platform may replace or merge; callers send the full truth and read
	// back.
	UpdateRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID, body Rule) (*Ruleset, error)

	// CreateEntryPoint creates the entry point of a phase with these rules.
	//
	// It returns [ErrEntryPointExists] where there is one, and changes nothing:
	// read it, and add to it.
	CreateEntryPoint(ctx context.Context, scope Scope, phase Phase, rules []Rule) (*Ruleset, error)

	// AddRule adds a rule at the end of an entry point. Two calls add two
	// rules, where the platform permits that.
	AddRule(ctx context.Context, scope Scope, entryPoint RulesetID, body Rule) (*Ruleset, error)

	// DeleteRule deletes one rule of an entry point, which stays, also without
	// any rule. [ErrNotFound] means that the rule does not exist any more.
	DeleteRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID) (*Ruleset, error)
}

// DryRunner asks the platform whether it would accept a write: permission,
// entitlement, expression and all that it validates. Nothing is written. Nil
// means that the platform would accept it now.
//
// Each returns the errors of the write itself, never [ErrOutcomeUnknown]; and
// [ErrNotDry] where the platform answered as if it had written. The reference shows none.
type DryRunner interface {
	TryUpdateRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID, body Rule) error
	TryCreateEntryPoint(ctx context.Context, scope Scope, phase Phase, rules []Rule) error
	TryAddRule(ctx context.Context, scope Scope, entryPoint RulesetID, body Rule) error
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

// UpdateRule implements [Writer].
func (NoWriter) UpdateRule(context.Context, Scope, RulesetID, RuleID, Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// CreateEntryPoint implements [Writer].
func (NoWriter) CreateEntryPoint(context.Context, Scope, Phase, []Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// AddRule implements [Writer].
func (NoWriter) AddRule(context.Context, Scope, RulesetID, Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// DeleteRule implements [Writer].
func (NoWriter) DeleteRule(context.Context, Scope, RulesetID, RuleID) (*Ruleset, error) {
	return nil, ErrReadOnly
}
