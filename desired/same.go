package desired

import (
	"maps"
	"reflect"
	"slices"
)

// SameAs reports whether two zones declare the same. Where a value was declared
// does not count, nor by which name the id was found. It is asked of each zone of a
// fleet at each commit, hence no reflection; a test holds it to all members there are.
func (z Zone) SameAs(o Zone) bool {
	return z.Key == o.Key && z.Scope == o.Scope && maps.Equal(z.Labels, o.Labels) &&
		slices.EqualFunc(z.Deployments, o.Deployments, Deployment.sameAs)
}

func (d Deployment) sameAs(o Deployment) bool {
	return d.Ruleset == o.Ruleset && d.Key == o.Key && d.Ref == o.Ref && d.Deploy == o.Deploy && d.Prune == o.Prune && same(d.Enabled, o.Enabled) &&
		sameOrNone(d.Expression, o.Expression) && sameOrNone(d.ExpressionDrift, o.ExpressionDrift) &&
		sameOrNone(d.Version, o.Version) && d.sameOverrides(o)
}

func (d Deployment) sameOverrides(o Deployment) bool {
	return sameOrNone(d.Paranoia, o.Paranoia) && d.Threshold.sameAs(o.Threshold) && sameOrNone(d.Unmanaged, o.Unmanaged) &&
		slices.EqualFunc(d.Disable.Rules, o.Disable.Rules, same) && slices.EqualFunc(d.Disable.Tags, o.Disable.Tags, same) &&
		d.All.sameAs(o.All) && slices.EqualFunc(d.Tags, o.Tags, TagOverride.sameAs) && slices.EqualFunc(d.Rules, o.Rules, RuleOverride.sameAs) &&
		slices.EqualFunc(d.Decisions, o.Decisions, Decision.sameAs)
}

func (t *Threshold) sameAs(o *Threshold) bool {
	if t == nil || o == nil {
		return t == o
	}
	return same(t.Score, o.Score) && same(t.Action, o.Action)
}

func same[T comparable](a, b Declared[T]) bool { return a.Value == b.Value }

func sameOrNone[T comparable](a, b *Declared[T]) bool {
	if a == nil || b == nil {
		return a == b
	}
	return same(*a, *b)
}

// SameTokens reports whether two lists declare the same tokens. Where a value was
// declared does not count.
func SameTokens(a, b []Token) bool { return reflect.DeepEqual(bareTokens(a), bareTokens(b)) }

// bareTokens are tokens without where they were declared.
func bareTokens(all []Token) []Token {
	bare := make([]Token, len(all))
	for i, t := range all {
		t.Origin, t.Places = Origin{}, nil
		t.Policies = slices.Clone(t.Policies)
		for j := range t.Policies {
			t.Policies[j].Origin = Origin{}
			t.Policies[j].PermissionGroups = slices.Clone(t.Policies[j].PermissionGroups)
			for k := range t.Policies[j].PermissionGroups {
				t.Policies[j].PermissionGroups[k].Origin = Origin{}
			}
		}
		bare[i] = t
	}
	return bare
}
