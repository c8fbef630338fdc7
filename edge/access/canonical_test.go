package access

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// shuffled is a spec as a platform may give it back: in another order, with new
// policy ids, names filled in and entries said twice.
func shuffled(t *rapid.T, s edge.TokenSpec) edge.TokenSpec {
	s.Policies = slices.Clone(s.Policies)
	if len(s.Policies) > 0 && rapid.Bool().Draw(t, "twice") {
		s.Policies = append(s.Policies, s.Policies[0])
	}
	for i, p := range s.Policies {
		p.ID = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "new id")
		p.Resources = maps.Clone(p.Resources)
		p.PermissionGroups = rapid.Permutation(p.PermissionGroups).Draw(t, "groups' order")
		for j := range p.PermissionGroups {
			p.PermissionGroups[j].Name = "filled in"
			p.PermissionGroups[j].Scopes = []string{string(TypeZone)}
		}
		s.Policies[i] = p
	}
	s.Policies = rapid.Permutation(s.Policies).Draw(t, "policies' order")
	if s.Condition != nil && s.Condition.RequestIP != nil {
		f := *s.Condition.RequestIP
		if len(f.In) > 0 {
			f.In = append(rapid.Permutation(f.In).Draw(t, "order of in"), f.In[0])
		}
		f.NotIn = rapid.Permutation(f.NotIn).Draw(t, "order of not_in")
		s.Condition = &edge.Condition{RequestIP: &f}
	}
	return s
}

func TestCanonicalIsBlindToOrderAndIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(false).Draw(t, "spec")
		want := Canonical(spec)
		if got := Canonical(shuffled(t, spec)); !reflect.DeepEqual(got, want) {
			t.Fatalf("in another order:\n%+v\nwant:\n%+v", got, want)
		}
		if got := Canonical(want); !reflect.DeepEqual(got, want) {
			t.Fatalf("a second time:\n%+v\nwant:\n%+v", got, want)
		}
		if Hash(shuffled(t, spec)) != Hash(spec) {
			t.Fatal("the hash depends on the order")
		}
	})
}

// The canonical form may do what the spec may do, where nobody knows scopes.
func TestCanonicalMeansTheSame(t *testing.T) {
	all := questions()
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(false).Draw(t, "spec")
		for _, p := range spec.Policies {
			for i := range p.PermissionGroups {
				p.PermissionGroups[i].Scopes = nil
			}
		}
		canonical := Canonical(spec)
		for _, q := range all {
			if Decide(spec, q).Allowed != Decide(canonical, q).Allowed {
				t.Fatalf("%+v: the canonical form decides otherwise", q)
			}
		}
	})
}

func TestHashTellsApartWhatDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := specs(false).Draw(t, "a"), specs(false).Draw(t, "b")
		if same := reflect.DeepEqual(Canonical(a), Canonical(b)); same != (Hash(a) == Hash(b)) {
			t.Fatalf("canonical forms are the same: %v; hashes %s and %s", same, Hash(a), Hash(b))
		}
	})
}

// Hashes are on people's disks: they must not change.
func TestHashIsTheSameInEveryVersion(t *testing.T) {
	var spec edge.TokenSpec
	must.Do(t, json.Unmarshal([]byte(`{
		"name": "ci-dns",
		"policies": [
			{"effect": "deny", "resources": {"com.vendor.api.account.zone.`+zone1+`": "*"}, "permission_groups": [{"id": "2", "name": "x"}, {"id": "1"}]},
			{"effect": "allow", "resources": {"com.vendor.api.account.`+account1+`": {"com.vendor.api.account.zone.*": "*"}}, "permission_groups": [{"id": "1"}]}
		],
		"expires_on": "2027-01-01T00:00:00Z",
		"condition": {"request.ip": {"in": ["192.0.2.9/24"], "not_in": ["2001:db8::/32"]}}
	}`), &spec))
	const want = "fa41d7ec6c31a97585ec0e12513a820425fef19754d2434898b69441176f2c45"
	if got := Hash(spec); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	spec.Name = "ci"
	if Hash(spec) == want {
		t.Error("the name is no part of the hash")
	}
}
