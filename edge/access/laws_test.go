package access

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
)

func TestDecideAgreesWithListing(t *testing.T) {
	all := questions()
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(rapid.Bool().Draw(t, "documented")).Draw(t, "spec")
		for _, q := range all {
			a := Decide(spec, q)
			if want := naive(spec, q); a.Allowed != want {
				t.Fatalf("%+v: allowed %v (%s), listing says %v", q, a.Allowed, a.Text, want)
			}
			if a.Allowed != (a.Because == ExplicitAllow) {
				t.Fatalf("%+v: allowed %v because of %s", q, a.Allowed, a.Because)
			}
		}
	})
}

// The policy an answer names is one of that effect that names the group and has
// the key.
func TestAnswersNameTheirPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(false).Draw(t, "spec")
		q := Question{Group: rapid.SampledFrom(groups).Draw(t, "group"), Target: rapid.SampledFrom(targets).Draw(t, "target")}
		a := Decide(spec, q)
		if a.Because == ImplicitDeny {
			if a.Policy != -1 {
				t.Fatalf("no policy decided, and it is said to be %d", a.Policy)
			}
			return
		}
		p := spec.Policies[a.Policy]
		if (p.Effect == edge.Allow) != a.Allowed {
			t.Fatalf("a policy that says %s is named for allowed=%v", p.Effect, a.Allowed)
		}
		alone := Decide(edge.TokenSpec{Policies: []edge.Policy{{
			Effect: p.Effect, PermissionGroups: p.PermissionGroups,
			Resources: map[string]edge.Breadth{a.Resource.Key: p.Resources[a.Resource.Key]},
		}}}, q)
		if alone.Because != a.Because {
			t.Fatalf("the policy named, with the one resource named, gives %s; want %s", alone.Because, a.Because)
		}
	})
}

func TestOrderOfPoliciesIsNothing(t *testing.T) {
	all := questions()
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(false).Draw(t, "spec")
		other := spec
		other.Policies = rapid.Permutation(spec.Policies).Draw(t, "order")
		for _, q := range all {
			if a, b := Decide(spec, q), Decide(other, q); a.Allowed != b.Allowed || a.Because != b.Because {
				t.Fatalf("%+v: %s in one order, %s in another", q, a.Because, b.Because)
			}
		}
	})
}

func TestADenyNeverAllows(t *testing.T) {
	all := questions()
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(false).Draw(t, "spec")
		deny := policies(false).Draw(t, "deny")
		deny.Effect = edge.Deny
		for i := range deny.PermissionGroups {
			deny.PermissionGroups[i].Scopes = nil // what is learnt of a scope is no part of the law
		}
		more := spec
		more.Policies = append([]edge.Policy{deny}, spec.Policies...)
		for _, q := range all {
			if !Decide(spec, q).Allowed && Decide(more, q).Allowed {
				t.Fatalf("%+v is allowed once a deny is added", q)
			}
		}
	})
}
