package compile

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/seawall-dev/seawall/desired"
)

// state returns what was merged, sorted by key at every level.
func (m *merger) state(commit string, user *desired.Declared[string]) desired.State {
	s := desired.State{Commit: commit, User: user}
	for _, a := range m.accounts {
		out := a.Account
		out.Rulesets = sorted(a.rulesets, func(r desired.RulesetRef) string { return r.Key })
		out.Zones = sorted(a.zones, func(z desired.Zone) string { return z.Key })
		for i, z := range out.Zones {
			out.Zones[i].Deployments = slices.SortedFunc(slices.Values(z.Deployments),
				func(a, b desired.Deployment) int { return cmp.Compare(a.Name(), b.Name()) })
		}
		s.Accounts = append(s.Accounts, out)
	}
	slices.SortFunc(s.Accounts, func(a, b desired.Account) int { return cmp.Compare(a.Key, b.Key) })
	s.Tokens = desired.WithOwners(sorted(m.tokens, func(t desired.Token) string { return t.Key }), s.Accounts)
	s.Integrations = sorted(m.integrations, func(i desired.Integration) string { return i.Name })
	s.Calendar = sorted(m.calendar, func(e desired.CalendarEntry) string { return e.Addition.ID })
	return s
}

func sorted[T any](set map[string]T, key func(T) string) []T {
	out := slices.Grow([]T(nil), len(set))
	for _, v := range set {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return out
}

// alike reports whether two declarations differ in no value.
func alike[T any](a, b T) bool {
	return reflect.DeepEqual(mapped(a, nowhere), mapped(b, nowhere))
}

// zoneDifference returns the path, below the zone, of the first difference in
// value; empty when there is none.
func zoneDifference(a, b desired.Zone) string {
	a, b = mapped(a, nowhere), mapped(b, nowhere)
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
	mapped(z, func(o desired.Origin) desired.Origin {
		if !o.IsZero() {
			out = append(out, o.String())
		}
		return o
	})
	return out
}
