package access

import (
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
)

// unscoped forgets what groups are scoped for. Diff takes that from both specs,
// and listing from one.
func unscoped(s edge.TokenSpec) edge.TokenSpec {
	for _, p := range s.Policies {
		for i := range p.PermissionGroups {
			p.PermissionGroups[i].Scopes = nil
		}
	}
	return s
}

func pair(t *rapid.T, documented bool) (before, after edge.TokenSpec) {
	before = unscoped(specs(documented).Draw(t, "before"))
	after = unscoped(specs(documented).Draw(t, "after"))
	if len(before.Policies) > 0 && rapid.Bool().Draw(t, "alike") {
		after.Policies = append(slices.Clone(before.Policies), after.Policies...)
	}
	return before, after
}

func directions(changes []Change, kind Kind) map[Direction]bool {
	found := map[Direction]bool{}
	for _, c := range changes {
		if c.Kind == kind {
			found[c.Direction] = true
		}
	}
	return found
}

func TestNothingDiffersFromItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(false).Draw(t, "spec")
		for _, other := range []edge.TokenSpec{spec, shuffled(t, spec), Canonical(spec)} {
			if changes := Diff(spec, other); len(changes) > 0 {
				t.Fatalf("a spec differs from itself: %v", changes)
			}
		}
	})
}

// Each right of the universe that is gained or lost is in exactly one change, of
// that direction, and one that is neither is in none.
func TestDiffOfRightsAgreesWithListing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := pair(t, true)
		changes := Diff(before, after)
		for _, g := range groups {
			for _, target := range targets {
				q := Question{Group: g, Target: target}
				then, now := naivePolicies(before, q), naivePolicies(after, q)
				var want []Direction
				if now && !then {
					want = []Direction{Weakens}
				}
				if then && !now {
					want = []Direction{Strengthens}
				}
				if got := about(changes, g, target); !slices.Equal(got, want) {
					t.Fatalf("%s on %s: %v, listing says %v\n%v", g, target, got, want, changes)
				}
			}
		}
	})
}

// The same, where any zone may be in any account, known or not.
func TestDiffOfRightsHoldsBeyondTheUniverse(t *testing.T) {
	far := []Target{OfAccount("far"), OfUser("far")}
	for _, z := range []edge.ZoneID{zone1, zone2, zone3, "far"} {
		for _, a := range []edge.AccountID{account1, account2, "far"} {
			far = append(far, OfZone(a, z))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		before, after := pair(t, true)
		changes := Diff(before, after)
		for _, g := range groups {
			for _, target := range far {
				then, now := read(before).allow(g, target, onSafeSide), read(after).allow(g, target, onSafeSide)
				got := about(changes, g, target)
				if now == then != (len(got) == 0) || len(got) > 1 || len(got) == 1 && now != (got[0] == Weakens) {
					t.Fatalf("%s on %+v: was %v, is %v, told as %v\n%v", g, target, then, now, got, changes)
				}
			}
		}
	})
}

// covers is whether a change of rights concerns a group on a target.
func covers(c Change, group string, t Target) bool {
	return c.Kind == KindRight && c.Group == group && c.Resource.Covers(t) &&
		!slices.ContainsFunc(c.Except, func(r Resource) bool { return r.Covers(t) })
}

func about(changes []Change, group string, t Target) (found []Direction) {
	for _, c := range changes {
		if covers(c, group, t) {
			found = append(found, c.Direction)
		}
	}
	return found
}

// Window and addresses, each on its own, agree with asking every moment and
// every address.
func TestDiffOfLimitsAgreesWithListing(t *testing.T) {
	always := []edge.Policy{{Effect: edge.Allow, Resources: map[string]edge.Breadth{edge.ResourceAllZones: {}}, PermissionGroups: []edge.PermissionGroup{{ID: "dns"}}}}
	rapid.Check(t, func(t *rapid.T) {
		before, after := pair(t, true)
		before.Policies, after.Policies = always, always
		changes := Diff(before, after)
		check := func(kind Kind, ask func(edge.TokenSpec) []bool) {
			want := map[Direction]bool{}
			then, now := ask(before), ask(after)
			for i := range then {
				if now[i] && !then[i] {
					want[Weakens] = true
				}
				if then[i] && !now[i] {
					want[Strengthens] = true
				}
			}
			if got := directions(changes, kind); got[Weakens] != want[Weakens] || got[Strengthens] != want[Strengthens] {
				t.Fatalf("%s: %v, listing says %v\n%v", kind, got, want, changes)
			}
		}
		check(KindNotBefore, func(s edge.TokenSpec) []bool { return atMoments(edge.TokenSpec{NotBefore: s.NotBefore}) })
		check(KindExpiresOn, func(s edge.TokenSpec) []bool { return atMoments(edge.TokenSpec{ExpiresOn: s.ExpiresOn}) })
		check(KindAddresses, fromAddresses)
	})
}

func atMoments(s edge.TokenSpec) (valid []bool) {
	for _, at := range moments {
		valid = append(valid, naiveWindow(s, Question{At: moment(at)}))
	}
	return valid
}

func fromAddresses(s edge.TokenSpec) (through []bool) {
	for _, ip := range addresses {
		through = append(through, naiveAddress(s, Question{IP: netip.MustParseAddr(ip)}))
	}
	return through
}

// Whatever a platform answers: nothing is gained without a change that weakens,
// and nothing lost without a change.
func TestDiffMissesNothing(t *testing.T) {
	all := questions()
	rapid.Check(t, func(t *rapid.T) {
		before, after := pair(t, rapid.Bool().Draw(t, "documented"))
		changes := Diff(before, after)
		weakens := slices.ContainsFunc(changes, func(c Change) bool { return c.Direction == Weakens })
		for _, q := range all {
			then, now := Decide(before, q).Allowed, Decide(after, q).Allowed
			if now && !then && !weakens || then && !now && len(changes) == 0 {
				t.Fatalf("%+v: was %v, is %v, and the changes are %v", q, then, now, changes)
			}
		}
	})
}
