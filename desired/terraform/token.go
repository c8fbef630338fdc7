package terraform

import (
	"encoding/json"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// addToken takes a token of the user.
func (s *State) addToken(v object) string {
	t, why := tokenOf(v)
	if why == "" {
		s.Tokens = append(s.Tokens, t)
	}
	return why
}

// addOwned takes a token that an account owns.
func (s *State) addOwned(v object) string {
	account := v.text("account_id")
	if !edge.ValidID(account) {
		return "it has no account yet"
	}
	t, why := tokenOf(v)
	if why == "" {
		s.Owned[edge.AccountID(account)] = append(s.Owned[edge.AccountID(account)], t)
	}
	return why
}

// tokenOf is a token, or why there is none. Its secret, in value, is not looked up.
func tokenOf(v object) (t edge.Token, why string) {
	t = edge.Token{ID: edge.TokenID(v.text("id")), Status: v.text("status")}
	t.Name, t.NotBefore, t.ExpiresOn = v.text("name"), v.text("not_before"), v.text("expires_on")
	if t.ID == "" {
		return t, "it has no id yet"
	}
	policies := v.list("policies")
	if len(policies) == 0 {
		policies = v.list("policy") // version 4
	}
	for _, p := range policies {
		resources, ok := resourceMap(p["resources"])
		if !ok {
			return t, "the resources of a policy cannot be read"
		}
		policy := edge.Policy{Effect: edge.Effect(p.text("effect")), Resources: resources}
		for _, id := range p.texts("permission_groups") { // version 4
			policy.PermissionGroups = append(policy.PermissionGroups, edge.PermissionGroup{ID: id})
		}
		for _, g := range p.list("permission_groups") {
			policy.PermissionGroups = append(policy.PermissionGroups, edge.PermissionGroup{ID: g.text("id"), Name: g.text("name")})
		}
		t.Policies = append(t.Policies, policy)
	}
	if ip := v.one("condition").one("request_ip"); ip != nil {
		filter := &edge.AddressFilter{In: ip.texts("in"), NotIn: ip.texts("not_in")}
		if len(filter.In)+len(filter.NotIn) > 0 {
			t.Condition = &edge.Condition{RequestIP: filter}
		}
	}
	return t, ""
}

// resourceMap reads the resources of a policy: a map, or JSON in a text. A nested map may
// be JSON in a text, too.
func resourceMap(value any) (map[string]edge.Breadth, bool) {
	m, ok := mapOf(value)
	if !ok {
		return nil, false
	}
	for name, breadth := range m {
		if nested, isMap := mapOf(breadth); isMap {
			m[name] = nested
		}
	}
	text, _ := json.Marshal(m) // what was decoded can be encoded
	var resources map[string]edge.Breadth
	return resources, json.Unmarshal([]byte(neutral(string(text))), &resources) == nil
}

func mapOf(value any) (map[string]any, bool) {
	switch v := value.(type) {
	case map[string]any:
		return v, true
	case string:
		var m map[string]any
		return m, json.Unmarshal([]byte(v), &m) == nil && m != nil
	}
	return nil, false
}

// neutral writes resource keys with the segment "vendor".
func neutral(text string) string {
	return strings.ReplaceAll(text, "com.cloudflare.api.", "com.vendor.api.")
}
