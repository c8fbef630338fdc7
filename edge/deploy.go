package edge

import "context"

// The calls below are known beyond the reference (profile "extended"): to read
// more of rulesets, to deploy a managed ruleset, and to try a write without
// making it. Every one may return [ErrNotOffered] beside the errors of [Reader]:
// this platform lacks the call.

// RulesetReader reads what [Reader] does not: versions of the past.
type RulesetReader interface {
	// RulesetVersion returns a ruleset of an account, or by way of a zone, as it was at
	// a version, which is what an execute rule with that action_parameters.version runs.
	//
	// It returns [ErrNotFound] for a version that does not exist.
	RulesetVersion(ctx context.Context, scope Scope, id RulesetID, version string) (Ruleset, error)
}

// Deployer deploys managed rulesets in a zone or an account, and takes deployments away. No
// call replaces what exists: an entry point is created where there is none, and
// rules are added and deleted one at a time.
//
// Each call is sent at most as often as it certainly had no effect, and calls
// what [BeforeSend] put into the context directly before. The result is the whole
// entry point after the write, or nil where the platform answers without one.
// Beside the errors of [Reader] each returns [ErrInvalid] when the platform
// refuses the body, [ErrNotFound] for an unknown scope, ruleset or rule, and
// [ErrOutcomeUnknown] when the request may have taken effect: read before trying
// again.
type Deployer interface {
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
// [ErrNotDry] where the platform answered as if it had written.
type DryRunner interface {
	TryUpdateRule(ctx context.Context, scope Scope, entryPoint RulesetID, rule RuleID, body Rule) error
	TryCreateEntryPoint(ctx context.Context, scope Scope, phase Phase, rules []Rule) error
	TryAddRule(ctx context.Context, scope Scope, entryPoint RulesetID, body Rule) error
}

// DryRunOnly returns a view of r that can try writes and make none, not even after a type
// assertion.
func DryRunOnly(r DryRunner) DryRunner { return dryRunOnly{r} }

type dryRunOnly struct{ DryRunner }

// ExtendedReader is the part of [ExtendedPlatform] that changes nothing.
type ExtendedReader interface {
	Reader
	RulesetReader
	Directory
}

// ExtendedPlatform is everything about zones and rulesets that the profile
// "extended" has.
type ExtendedPlatform interface {
	ExtendedReader
	Writer
	Deployer
	DryRunner
}

// ReadOnlyExtended returns a view of r that can neither write nor try to, not
// even after a type assertion.
func ReadOnlyExtended(r ExtendedReader) ExtendedReader { return readOnlyExtended{r} }

type readOnlyExtended struct{ ExtendedReader }

// CreateEntryPoint fails with [ErrReadOnly].
func (NoWriter) CreateEntryPoint(context.Context, Scope, Phase, []Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// AddRule fails with [ErrReadOnly].
func (NoWriter) AddRule(context.Context, Scope, RulesetID, Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// DeleteRule fails with [ErrReadOnly].
func (NoWriter) DeleteRule(context.Context, Scope, RulesetID, RuleID) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// NoDeployer is the [Deployer] of a platform without these calls: it sends nothing.
type NoDeployer struct{}

// CreateEntryPoint fails with [ErrNotOffered].
func (NoDeployer) CreateEntryPoint(context.Context, Scope, Phase, []Rule) (*Ruleset, error) {
	return nil, ErrNotOffered
}

// AddRule fails with [ErrNotOffered].
func (NoDeployer) AddRule(context.Context, Scope, RulesetID, Rule) (*Ruleset, error) {
	return nil, ErrNotOffered
}

// DeleteRule fails with [ErrNotOffered].
func (NoDeployer) DeleteRule(context.Context, Scope, RulesetID, RuleID) (*Ruleset, error) {
	return nil, ErrNotOffered
}

// EntryPointBody is the body that creates an entry point.
func EntryPointBody(scope Scope, phase Phase, rules []Rule) Ruleset {
	bodies := make([]Rule, len(rules))
	for i, r := range rules {
		bodies[i] = r.Update()
	}
	return Ruleset{Name: "default", Kind: scope.EntryKind(), Phase: phase, Rules: bodies}
}

// ReadOnlyView is [ReadOnlyExtended] of what reads more than [Reader], and [ReadOnly] of
// anything else.
func ReadOnlyView(r Reader) Reader {
	if extended, ok := r.(ExtendedReader); ok {
		return ReadOnlyExtended(extended)
	}
	return ReadOnly(r)
}
