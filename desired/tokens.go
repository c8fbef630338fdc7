package desired

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// Spec returns the body that creates the token (reference, "API token"), as
// declared: the order of policies and groups is kept, so that an index into it is
// one into t.Policies. A group that is declared by its name has no id in it. A token that rotates has no window of its own; whoever
// creates a generation of it sets one.
func (t Token) Spec() edge.TokenSpec {
	spec := edge.TokenSpec{Name: t.Name, NotBefore: t.NotBefore, ExpiresOn: t.ExpiresOn}
	for _, p := range t.Policies {
		spec.Policies = append(spec.Policies, p.spec())
	}
	if t.Condition != nil {
		spec.Condition = &edge.Condition{RequestIP: &edge.AddressFilter{In: t.Condition.In, NotIn: t.Condition.NotIn}}
	}
	return spec
}

// WithOwners returns tokens with the ids of the accounts that own them. A token of an
// account that is not among accounts stays as it is.
func WithOwners(tokens []Token, accounts []Account) []Token {
	ids := map[string]edge.AccountID{}
	for _, a := range accounts {
		ids[a.Key] = cmp.Or(a.ID, SoughtAccount(a.Key))
	}
	tokens = slices.Clone(tokens)
	for i, t := range tokens {
		if id, ok := ids[t.Account]; ok && t.Account != "" {
			tokens[i].Owner = id
		}
	}
	return tokens
}

func (p Policy) spec() edge.Policy {
	out := edge.Policy{Effect: edge.Effect(p.Effect), Resources: make(map[string]edge.Breadth, len(p.Resources))}
	for _, r := range p.Resources {
		out.Resources[r.Key] = edge.Breadth{AllZones: r.AllZones}
	}
	for _, g := range p.PermissionGroups {
		out.PermissionGroups = append(out.PermissionGroups, edge.PermissionGroup{ID: g.ID, Name: g.Name})
	}
	return out
}
