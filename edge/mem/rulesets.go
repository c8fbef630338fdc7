package mem

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// AccountRulesets lists the rulesets of an account in the order of the seed,
// without their rules.
func (p *Platform) AccountRulesets(ctx context.Context, account edge.AccountID) ([]edge.Ruleset, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(account)
	if a == nil {
		return nil, notFound("GET "+edge.AccountRulesetsPath(account), "account", string(account))
	}
	list := make([]edge.Ruleset, len(a.Rulesets))
	for i, r := range a.Rulesets {
		r.Rules = nil
		list[i] = cloneRuleset(r)
	}
	return list, nil
}

// AccountRuleset returns one ruleset of an account with its rules. Under the
// quirk ruleset-bump a read may find a newer version.
func (p *Platform) AccountRuleset(ctx context.Context, account edge.AccountID, id edge.RulesetID) (edge.Ruleset, error) {
	if err := ctx.Err(); err != nil {
		return edge.Ruleset{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	call := "GET " + edge.AccountRulesetPath(account, id)
	a := p.account(account)
	if a == nil {
		return edge.Ruleset{}, notFound(call, "account", string(account))
	}
	i := slices.IndexFunc(a.Rulesets, func(r edge.Ruleset) bool { return r.ID == id })
	if i < 0 {
		return edge.Ruleset{}, notFound(call, "ruleset", string(id))
	}
	p.bumpOnRead(&a.Rulesets[i])
	return p.behaviour.answer(a.Rulesets[i]), nil
}

// EntryPoint returns a zone's entry point. A zone without one and a zone that
// does not exist are different errors.
func (p *Platform) EntryPoint(ctx context.Context, zone edge.ZoneID) (edge.Ruleset, error) {
	if err := ctx.Err(); err != nil {
		return edge.Ruleset{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	call := "GET " + edge.EntryPointPath(zone)
	z := p.zone(zone)
	if z == nil {
		return edge.Ruleset{}, notFound(call, "zone", string(zone))
	}
	if z.EntryPoint == nil {
		return edge.Ruleset{}, entryPointNotFound(call)
	}
	return p.behaviour.answer(*z.EntryPoint), nil
}

// UpdateRule is [Platform.UpdateRuleJSON] with the encoding of body.
func (p *Platform) UpdateRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) (*edge.Ruleset, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the rule: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := edge.Sending(ctx); err != nil {
		return nil, err
	}
	return p.UpdateRuleJSON(ctx, zone, entryPoint, rule, data)
}

// UpdateRuleJSON updates a rule with a request body as it came over the wire.
// It exists beside UpdateRule because an empty array and a missing one are
// different requests, and an [edge.Rule] cannot tell them apart.
//
// Without quirks the body replaces the rule's definition; the members that only
// the platform writes (id, version, last_updated) are ignored in it. The
// versions of rule and ruleset grow by 1 and both get a new last_updated, also
// when the body says nothing new.
func (p *Platform) UpdateRuleJSON(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, rule edge.RuleID, body []byte) (*edge.Ruleset, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	call := "PATCH " + edge.RulePath(zone, entryPoint, rule)
	z := p.zone(zone)
	if z == nil {
		return nil, notFound(call, "zone", string(zone))
	}
	if z.EntryPoint == nil || z.EntryPoint.ID != entryPoint {
		return nil, notFound(call, "ruleset", string(entryPoint))
	}
	i := slices.IndexFunc(z.EntryPoint.Rules, func(r edge.Rule) bool { return r.ID == rule })
	if i < 0 {
		return nil, ruleNotFound(call, rule)
	}
	live := z.EntryPoint.Rules[i]
	next, details := p.behaviour.update(live, body)
	if len(details) > 0 {
		return nil, invalid(call, details)
	}
	now := p.timestamp()
	next.ID, next.Version, next.LastUpdated = live.ID, nextVersion(live.Version), now
	z.EntryPoint.Rules[i] = next
	z.EntryPoint.Version, z.EntryPoint.LastUpdated = nextVersion(z.EntryPoint.Version), now
	answer := p.behaviour.answer(*z.EntryPoint)
	return &answer, nil
}
