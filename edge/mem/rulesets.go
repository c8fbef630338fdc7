package mem

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/edge"
)

// The calls of the contract, which encode their bodies and hand them to
// [Rulesets].

// AccountRulesets lists the rulesets of an account in the order of the seed,
// without their rules.
func (p *Platform) AccountRulesets(ctx context.Context, account edge.AccountID) ([]edge.Ruleset, error) {
	return p.Rulesets(Owner{Account: account}, false).List(ctx)
}

// AccountRuleset returns one ruleset of an account with its rules. Under the
// quirk ruleset-bump a read may find a newer version.
func (p *Platform) AccountRuleset(ctx context.Context, account edge.AccountID, id edge.RulesetID) (edge.Ruleset, error) {
	return p.Rulesets(Owner{Account: account}, false).Get(ctx, id)
}

// EntryPoint returns a zone's entry point. A zone without one and a zone that
// does not exist are different errors.
func (p *Platform) EntryPoint(ctx context.Context, zone edge.ZoneID) (edge.Ruleset, error) {
	if err := p.offers(zone, "GET "+edge.EntryPointPath(zone)); err != nil {
		return edge.Ruleset{}, err
	}
	return p.Rulesets(ownerOf(zone), false).EntryPoint(ctx, edge.PhaseFirewallManaged)
}

// UpdateRule is [Rulesets.UpdateRule] with the encoding of body.
func (p *Platform) UpdateRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	data, err := encode(ctx, body)
	if err == nil {
		err = edge.Sending(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p.UpdateRuleJSON(ctx, zone, entryPoint, rule, data)
}

// UpdateRuleJSON is [Rulesets.UpdateRule] of a zone.
func (p *Platform) UpdateRuleJSON(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, rule edge.RuleID, body []byte) (*edge.Ruleset, error) {
	if err := p.offers(zone, "PATCH "+edge.RulePath(zone, entryPoint, rule)); err != nil {
		return nil, err
	}
	return p.Rulesets(ownerOf(zone), false).UpdateRule(ctx, entryPoint, rule, body)
}

// offers: the reference shows a call for zones and not for accounts.
func (p *Platform) offers(zone edge.ZoneID, call string) error {
	if _, account := zone.Account(); account && !p.extended {
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
