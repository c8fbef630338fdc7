package edgetest

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// unfit are tokens that no platform creates, and the member each refusal is
// about: at it or below it.
var unfit = []struct {
	name    string
	spoil   func(*edge.TokenSpec)
	pointer string
}{
	{"empty name", func(s *edge.TokenSpec) { s.Name = "" }, "/name"},
	{"name too long", func(s *edge.TokenSpec) { s.Name = strings.Repeat("n", 121) }, "/name"},
	{"no policies", func(s *edge.TokenSpec) { s.Policies = nil }, "/policies"},
	{"empty policies", func(s *edge.TokenSpec) { s.Policies = []edge.Policy{} }, "/policies"},
	{"a policy with an id", func(s *edge.TokenSpec) { s.Policies[1].ID = nowhere }, "/policies/1/id"},
	{"a single policy that denies", func(s *edge.TokenSpec) { s.Policies = s.Policies[1:] }, "/policies/0/effect"},
	{"another effect", func(s *edge.TokenSpec) { s.Policies[0].Effect = "permit" }, "/policies/0/effect"},
	{"no groups", func(s *edge.TokenSpec) { s.Policies[0].PermissionGroups = nil }, "/policies/0/permission_groups"},
	{"a group without an id", func(s *edge.TokenSpec) {
		s.Policies[0].PermissionGroups[1] = edge.PermissionGroup{Name: "DNS Write"}
	}, "/policies/0/permission_groups/1"},
	{"no resources", func(s *edge.TokenSpec) { s.Policies[0].Resources = nil }, "/policies/0/resources"},
	{"an unknown resource", resource("com.vendor.api.planet."+nowhere, edge.Breadth{}), "/policies/0/resources"},
	{"all users", resource(edge.ResourceUser+"*", edge.Breadth{}), "/policies/0/resources"},
	{"an unknown breadth", resource(edge.ResourceAccount+nowhere, edge.Breadth{Other: json.RawMessage(`"all"`)}), "/policies/0/resources"},
	{"zones of a zone", resource(edge.ResourceZone+nowhere, edge.Breadth{AllZones: true}), "/policies/0/resources"},
	{"a time without seconds", func(s *edge.TokenSpec) { s.NotBefore = "2026-01-01T00:00Z" }, "/not_before"},
	{"a time with an offset", func(s *edge.TokenSpec) { s.ExpiresOn = "2026-01-01T00:00:00+00:00" }, "/expires_on"},
	{"a window that ends before it begins", func(s *edge.TokenSpec) { s.ExpiresOn = "2019-01-01T00:00:00Z" }, "/"},
	{"a lone address", addresses(edge.AddressFilter{In: []string{"192.0.2.1"}}), "/condition"},
	{"no address", addresses(edge.AddressFilter{NotIn: []string{"192.0.2.0/33"}}), "/condition"},
}

func resource(key string, breadth edge.Breadth) func(*edge.TokenSpec) {
	return func(s *edge.TokenSpec) { s.Policies[0].Resources = map[string]edge.Breadth{key: breadth} }
}

func addresses(filter edge.AddressFilter) func(*edge.TokenSpec) {
	return func(s *edge.TokenSpec) { s.Condition = &edge.Condition{RequestIP: &filter} }
}

func unfitTokens(t tester) {
	t.Mute = false // a refusal is answered
	for _, u := range unfit {
		t.Log(u.name)
		before := t.tokenCount()
		spec := aSpec("unfit")
		u.spoil(&spec)
		_, err := t.tryCreate(spec)
		t.wantIs(err, edge.ErrInvalid, edge.ErrOutcomeUnknown, edge.ErrUnavailable)
		t.wantPointer(err, u.pointer)
		if made := t.tokenCount() - before; made != 0 {
			t.Errorf("%d tokens were made", made)
		}
	}
}

// wantPointer checks that an error says which member it is about, at or below
// one.
func (t tester) wantPointer(err error, pointer string) {
	t.Helper()
	var described *edge.Error
	if !errors.As(err, &described) || len(described.Details) == 0 || !strings.HasPrefix(described.Details[0].Source.Pointer, pointer) {
		t.Errorf("the error does not point at %s: %v", pointer, err)
	}
}
