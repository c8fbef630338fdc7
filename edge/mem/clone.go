package mem

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// The clones below are written out, not round trips through JSON: a fleet of
// ten thousand zones is copied on every look at its state. A test holds them to
// the fields of the types by reflection.

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func cloneExtra(extra map[string]json.RawMessage) map[string]json.RawMessage {
	if extra == nil {
		return nil
	}
	clone := make(map[string]json.RawMessage, len(extra))
	for name, value := range extra {
		clone[name] = bytes.Clone(value)
	}
	return clone
}

// cloneEach copies a list with its elements; nil stays nil and empty stays empty.
func cloneEach[T any](list []T, clone func(T) T) []T {
	copied := slices.Clone(list)
	for i := range copied {
		copied[i] = clone(copied[i])
	}
	return copied
}

func cloneRuleset(r edge.Ruleset) edge.Ruleset {
	r.Rules = cloneEach(r.Rules, cloneRule)
	r.Extra = cloneExtra(r.Extra)
	return r
}

func cloneRule(r edge.Rule) edge.Rule {
	if r.ActionParameters != nil {
		p := *r.ActionParameters
		p.Overrides = cloneOverrides(p.Overrides)
		p.Extra = cloneExtra(p.Extra)
		r.ActionParameters = &p
	}
	r.ScoreThreshold = clonePointer(r.ScoreThreshold)
	r.Categories = slices.Clone(r.Categories)
	r.Description = clonePointer(r.Description)
	r.Enabled = clonePointer(r.Enabled)
	r.Extra = cloneExtra(r.Extra)
	return r
}

func cloneOverrides(o *edge.Overrides) *edge.Overrides {
	if o == nil {
		return nil
	}
	return &edge.Overrides{
		Action:           clonePointer(o.Action),
		Enabled:          clonePointer(o.Enabled),
		SensitivityLevel: clonePointer(o.SensitivityLevel),
		Categories:       cloneEach(o.Categories, cloneCategoryOverride),
		Rules:            cloneEach(o.Rules, cloneRuleOverride),
		Extra:            cloneExtra(o.Extra),
	}
}

func cloneCategoryOverride(c edge.CategoryOverride) edge.CategoryOverride {
	c.Action, c.Enabled = clonePointer(c.Action), clonePointer(c.Enabled)
	c.SensitivityLevel, c.Extra = clonePointer(c.SensitivityLevel), cloneExtra(c.Extra)
	return c
}

func cloneRuleOverride(r edge.RuleOverride) edge.RuleOverride {
	r.Action, r.Enabled = clonePointer(r.Action), clonePointer(r.Enabled)
	r.ScoreThreshold, r.SensitivityLevel = clonePointer(r.ScoreThreshold), clonePointer(r.SensitivityLevel)
	r.Extra = cloneExtra(r.Extra)
	return r
}

func cloneSeed(s Seed) Seed {
	s.Accounts = cloneEach(s.Accounts, func(a SeedAccount) SeedAccount {
		a.Rulesets = cloneEach(a.Rulesets, cloneRuleset)
		return a
	})
	s.Zones = cloneEach(s.Zones, func(z SeedZone) SeedZone {
		if z.EntryPoint != nil {
			entry := cloneRuleset(*z.EntryPoint)
			z.EntryPoint = &entry
		}
		z.Rulesets = cloneEach(z.Rulesets, cloneRuleset)
		return z
	})
	s.PermissionGroups = cloneEach(s.PermissionGroups, func(g SeedPermissionGroup) SeedPermissionGroup {
		g.Scopes, g.Meta = slices.Clone(g.Scopes), bytes.Clone(g.Meta)
		return g
	})
	s.Tokens = cloneEach(s.Tokens, cloneToken)
	s.EndpointPermissions = maps.Clone(s.EndpointPermissions)
	s.RulesetVersions = maps.Clone(s.RulesetVersions)
	for id, versions := range s.RulesetVersions {
		s.RulesetVersions[id] = cloneEach(versions, cloneRuleset)
	}
	return s
}

func cloneToken(t SeedToken) SeedToken {
	t.Policies, t.Condition, t.Extra = bytes.Clone(t.Policies), bytes.Clone(t.Condition), cloneExtra(t.Extra)
	return t
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
