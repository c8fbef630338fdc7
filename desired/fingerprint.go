package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/seawall-dev/seawall/edge"
)

// Fingerprint stands for all that an account's zone declares, the managed rulesets
// behind the keys of its deployments included, and for nothing else: where a value
// was declared does not count, nor by which name an id was found. Two zones that are [Zone.SameAs] each other in
// accounts with the same rulesets have the same one. It is 32 hex digits.
func (z Zone) Fingerprint(account Account) string {
	type deployment struct {
		Ruleset    RulesetRef
		Key, Ref   string `json:",omitempty"`
		Deploy     bool   `json:",omitempty"`
		Prune      bool   `json:",omitempty"`
		Enabled    bool
		Expression *string             `json:",omitempty"`
		Paranoia   *int                `json:",omitempty"`
		Threshold  []any               `json:",omitempty"`
		Rules      []Declared[RuleRef] `json:",omitempty"`
		Tags       []Declared[string]  `json:",omitempty"`
		Unmanaged  *Unmanaged          `json:",omitempty"`

		All           bareOverride   `json:",omitzero"`
		TagOverrides  []bareOverride `json:",omitempty"`
		RuleOverrides []bareOverride `json:",omitempty"`
		Decisions     []Decision     `json:",omitempty"`

		ExpressionDrift *ExpressionDrift `json:",omitempty"`
		Version         *string          `json:",omitempty"`
	}
	refs := make(map[string]RulesetRef, len(account.Rulesets))
	for _, ref := range account.Rulesets {
		ref.Origin = Origin{}
		refs[ref.Key] = ref
	}
	deployments := make([]deployment, len(z.Deployments))
	for i, d := range z.Deployments {
		ref, known := refs[d.Ruleset]
		if !known {
			ref = RulesetRef{Key: d.Ruleset}
		}
		deployments[i] = deployment{
			Ruleset: ref, Key: d.Key, Ref: d.Ref, Deploy: d.Deploy, Prune: d.Prune, Enabled: d.Enabled.Value, Expression: valueOf(d.Expression), Paranoia: valueOf(d.Paranoia),
			Rules: nowhere(d.Disable.Rules), Tags: nowhere(d.Disable.Tags), Unmanaged: valueOf(d.Unmanaged),
			All: d.All.bare(), TagOverrides: bareTags(d.Tags), RuleOverrides: bareRules(d.Rules),
			Decisions: bareDecisions(d.Decisions), ExpressionDrift: valueOf(d.ExpressionDrift), Version: valueOf(d.Version),
		}
		if t := d.Threshold; t != nil {
			deployments[i].Threshold = []any{t.Score.Value, t.Action.Value}
		}
	}
	if len(z.Labels) == 0 {
		z.Labels = nil // none is none, however it came to be
	}
	data, err := json.Marshal(struct {
		AccountLevel bool `json:",omitempty"`

		Account     string
		Key, ID     string
		Labels      map[string]string
		Deployments []deployment
	}{z.Scope.Level == edge.LevelAccount, string(account.ID), z.Key, z.Scope.String(), z.Labels, deployments})
	if err != nil {
		panic("desired: encoding a zone: " + err.Error()) // it is plain data
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

func valueOf[T any](d *Declared[T]) *T {
	if d == nil {
		return nil
	}
	return &d.Value
}

// nowhere are values without where they were declared.
func nowhere[T any](all []Declared[T]) []Declared[T] {
	bare := make([]Declared[T], len(all))
	for i, d := range all {
		bare[i] = Declared[T]{Value: d.Value}
	}
	return bare
}
