package edge

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Recorder is a [Platform] that remembers the calls made through it, in the
// order in which they were made. It is safe for concurrent use.
type Recorder struct {
	platform Platform

	mu     sync.Mutex
	calls  []string
	parent *Recorder // that has the list; nil for this one
}

// Record returns a recorder in front of p.
func Record(p Platform) *Recorder { return &Recorder{platform: p} }

// Calls returns the calls so far, each as method and path of the reference.
func (r *Recorder) Calls() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Reset forgets the calls so far.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

func (r *Recorder) note(call string) {
	if r.parent != nil {
		r.parent.note(call)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// AccountRulesets notes the call and passes it on.
func (r *Recorder) AccountRulesets(ctx context.Context, account AccountID) ([]Ruleset, error) {
	r.note("GET " + AccountRulesetsPath(account))
	return r.platform.AccountRulesets(ctx, account)
}

// AccountRuleset notes the call and passes it on.
func (r *Recorder) AccountRuleset(ctx context.Context, account AccountID, id RulesetID) (Ruleset, error) {
	r.note("GET " + AccountRulesetPath(account, id))
	return r.platform.AccountRuleset(ctx, account, id)
}

// EntryPoint notes the call and passes it on.
func (r *Recorder) EntryPoint(ctx context.Context, zone ZoneID) (Ruleset, error) {
	r.note("GET " + EntryPointPath(zone))
	return r.platform.EntryPoint(ctx, zone)
}

// UpdateRule notes the call and passes it on.
func (r *Recorder) UpdateRule(ctx context.Context, zone ZoneID, entryPoint RulesetID, rule RuleID, body Rule) (*Ruleset, error) {
	r.note("PATCH " + RulePath(zone, entryPoint, rule))
	return r.platform.UpdateRule(ctx, zone, entryPoint, rule, body)
}

// The paths of the reference, relative to the base address.

// AccountRulesetsPath is the path that lists an account's rulesets.
func AccountRulesetsPath(account AccountID) string {
	return fmt.Sprintf("/accounts/%s/rulesets", account)
}

// AccountRulesetPath is the path of one ruleset of an account.
func AccountRulesetPath(account AccountID, id RulesetID) string {
	return fmt.Sprintf("/accounts/%s/rulesets/%s", account, id)
}

// EntryPointPath is the path of a zone's entry point.
func EntryPointPath(zone ZoneID) string {
	return fmt.Sprintf("%s/rulesets/phases/%s/entrypoint", zone.path(), PhaseFirewallManaged)
}

// RulePath is the path of one rule of a zone's entry point.
func RulePath(zone ZoneID, entryPoint RulesetID, rule RuleID) string {
	return fmt.Sprintf("%s/rulesets/%s/rules/%s", zone.path(), entryPoint, rule)
}
