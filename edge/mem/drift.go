package mem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// SetEntryPoint makes ruleset the zone's entry point behind the back of every
// client, as a person in a dashboard does. The version grows by 1 from the live
// entry point's, or is 1 where there was none; a rule's version grows where the
// rule differs. What only the platform writes is filled in: an id where it is
// missing (the live entry point's is kept), kind, phase and last_updated.
//
// It returns an error for an unknown zone ([edge.ErrNotFound]) and for ids that
// are not valid.
func (p *Platform) SetEntryPoint(zone edge.Scope, ruleset edge.Ruleset) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	z := p.zone(edge.ZoneID(zone.ID))
	if z == nil {
		return notFound("PUT "+edge.EntryPointPath(zone, edge.PhaseFirewallManaged), "zone", zone.ID)
	}
	ruleset = clone(ruleset)
	if ruleset.ID == "" {
		ruleset.ID = derivedID[edge.RulesetID](zone.ID, "entrypoint")
		if z.EntryPoint != nil {
			ruleset.ID = z.EntryPoint.ID
		}
	}
	ruleset.Kind, ruleset.Phase = edge.KindZone, edge.PhaseFirewallManaged
	if err := p.succeed(z.EntryPoint, &ruleset); err != nil {
		return fmt.Errorf("setting the entry point of zone %s: %w", zone, err)
	}
	if z.EntryPoint != nil {
		p.remember(*z.EntryPoint)
	}
	z.EntryPoint = &ruleset
	return nil
}

// StoredEntryPoint returns the entry point that a zone has, whoever may read it; nil for none.
func (p *Platform) StoredEntryPoint(zone edge.Scope) *edge.Ruleset {
	p.mu.Lock()
	defer p.mu.Unlock()
	z := p.zone(edge.ZoneID(zone.ID))
	if z == nil || z.EntryPoint == nil {
		return nil
	}
	ruleset := clone(*z.EntryPoint)
	return &ruleset
}

// RemoveEntryPoint leaves the zone without an entry point.
//
// It returns [edge.ErrNotFound] for an unknown zone.
func (p *Platform) RemoveEntryPoint(zone edge.Scope) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	z := p.zone(edge.ZoneID(zone.ID))
	if z == nil {
		return notFound("DELETE "+edge.EntryPointPath(zone, edge.PhaseFirewallManaged), "zone", zone.ID)
	}
	z.EntryPoint = nil
	return nil
}

// SetRuleset publishes a ruleset of an account: anew when the account has one
// with its id, else as one more at the end of the list. Versions grow as with
// [Platform.SetEntryPoint]. A missing kind or phase is that of a managed ruleset.
//
// It returns [edge.ErrNotFound] for an unknown account, and an error for ids
// that are not valid.
func (p *Platform) SetRuleset(account edge.AccountID, ruleset edge.Ruleset) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(account)
	if a == nil {
		return notFound("PUT "+edge.RulesetPath(edge.AccountScope(account), ruleset.ID), "account", string(account))
	}
	ruleset = clone(ruleset)
	var live *edge.Ruleset
	if i := slices.IndexFunc(a.Rulesets, func(r edge.Ruleset) bool { return r.ID == ruleset.ID }); i >= 0 {
		live = &a.Rulesets[i]
	}
	if err := p.succeed(live, &ruleset); err != nil {
		return fmt.Errorf("setting a ruleset of account %s: %w", account, err)
	}
	if live == nil {
		a.Rulesets = append(a.Rulesets, ruleset)
		return nil
	}
	p.remember(*live)
	*live = ruleset
	return nil
}

// succeed gives next, which takes the place of live, the versions and times of
// a successor. live is nil where there was nothing.
func (p *Platform) succeed(live, next *edge.Ruleset) error {
	now := p.timestamp()
	next.Version, next.LastUpdated = "1", now
	var old []edge.Rule
	if live != nil {
		next.Version, old = nextVersion(live.Version), live.Rules
	}
	for i := range next.Rules {
		rule := &next.Rules[i]
		if rule.ID == "" {
			rule.ID = derivedID[edge.RuleID](string(next.ID), fmt.Sprint("rule ", i))
		}
		j := slices.IndexFunc(old, func(r edge.Rule) bool { return r.ID == rule.ID })
		switch {
		case j < 0:
			rule.Version, rule.LastUpdated = "1", now
		case sameRule(old[j], *rule):
			rule.Version, rule.LastUpdated = old[j].Version, old[j].LastUpdated
		default:
			rule.Version, rule.LastUpdated = nextVersion(old[j].Version), now
		}
	}
	complete(next, edge.KindManaged, now)
	return checkRuleset(*next)
}

// sameRule compares what two rules say, whatever their versions.
func sameRule(a, b edge.Rule) bool {
	x, errX := json.Marshal(a.Update())
	y, errY := json.Marshal(b.Update())
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
