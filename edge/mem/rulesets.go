package mem

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/edge"
)

// The calls of the contract, which encode their bodies and hand them to
// [Rulesets].

// Rulesets lists rulesets in the order of the seed, without their rules: a zone's
// with the managed ones of its account.
func (p *Platform) Rulesets(ctx context.Context, scope edge.Scope) ([]edge.Ruleset, error) {
	if err := p.offers(scope, edge.LevelAccount, "GET "+edge.RulesetsPath(scope)); err != nil {
		return nil, err
	}
	return p.In(scope, false).List(ctx)
}

// Ruleset returns one of them with its rules. Under the quirk ruleset-bump a read
// may find a newer version.
func (p *Platform) Ruleset(ctx context.Context, scope edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	if err := p.offers(scope, edge.LevelAccount, "GET "+edge.RulesetPath(scope, id)); err != nil {
		return edge.Ruleset{}, err
	}
	return p.In(scope, false).Get(ctx, id)
}

// EntryPoint returns the entry point of a phase. A zone without one and a zone that
// does not exist are different errors.
func (p *Platform) EntryPoint(ctx context.Context, scope edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if err := p.offers(scope, edge.LevelZone, "GET "+edge.EntryPointPath(scope, phase)); err != nil {
		return edge.Ruleset{}, err
	}
	return p.In(scope, false).EntryPoint(ctx, phase)
}

// UpdateRule is [Rulesets.UpdateRule] with the encoding of body.
func (p *Platform) UpdateRule(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	data, err := encode(ctx, body)
	if err == nil {
		err = edge.Sending(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p.UpdateRuleJSON(ctx, scope, entryPoint, rule, data)
}

// UpdateRuleJSON is [Rulesets.UpdateRule] of a scope.
func (p *Platform) UpdateRuleJSON(ctx context.Context, scope edge.Scope, entryPoint edge.RulesetID, rule edge.RuleID, body []byte) (*edge.Ruleset, error) {
	if err := p.offers(scope, edge.LevelZone, "PATCH "+edge.RulePath(scope, entryPoint, rule)); err != nil {
		return nil, err
	}
	return p.In(scope, false).UpdateRule(ctx, entryPoint, rule, body)
}

// offers: the reference shows each call at one level only.
func (p *Platform) offers(scope edge.Scope, shown edge.Level, call string) error {
	if scope.Level != shown && !p.extended {
		return notOffered(call)
	}
	return nil
}

// encode encodes a body, unless the call has ended.
func encode(ctx context.Context, body any) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the request body: %w", err)
	}
	return data, ctx.Err()
}
