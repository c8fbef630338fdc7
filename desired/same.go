package desired

import (
	"maps"
	"slices"
)

// Is reports whether two zones are the very same, places included: the one is a copy of the
// other. It costs little, whatever they declare.
func (z Zone) Is(o Zone) bool { return z.is(&o) }

func (z *Zone) is(o *Zone) bool {
	return z.Key == o.Key && z.Name == o.Name && z.Scope == o.Scope && z.ByName == o.ByName && z.Origin == o.Origin &&
		sameList(z.Deployments, o.Deployments) && sameList(z.Others, o.Others) && sameList(z.Unmanaged, o.Unmanaged) && maps.Equal(z.Labels, o.Labels)
}

// sameList reports whether two lists are one.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// SameAs reports whether two zones declare the same. Where a value was declared
// does not count, nor by which name the id was found. It is asked of each zone of a
// fleet at each commit, hence no reflection; a test holds it to all members there are.
func (z Zone) SameAs(o Zone) bool {
	if z.Key != o.Key || z.Scope != o.Scope || !maps.Equal(z.Labels, o.Labels) || len(z.Deployments) != len(o.Deployments) ||
		!slices.EqualFunc(z.Unmanaged, o.Unmanaged, OfOthers.sameAs) {
		return false
	}
	if sameList(z.Deployments, o.Deployments) && sameList(z.Others, o.Others) {
		return true
	}
	for i := range z.Deployments {
		if !z.Deployments[i].sameAs(&o.Deployments[i]) {
			return false
		}
	}
	return slices.EqualFunc(z.Others, o.Others, Other.sameAs)
}

func (o Other) sameAs(other Other) bool {
	return o.Kind == other.Kind && o.Key == other.Key && o.Prune == other.Prune && o.Value == other.Value
}

func (u OfOthers) sameAs(o OfOthers) bool { return u.Kind == o.Kind && u.Do == o.Do }

func (d *Deployment) sameAs(o *Deployment) bool {
	return d.Ruleset == o.Ruleset && d.Key == o.Key && d.Ref == o.Ref && sameIn(d, o, DeploymentMembers)
}

// SameTokens reports whether two lists declare the same tokens. Where a value was
// declared does not count.
func SameTokens(a, b []Token) bool { return slices.EqualFunc(a, b, Alike[Token]) }
