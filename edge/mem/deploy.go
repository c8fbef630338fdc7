package mem

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
)

var _ edge.ExtendedPlatform = (*Platform)(nil)

// BeyondCalls are the calls on rulesets and zones that are known beyond the
// reference, which a [Platform] has itself.
type BeyondCalls struct{ p *Platform }

// offered is the calls on an owner's rulesets that are known beyond the
// reference.
func (b BeyondCalls) offered(ctx context.Context, call string, owner Owner, dry bool) (Rulesets, error) {
	if err := b.p.enter(ctx, call); err != nil {
		return Rulesets{}, err
	}
	b.p.mu.Unlock()
	return b.p.Rulesets(owner, dry), nil
}

// ZoneRulesets lists the rulesets of a zone, and the managed ones of its account.
func (b BeyondCalls) ZoneRulesets(ctx context.Context, zone edge.ZoneID) ([]edge.Ruleset, error) {
	r, err := b.offered(ctx, "GET "+edge.ZoneRulesetsPath(zone), ownerOf(zone), false)
	if err != nil {
		return nil, err
	}
	return r.List(ctx)
}

// ZoneRuleset returns one of them with its rules.
func (b BeyondCalls) ZoneRuleset(ctx context.Context, zone edge.ZoneID, id edge.RulesetID) (edge.Ruleset, error) {
	r, err := b.offered(ctx, "GET "+edge.ZoneRulesetPath(zone, id), ownerOf(zone), false)
	if err != nil {
		return edge.Ruleset{}, err
	}
	return r.Get(ctx, id)
}

// AccountRulesetVersion returns a ruleset of an account as it was at a version.
func (b BeyondCalls) AccountRulesetVersion(ctx context.Context, account edge.AccountID, id edge.RulesetID, version string) (edge.Ruleset, error) {
	call := "GET " + edge.VersionPath(edge.AccountRulesetPath(account, id), version)
	r, err := b.offered(ctx, call, Owner{Account: account}, false)
	if err != nil {
		return edge.Ruleset{}, err
	}
	return r.Version(ctx, id, version)
}

// ZoneRulesetVersion does the same by way of a zone.
func (b BeyondCalls) ZoneRulesetVersion(ctx context.Context, zone edge.ZoneID, id edge.RulesetID, version string) (edge.Ruleset, error) {
	r, err := b.offered(ctx, "GET "+edge.VersionPath(edge.ZoneRulesetPath(zone, id), version), ownerOf(zone), false)
	if err != nil {
		return edge.Ruleset{}, err
	}
	return r.Version(ctx, id, version)
}

// zoneWrite begins a write in a zone: it encodes the body, and calls what
// [edge.BeforeSend] put into the context unless the run is dry.
func (b BeyondCalls) zoneWrite(ctx context.Context, call string, zone edge.ZoneID, body any, dry bool) (Rulesets, []byte, error) {
	r, err := b.offered(ctx, call, ownerOf(zone), dry)
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
func (b BeyondCalls) CreateEntryPoint(ctx context.Context, zone edge.ZoneID, rules []edge.Rule) (*edge.Ruleset, error) {
	return b.createEntryPoint(ctx, zone, rules, false)
}

// TryCreateEntryPoint is the dry run of CreateEntryPoint.
func (b BeyondCalls) TryCreateEntryPoint(ctx context.Context, zone edge.ZoneID, rules []edge.Rule) error {
	_, err := b.createEntryPoint(ctx, zone, rules, true)
	return err
}

func (b BeyondCalls) createEntryPoint(ctx context.Context, zone edge.ZoneID, rules []edge.Rule, dry bool) (*edge.Ruleset, error) {
	r, body, err := b.zoneWrite(ctx, "POST "+edge.ZoneRulesetsPath(zone), zone, edge.EntryPointBody(zone, rules), dry)
	if err != nil {
		return nil, err
	}
	return r.Create(ctx, body)
}

// AddRule is [Rulesets.AddRule] with the encoding of body.
func (b BeyondCalls) AddRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, body edge.Rule) (*edge.Ruleset, error) {
	return b.addRule(ctx, zone, entryPoint, body, false)
}

// TryAddRule is the dry run of AddRule.
func (b BeyondCalls) TryAddRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, body edge.Rule) error {
	_, err := b.addRule(ctx, zone, entryPoint, body, true)
	return err
}

func (b BeyondCalls) addRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, body edge.Rule, dry bool) (*edge.Ruleset, error) {
	r, data, err := b.zoneWrite(ctx, "POST "+edge.RulesPath(zone, entryPoint), zone, body.Update(), dry)
	if err != nil {
		return nil, err
	}
	return r.AddRule(ctx, entryPoint, data)
}

// TryUpdateRule is the dry run of UpdateRule.
func (b BeyondCalls) TryUpdateRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, rule edge.RuleID, body edge.Rule) error {
	r, data, err := b.zoneWrite(ctx, "PATCH "+edge.RulePath(zone, entryPoint, rule), zone, body, true)
	if err == nil {
		_, err = r.UpdateRule(ctx, entryPoint, rule, data)
	}
	return err
}

// DeleteRule deletes one rule.
func (b BeyondCalls) DeleteRule(ctx context.Context, zone edge.ZoneID, entryPoint edge.RulesetID, rule edge.RuleID) (*edge.Ruleset, error) {
	r, _, err := b.zoneWrite(ctx, "DELETE "+edge.RulePath(zone, entryPoint, rule), zone, nil, false)
	if err != nil {
		return nil, err
	}
	return r.DeleteRule(ctx, entryPoint, rule)
}
