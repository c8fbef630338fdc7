package terraform

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// Platform reads what a state has, as if it were live. The managed rulesets are not in a
// state: it makes ones that have the rules and tags which overrides name, so that
// declarations of these say the same. Of a tag it assumes nothing: there are rules with it
// that are on and some that are off, and rules with all tags, so that their order counts.
type Platform struct {
	state    State
	rulesets []edge.Ruleset
}

// Platform is a reader of the state.
func (s State) Platform() Platform {
	overrides := map[edge.RulesetID][]*edge.Overrides{}
	for _, id := range slices.Sorted(maps.Keys(s.EntryPoints)) {
		for _, rule := range s.EntryPoints[id].Rules {
			if p := rule.ActionParameters; rule.Action == edge.ActionExecute && p != nil {
				overrides[p.ID] = append(overrides[p.ID], p.Overrides)
			}
		}
	}
	p := Platform{state: s}
	for _, id := range slices.Sorted(maps.Keys(overrides)) {
		p.rulesets = append(p.rulesets, assumed(id, overrides[id]))
	}
	return p
}

// vendorRulesets are the vendor's names of its managed rulesets, which have the same ids
// in all accounts.
var vendorRulesets = map[edge.RulesetID]string{
	"efb7b8c949ac4650a09736fc376e9aee": "Cloudflare Managed Ruleset",
	"4814384a9e5d4991b9815dcfc25d2f1f": "Cloudflare OWASP Core Ruleset",
	"c2e184081120413c86c3ab7e14069605": "Cloudflare Exposed Credentials Check Ruleset",
}

// assumed is a managed ruleset of which no more is known than what overrides name.
func assumed(id edge.RulesetID, all []*edge.Overrides) edge.Ruleset {
	tags, rules, scoring := map[string]bool{}, map[edge.RuleID]bool{}, map[edge.RuleID]bool{}
	for _, o := range all {
		if o == nil {
			continue
		}
		for _, c := range o.Categories {
			tags[c.Category] = true
		}
		for _, r := range o.Rules {
			if rules[r.ID] = true; r.ScoreThreshold != nil {
				scoring[r.ID] = true
			}
		}
	}
	out := edge.Ruleset{ID: id, Name: vendorRulesets[id], Kind: edge.KindManaged, Phase: edge.PhaseFirewallManaged, Version: "0"}
	named := slices.Sorted(maps.Keys(tags))
	for _, on := range []bool{true, false} {
		sets := [][]string{named, nil}
		for _, tag := range named {
			sets = append(sets, []string{tag})
		}
		for i, set := range sets {
			out.Rules = append(out.Rules, edge.Rule{ID: edge.RuleID(fmt.Sprintf("assumed-%v-%d", on, i)), Action: "assumed", Categories: set, Enabled: new(on)})
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		if !scoring[rule] {
			out.Rules = append(out.Rules, edge.Rule{ID: rule, Action: "assumed", Enabled: new(true)})
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(scoring)) {
		out.Rules = append(out.Rules, edge.Rule{ID: rule, Action: "assumed", Enabled: new(true), ScoreThreshold: new(40)})
	}
	return out
}

// Offers is true for what a state has of rulesets: no zone or account is found by it.
func (p Platform) Offers(call edge.Call, level edge.Level) bool { return edge.InReference(call, level) }

// Rulesets lists the managed rulesets that zones of the state run.
func (p Platform) Rulesets(context.Context, edge.Scope) ([]edge.Ruleset, error) {
	listed := slices.Clone(p.rulesets)
	for i := range listed {
		listed[i].Rules = nil
	}
	return listed, nil
}

// Ruleset is one of them; [edge.ErrNotFound] for others.
func (p Platform) Ruleset(_ context.Context, _ edge.Scope, id edge.RulesetID) (edge.Ruleset, error) {
	for _, r := range p.rulesets {
		if r.ID == id {
			return r, nil
		}
	}
	return edge.Ruleset{}, edge.ErrNotFound
}

// RulesetVersion fails: a state has one version of each.
func (p Platform) RulesetVersion(context.Context, edge.Scope, edge.RulesetID, string) (edge.Ruleset, error) {
	return edge.Ruleset{}, edge.ErrNotOffered
}

// Zones fails, and so do Zone and Accounts: a state is no directory.
func (p Platform) Zones(context.Context, edge.ZoneFilter) ([]edge.Zone, error) {
	return nil, edge.ErrNotOffered
}

// Zone implements [edge.Directory].
func (p Platform) Zone(context.Context, edge.ZoneID) (edge.Zone, error) {
	return edge.Zone{}, edge.ErrNotOffered
}

// Accounts implements [edge.Directory].
func (p Platform) Accounts(context.Context) ([]edge.Account, error) { return nil, edge.ErrNotOffered }

// EntryPoint is that of a zone; [edge.ErrEntryPointNotFound] where the state has none.
func (p Platform) EntryPoint(_ context.Context, scope edge.Scope, _ edge.Phase) (edge.Ruleset, error) {
	entryPoint, known := p.state.EntryPoints[edge.ZoneID(scope.ID)]
	if !known {
		return entryPoint, edge.ErrEntryPointNotFound
	}
	return entryPoint, nil
}

// UserTokens are the tokens of the state.
func (p Platform) UserTokens(context.Context) ([]edge.Token, error) { return p.state.Tokens, nil }
