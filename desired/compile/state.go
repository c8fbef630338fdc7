package compile

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/seawall-dev/seawall/desired"
)

// state returns what was merged, sorted by key at every level.
func (m *merger) state(commit string, user *desired.Declared[string]) desired.State {
	s := desired.State{Commit: commit, User: user}
	for _, a := range sorted(m.accounts) {
		out := a.Account
		out.Rulesets = sorted(a.rulesets)
		out.Zones = sorted(a.zones)
		for i, z := range out.Zones {
			out.Zones[i] = inOrder(z)
		}
		s.Accounts = append(s.Accounts, out)
	}
	s.Tokens = desired.WithOwners(sorted(m.tokens), s.Accounts)
	s.Integrations = sorted(m.integrations)
	s.Calendar = sorted(m.calendar)
	return s
}

// inOrder is a zone with its deployments in the order of their names.
func inOrder(z desired.Zone) desired.Zone {
	byName := func(a, b desired.Deployment) int { return cmp.Compare(a.Name(), b.Name()) }
	if !slices.IsSortedFunc(z.Deployments, byName) {
		z.Deployments = slices.SortedStableFunc(slices.Values(z.Deployments), byName)
	}
	return z
}

// sorted are declarations in the order of their keys.
func sorted[T any](byKey map[string]T) (all []T) {
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		all = append(all, byKey[key])
	}
	return all
}

// zoneDifference returns the path, below the zone, of the first difference in
// value; empty when there is none.
func zoneDifference(a, b desired.Zone) string {
	a, b = desired.Bare(a), desired.Bare(b)
	if reflect.DeepEqual(a, b) {
		return ""
	}
	switch {
	case a.Scope != b.Scope:
		return ".id"
	case a.Name != b.Name:
		return ".name"
	case !reflect.DeepEqual(a.Labels, b.Labels):
		return ".labels"
	}
	for i := range min(len(a.Deployments), len(b.Deployments)) {
		if !reflect.DeepEqual(a.Deployments[i], b.Deployments[i]) {
			return at(".waf", a.Deployments[i].Name())
		}
	}
	for i := range min(len(a.Others), len(b.Others)) {
		if !reflect.DeepEqual(a.Others[i], b.Others[i]) {
			return "." + at("", a.Others[i].Path()...)
		}
	}
	if !reflect.DeepEqual(a.Unmanaged, b.Unmanaged) {
		return ".rules.unmanaged"
	}
	return ".waf"
}

// firstDifferentPlace names two places that tell two readings of one zone
// apart: where a value is declared in the one and not in the other.
func firstDifferentPlace(a, b desired.Zone) (inB, inA string) {
	placesA, placesB := places(a), places(b)
	inA, inB = a.Origin.String(), b.Origin.String()
	for _, p := range placesB {
		if !slices.Contains(placesA, p) {
			inB = p
			break
		}
	}
	for _, p := range placesA {
		if !slices.Contains(placesB, p) {
			inA = p
			break
		}
	}
	return fmt.Sprintf("that of %s", inB), fmt.Sprintf("that of %s", inA)
}

func places(z desired.Zone) []string {
	var out []string
	desired.MapOrigins(z, func(o desired.Origin) desired.Origin {
		if !o.IsZero() {
			out = append(out, o.String())
		}
		return o
	})
	return out
}
