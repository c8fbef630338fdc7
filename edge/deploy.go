package edge

import (
	"context"
	"fmt"
	"net/url"
)

// The calls below are known beyond the reference (profile "extended"): to read
// more of rulesets, to deploy a managed ruleset, and to try a write without
// making it. Every one may return [ErrNotOffered] beside the errors of [Reader]:
// this platform lacks the call.

// RulesetReader reads what [Reader] does not: a zone's own list of rulesets, for
// a credential that may not read the account's, and versions of the past.
type RulesetReader interface {
	// ZoneRulesets lists the rulesets that exist in a zone and the managed ones that
	// can be deployed there, all pages of them, without their rules.
	//
	// It returns [ErrNotFound] for an unknown zone.
	ZoneRulesets(ctx context.Context, zone ZoneID) ([]Ruleset, error)

	// ZoneRuleset returns one of them with its rules.
	ZoneRuleset(ctx context.Context, zone ZoneID, id RulesetID) (Ruleset, error)

	// AccountRulesetVersion returns a ruleset of an account as it was at a version,
	// which is what an execute rule with that action_parameters.version runs.
	//
	// It returns [ErrNotFound] for a version that does not exist.
	AccountRulesetVersion(ctx context.Context, account AccountID, id RulesetID, version string) (Ruleset, error)

	// ZoneRulesetVersion does the same by way of a zone.
	ZoneRulesetVersion(ctx context.Context, zone ZoneID, id RulesetID, version string) (Ruleset, error)
}

// Deployer deploys managed rulesets in a zone, and takes deployments away. No
// call replaces what exists: an entry point is created where there is none, and
// rules are added and deleted one at a time.
//
// Each call is sent at most as often as it certainly had no effect, and calls
// what [BeforeSend] put into the context directly before. The result is the whole
// entry point after the write, or nil where the platform answers without one.
// Beside the errors of [Reader] each returns [ErrInvalid] when the platform
// refuses the body, [ErrNotFound] for an unknown zone, ruleset or rule, and
// [ErrOutcomeUnknown] when the request may have taken effect: read before trying
// again.
type Deployer interface {
	// CreateEntryPoint creates a zone's entry point of the phase
	// [PhaseFirewallManaged] with these rules.
	//
	// It returns [ErrEntryPointExists] where the zone has one, and changes nothing:
	// read it, and add to it.
	CreateEntryPoint(ctx context.Context, zone ZoneID, rules []Rule) (*Ruleset, error)

	// AddRule adds a rule at the end of a zone's entry point. Two calls add two
	// rules, where the platform permits that.
	AddRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, body Rule) (*Ruleset, error)

	// DeleteRule deletes one rule of a zone's entry point, which stays, also without
	// any rule. [ErrNotFound] means that the rule does not exist any more.
	DeleteRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, rule RuleID) (*Ruleset, error)
}

// DryRunner asks the platform whether it would accept a write: permission,
// entitlement, expression and all that it validates. Nothing is written. Nil
// means that the platform would accept it now.
//
// Each returns the errors of the write itself, never [ErrOutcomeUnknown]; and
// [ErrNotDry] where the platform answered as if it had written.
type DryRunner interface {
	TryUpdateRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, rule RuleID, body Rule) error
	TryCreateEntryPoint(ctx context.Context, zone ZoneID, rules []Rule) error
	TryAddRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, body Rule) error
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
func (NoWriter) CreateEntryPoint(context.Context, ZoneID, []Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// AddRule fails with [ErrReadOnly].
func (NoWriter) AddRule(context.Context, ZoneID, RulesetID, Rule) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// DeleteRule fails with [ErrReadOnly].
func (NoWriter) DeleteRule(context.Context, ZoneID, RulesetID, RuleID) (*Ruleset, error) {
	return nil, ErrReadOnly
}

// NoDeployer is the [Deployer] of a platform without these calls: it sends nothing.
type NoDeployer struct{}

// CreateEntryPoint fails with [ErrNotOffered].
func (NoDeployer) CreateEntryPoint(context.Context, ZoneID, []Rule) (*Ruleset, error) {
	return nil, ErrNotOffered
}

// AddRule fails with [ErrNotOffered].
func (NoDeployer) AddRule(context.Context, ZoneID, RulesetID, Rule) (*Ruleset, error) {
	return nil, ErrNotOffered
}

// DeleteRule fails with [ErrNotOffered].
func (NoDeployer) DeleteRule(context.Context, ZoneID, RulesetID, RuleID) (*Ruleset, error) {
	return nil, ErrNotOffered
}

// EntryPointBody is the body that creates a zone's entry point.
func EntryPointBody(zone ZoneID, rules []Rule) Ruleset {
	bodies := make([]Rule, len(rules))
	for i, r := range rules {
		bodies[i] = r.Update()
	}
	return Ruleset{Name: "default", Kind: zone.EntryKind(), Phase: PhaseFirewallManaged, Rules: bodies}
}

// ZoneRulesetsPath is the path that lists a zone's rulesets, and creates one.
func ZoneRulesetsPath(zone ZoneID) string { return zone.path() + "/rulesets" }

// ZoneRulesetPath is the path of one ruleset of a zone.
func ZoneRulesetPath(zone ZoneID, id RulesetID) string {
	return fmt.Sprintf("%s/rulesets/%s", zone.path(), id)
}

// RulesPath is the path that adds a rule to a zone's entry point.
func RulesPath(zone ZoneID, entryPoint RulesetID) string {
	return ZoneRulesetPath(zone, entryPoint) + "/rules"
}

// VersionPath is the path of a version of the ruleset at a path.
func VersionPath(ruleset, version string) string {
	return ruleset + "/versions/" + url.PathEscape(version)
}

// ReadOnlyView is [ReadOnlyExtended] of what reads more than [Reader], and [ReadOnly] of
// anything else.
func ReadOnlyView(r Reader) Reader {
	if extended, ok := r.(ExtendedReader); ok {
		return ReadOnlyExtended(extended)
	}
	return ReadOnly(r)
}
