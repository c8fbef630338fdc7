package mem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// SetEntryPoint makes ruleset the entry point of its phase, which is that of managed
// rulesets unless it says another, behind the back of every client, as a person in a dashboard
// does. The version grows by 1 from the live entry point's, or is 1 where there was none; a
// rule's version grows where the rule differs. What only the platform writes is filled in: an id
// where it is missing (the live entry point's is kept), kind, phase and last_updated.
//
// It returns an error for an unknown zone or account ([edge.ErrNotFound]) and for ids that
// are not valid.
func (p *Platform) SetEntryPoint(scope edge.Scope, ruleset edge.Ruleset) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(scope)
	ruleset = clone(ruleset)
	fill(&ruleset.Phase, edge.PhaseFirewallManaged)
	if h.account == nil {
		return notFound("PUT "+edge.EntryPointPath(scope, ruleset.Phase), string(scope.Level), scope.ID)
	}
	live := h.entryPoint(ruleset.Phase)
	if ruleset.ID == "" {
		ruleset.ID = entryPointID(edge.Place{Scope: scope, Phase: ruleset.Phase})
		if live != nil {
			ruleset.ID = live.ID
		}
	}
	ruleset.Kind = h.EntryKind()
	if err := p.succeed(live, &ruleset); err != nil {
		return fmt.Errorf("setting the entry point of %s %s: %w", scope.Level, scope, err)
	}
	if live == nil {
		h.put(ruleset)
		return nil
	}
	p.remember(*live)
	*live = ruleset
	return nil
}

// entryPointID is the id of an entry point that nobody gave one.
func entryPointID(at edge.Place) edge.RulesetID {
	if at.Phase == edge.PhaseFirewallManaged {
		return derivedID[edge.RulesetID](at.Scope.ID, "entrypoint")
	}
	return derivedID[edge.RulesetID](at.Scope.ID, "entrypoint", string(at.Phase))
}

// PutFirst puts a rule before all others of an entry point, as [Platform.SetEntryPoint] does,
// and makes the entry point where there is none. It returns the rule's id.
func (p *Platform) PutFirst(at edge.Place, rule edge.Rule) (edge.RuleID, error) {
	entry := edge.Ruleset{ID: entryPointID(at), Name: "default", Phase: at.Phase}
	if live := p.Stored(at); live != nil {
		entry = *live
	}
	if rule.ID == "" {
		rule.ID = derivedID[edge.RuleID](string(entry.ID), entry.Version, "put first")
	}
	fill(&rule.Ref, string(rule.ID))
	entry.Rules = slices.Insert(entry.Rules, 0, rule)
	return rule.ID, p.SetEntryPoint(at.Scope, entry)
}

// SkipRule is a skip rule as the service has them, but for its id and ref.
func SkipRule(expression string, skips edge.Skip) edge.Rule {
	parameters := edge.ActionParameters{Extra: map[string]json.RawMessage{}}
	if skips.Current {
		parameters.Extra["ruleset"] = json.RawMessage(`"current"`)
	}
	for name, value := range map[string]any{"rulesets": skips.Rulesets, "rules": skips.Rules, "phases": skips.Phases} {
		if data := mustEncode(value); string(data) != "null" {
			parameters.Extra[name] = data
		}
	}
	return edge.Rule{
		Action: edge.ActionSkip, ActionParameters: &parameters, Expression: expression, Description: new(""), Enabled: new(true),
		Extra: map[string]json.RawMessage{"logging": json.RawMessage(`{"enabled":true}`)},
	}
}

// StoredEntryPoint is the entry point for managed rulesets that a zone has, as [Platform.Stored].
func (p *Platform) StoredEntryPoint(zone edge.Scope) *edge.Ruleset {
	return p.Stored(edge.Place{Scope: zone, Phase: edge.PhaseFirewallManaged})
}

// Stored returns the entry point of a place, whoever may read it; nil for none.
func (p *Platform) Stored(at edge.Place) *edge.Ruleset {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.holder(at.Scope)
	if h.account == nil {
		return nil
	}
	live := h.entryPoint(at.Phase)
	if live == nil {
		return nil
	}
	ruleset := clone(*live)
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
