package access

import "github.com/seawall-dev/seawall/edge"

// rights are a token's policies, read.
type rights struct {
	policies []policy
	scopes   scopes
}

type policy struct {
	effect edge.Effect
	groups map[string]bool
	resources
}

// scopes are the resource types of the groups whose scopes are known.
type scopes map[string]map[Type]bool

// read reads the policies of a spec. Scopes are a group's own, so what one
// policy knows of a group holds in all; others adds what other specs know.
func read(spec edge.TokenSpec, others ...edge.TokenSpec) rights {
	r := rights{scopes: scopes{}}
	r.scopes.learn(spec)
	for _, other := range others {
		r.scopes.learn(other)
	}
	for _, p := range spec.Policies {
		r.policies = append(r.policies, readPolicy(p))
	}
	return r
}

func readPolicy(p edge.Policy) policy {
	groups := map[string]bool{}
	for _, g := range p.PermissionGroups {
		groups[g.ID] = true
	}
	return policy{p.Effect, groups, readResources(p.Resources)}
}

func (s scopes) learn(spec edge.TokenSpec) {
	for _, p := range spec.Policies {
		for _, g := range p.PermissionGroups {
			for _, scope := range g.Scopes {
				if s[g.ID] == nil {
					s[g.ID] = map[Type]bool{}
				}
				s[g.ID][Type(scope)] = true
			}
		}
	}
}

// fits reports whether a group counts for targets of a type.
func (s scopes) fits(group string, t Type) bool {
	types, known := s[group]
	return !known || types[t]
}

// reading says how to take what may or may not be meant: whether a policy that
// perhaps allows does, and whether one that perhaps denies does.
type reading struct{ allows, denies bool }

// onSafeSide is the reading of [Decide].
var onSafeSide = reading{allows: false, denies: true}

// says returns what a policy has to say on a target: Allow, Deny or nothing.
func (p policy) says(group string, t Target, as reading) edge.Effect {
	if !p.groups[group] {
		return ""
	}
	c := p.covers(t)
	switch {
	case c == no:
		return ""
	case p.effect == edge.Allow && (c == yes || as.allows), p.effect == edge.Deny && (c == yes || as.denies):
		return p.effect
	case p.effect == edge.Allow, p.effect == edge.Deny:
		return ""
	case as.allows: // an effect that only the platform knows may be either
		return edge.Allow
	case as.denies:
		return edge.Deny
	}
	return ""
}

// verdict finds the policy that decides, and -1 where none does.
func (r rights) verdict(group string, t Target, as reading) (Reason, int) {
	if group == "" || !r.scopes.fits(group, t.Type) {
		return ImplicitDeny, -1
	}
	allowing := -1
	for i, p := range r.policies {
		switch p.says(group, t, as) {
		case edge.Deny:
			return ExplicitDeny, i
		case edge.Allow:
			if allowing < 0 {
				allowing = i
			}
		}
	}
	if allowing >= 0 {
		return ExplicitAllow, allowing
	}
	return ImplicitDeny, -1
}

func (r rights) allow(group string, t Target, as reading) bool {
	why, _ := r.verdict(group, t, as)
	return why == ExplicitAllow
}
