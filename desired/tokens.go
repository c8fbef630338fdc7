package desired

import "github.com/seawall-dev/seawall/edge"

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
