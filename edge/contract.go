package edge

import "context"

// Reader is the part of the contract that changes nothing.
//
// Every call may return [ErrUnauthenticated], [ErrForbidden], [ErrThrottled],
// [ErrUnavailable] or [ErrUnreadable]; what else a call may return is said at
// the call. None of these ever means "empty".
type Reader interface {
	// AccountRulesets lists the rulesets of an account, all pages of them, without
	// their rules (reference, "List account rulesets"). The order is the
	// platform's.
	//
	// It returns [ErrNotFound] for an unknown account.
	AccountRulesets(ctx context.Context, account AccountID) ([]Ruleset, error)

	// AccountRuleset returns one ruleset of an account with its rules (reference,
	// "Get an account ruleset").
	//
	// It returns [ErrNotFound] for an unknown ruleset.
	AccountRuleset(ctx context.Context, account AccountID, id RulesetID) (Ruleset, error)

	// EntryPoint returns a zone's entry point ruleset of the phase
	// [PhaseFirewallManaged] (reference, "Get a zone entry point ruleset").
	//
	// It returns [ErrEntryPointNotFound] when the zone has none, and only then:
	// the one answer that means "nothing is deployed here".
	EntryPoint(ctx context.Context, zone ZoneID) (Ruleset, error)
}

// Writer is the part of the contract that changes the platform.
type Writer interface {
	// UpdateRule replaces the definition of one rule of a zone's entry point with
	// body, as [Rule.Update] makes it (reference, "Update a zone ruleset rule").
	// The platform may replace or merge; callers send the full truth and read
	// back. The result is the whole entry point after the write, or nil where the
	// platform answers without a body.
	//
	// Beside the errors of [Reader] it returns [ErrInvalid] when the platform
	// refuses the body, [ErrNotFound] for an unknown ruleset or rule, and
	// [ErrOutcomeUnknown] when the request may have taken effect: read before
	// trying again.
	UpdateRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, rule RuleID, body Rule) (*Ruleset, error)
}

// Platform is the whole contract.
type Platform interface {
	Reader
	Writer
}

// NoWriter is the [Writer] of what may only read: it sends nothing.
type NoWriter struct{}

// UpdateRule fails with [ErrReadOnly].
func (NoWriter) UpdateRule(context.Context, ZoneID, RulesetID, RuleID, Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// ReadOnly returns a view of r that cannot write, not even after a type
// assertion. A plan is made over it.
func ReadOnly(r Reader) Reader { return readOnly{r} }

type readOnly struct{ reader Reader }

func (v readOnly) AccountRulesets(ctx context.Context, account AccountID) ([]Ruleset, error) {
	return v.reader.AccountRulesets(ctx, account)
}

func (v readOnly) AccountRuleset(ctx context.Context, account AccountID, id RulesetID) (Ruleset, error) {
	return v.reader.AccountRuleset(ctx, account, id)
}

func (v readOnly) EntryPoint(ctx context.Context, zone ZoneID) (Ruleset, error) {
	return v.reader.EntryPoint(ctx, zone)
}
