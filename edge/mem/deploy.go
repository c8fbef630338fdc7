package mem

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
)

var _ edge.ExtendedPlatform = (*Platform)(nil)

// BeyondCalls are the calls on rulesets and zones that are known beyond the
// reference, which a [Platform] has itself.
type BeyondCalls struct{ p *Platform }

// offered is the calls on rulesets that are known beyond the reference.
func (b BeyondCalls) offered(ctx context.Context, call string, scope edge.Scope, dry bool) (Rulesets, error) {
	if err := b.p.enter(ctx, call); err != nil {
		return Rulesets{}, err
	}
	b.p.mu.Unlock()
	return b.p.In(scope, dry), nil
}

// RulesetVersion returns a ruleset as it was at a version.
func (b BeyondCalls) RulesetVersion(ctx context.Context, scope edge.Scope, id edge.RulesetID, version string) (edge.Ruleset, error) {
	r, err := b.offered(ctx, "GET "+edge.VersionPath(scope, id, version), scope, false)
	if err != nil {
		return edge.Ruleset{}, err
	}
	return r.Version(ctx, id, version)
}

// begin begins a write: it encodes the body, and calls what
// [edge.BeforeSend] put into the context unless the run is dry.
func (b BeyondCalls) begin(ctx context.Context, call string, scope edge.Scope, body any, dry bool) (Rulesets, []byte, error) {
	r, err := b.offered(ctx, call, scope, dry)
	if err != nil {
		return r, nil, err
	}
	data, err := encode(ctx, body)
	if err == nil && !dry {
		err = edge.Sending(ctx)
	}
	return r, data, err
}

// CreateEntryPoint is [Rulesets.Create] with the body of an entry point.
func (b BeyondCalls) CreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) (*edge.Ruleset, error) {
	return b.createEntryPoint(ctx, scope, phase, rules, false)
}

// TryCreateEntryPoint is the dry run of CreateEntryPoint.
func (b BeyondCalls) TryCreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) error {
	_, err := b.createEntryPoint(ctx, scope, phase, rules, true)
	return err
}

func (b BeyondCalls) createEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule, dry bool) (*edge.Ruleset, error) {
	r, body, err := b.begin(ctx, "POST "+edge.RulesetsPath(scope), scope, edge.EntryPointBody(scope, phase, rules), dry)
	if err != nil {
		return nil, err
	}
	return r.Create(ctx, body)
}

// AddRule is [Rulesets.AddRule] with the encoding of body.
func (b BeyondCalls) AddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) (*edge.Ruleset, error) {
	return b.addRule(ctx, scope, entryPoint, body, false)
}

// TryAddRule is the dry run of AddRule.
func (b BeyondCalls) TryAddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) error {
	_, err := b.addRule(ctx, scope, entryPoint, body, true)
	return err
}

func (b BeyondCalls) addRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule, dry bool) (*edge.Ruleset, error) {
	r, data, err := b.begin(ctx, "POST "+edge.RulesPath(scope, entryPoint), scope, body.Update(), dry)
	if err != nil {
		return nil, err
	}
	return r.AddRule(ctx, entryPoint, data)
}

// TryUpdateRule is the dry run of UpdateRule.
func (b BeyondCalls) TryUpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) error {
	r, data, err := b.begin(ctx, "PATCH "+edge.RulePath(scope, entryPoint, rule), scope, body, true)
	if err == nil {
		_, err = r.UpdateRule(ctx, entryPoint, rule, data)
	}
	return err
}

// DeleteRule deletes one rule.
func (b BeyondCalls) DeleteRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID) (*edge.Ruleset, error) {
	r, _, err := b.begin(ctx, "DELETE "+edge.RulePath(scope, entryPoint, rule), scope, nil, false)
	if err != nil {
		return nil, err
	}
	return r.DeleteRule(ctx, entryPoint, rule)
}
