package mem

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
)

// begin begins a write: it encodes the body, and calls what
// [edge.BeforeSend] put into the context unless the run is dry.
func (c RulesetCalls) begin(ctx context.Context, call edge.Call, scope edge.Scope, request string, body any, dry bool) (Rulesets, []byte, error) {
	r, err := c.in(ctx, call, scope, request, dry)
	if err != nil {
		return r, nil, err
	}
	data, err := encode(ctx, body)
	if err == nil && !dry {
		err = edge.Sending(ctx)
	}
	return r, data, err
}

// UpdateRule is [Rulesets.UpdateRule] with the encoding of body.
func (c RulesetCalls) UpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	return c.updateRule(ctx, scope, entryPoint, rule, body, false)
}

// TryUpdateRule is the dry run of UpdateRule.
func (c RulesetCalls) TryUpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) error {
	_, err := c.updateRule(ctx, scope, entryPoint, rule, body, true)
	return err
}

func (c RulesetCalls) updateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule, dry bool) (*edge.Ruleset, error) {
	r, data, err := c.begin(ctx, edge.CallUpdateRule, scope, "PATCH "+edge.RulePath(scope, entryPoint, rule), body, dry)
	if err != nil {
		return nil, err
	}
	return r.UpdateRule(ctx, entryPoint, rule, data)
}

// CreateEntryPoint is [Rulesets.Create] with the body of an entry point.
func (c RulesetCalls) CreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) (*edge.Ruleset, error) {
	return c.createEntryPoint(ctx, scope, phase, rules, false)
}

// TryCreateEntryPoint is the dry run of CreateEntryPoint.
func (c RulesetCalls) TryCreateEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule) error {
	_, err := c.createEntryPoint(ctx, scope, phase, rules, true)
	return err
}

func (c RulesetCalls) createEntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase, rules []edge.Rule, dry bool) (*edge.Ruleset, error) {
	body := edge.EntryPointBody(scope, phase, rules)
	r, data, err := c.begin(ctx, edge.CallCreateEntryPoint, scope, "POST "+edge.RulesetsPath(scope), body, dry)
	if err != nil {
		return nil, err
	}
	return r.Create(ctx, data)
}

// AddRule is [Rulesets.AddRule] with the encoding of body.
func (c RulesetCalls) AddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) (*edge.Ruleset, error) {
	return c.addRule(ctx, scope, entryPoint, body, false)
}

// TryAddRule is the dry run of AddRule.
func (c RulesetCalls) TryAddRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule) error {
	_, err := c.addRule(ctx, scope, entryPoint, body, true)
	return err
}

func (c RulesetCalls) addRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, body edge.Rule, dry bool) (*edge.Ruleset, error) {
	r, data, err := c.begin(ctx, edge.CallAddRule, scope, "POST "+edge.RulesPath(scope, entryPoint), body.Update(), dry)
	if err != nil {
		return nil, err
	}
	return r.AddRule(ctx, entryPoint, data)
}

// DeleteRule deletes one rule.
func (c RulesetCalls) DeleteRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID) (*edge.Ruleset, error) {
	r, _, err := c.begin(ctx, edge.CallDeleteRule, scope, "DELETE "+edge.RulePath(scope, entryPoint, rule), nil, false)
	if err != nil {
		return nil, err
	}
	return r.DeleteRule(ctx, entryPoint, rule)
}
