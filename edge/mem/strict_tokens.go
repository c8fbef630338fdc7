package mem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// token checks a token that passed what every platform refuses. The account is
// the one that shall own it, empty for the user.
func (c checks) token(spec edge.TokenSpec, account edge.AccountID) []edge.ErrorDetail {
	if !c.vendor() {
		return nil
	}
	var problems []edge.ErrorDetail
	if end, err := parseTokenTime(spec.ExpiresOn); spec.ExpiresOn != "" && err == nil && !end.After(c.p.now()) {
		problems = append(problems, problem(0, "/expires_on", "expires_on must be in the future"))
	}
	for i, policy := range spec.Policies {
		at := fmt.Sprintf("/policies/%d", i)
		if account != "" {
			problems = append(problems, c.inAccount(at+"/resources", policy, account)...)
		}
		problems = append(problems, c.scopes(at, policy)...)
	}
	return problems
}

// scopes holds each group to the types of the policy's resources, and each
// resource to the groups: what fits no other would do nothing.
func (c checks) scopes(at string, policy edge.Policy) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	types, scopes := map[string]bool{}, map[string]bool{}
	for key, breadth := range policy.Resources {
		types[typeOf(key, breadth)] = true
	}
	for i, group := range policy.PermissionGroups {
		at := fmt.Sprintf("%s/permission_groups/%d", at, i)
		j := slices.IndexFunc(c.p.state.PermissionGroups, func(g SeedPermissionGroup) bool { return g.ID == group.ID })
		if j < 0 {
			problems = append(problems, problem(0, at+"/id", "unknown permission group %q", group.ID))
			continue
		}
		known := c.p.state.PermissionGroups[j]
		if !slices.ContainsFunc(known.Scopes, func(scope string) bool { return types[scope] }) {
			problems = append(problems, problem(0, at, "permission group %q is for %s, and the policy has no such resource", known.Name, strings.Join(known.Scopes, ", ")))
		}
		for _, scope := range known.Scopes {
			scopes[scope] = true
		}
	}
	for _, key := range sortedKeys(policy.Resources) {
		if kind := typeOf(key, policy.Resources[key]); !scopes[kind] && len(problems) == 0 {
			problems = append(problems, problem(0, at+"/resources/"+pointerEscape.Replace(key), "no permission group of the policy is for %s", kind))
		}
	}
	return problems
}

// typeOf is the type of a resource, as the scopes of groups name it.
func typeOf(key string, breadth edge.Breadth) string {
	switch {
	case strings.HasPrefix(key, edge.ResourceUser):
		return string(access.TypeUser)
	case strings.HasPrefix(key, edge.ResourceBucket):
		return strings.TrimSuffix(edge.ResourceBucket, ".")
	case strings.HasPrefix(key, edge.ResourceZone), breadth.AllZones:
		return string(access.TypeZone)
	}
	return string(access.TypeAccount)
}

// inAccount refuses resources that an account's own token cannot have.
func (c checks) inAccount(at string, policy edge.Policy, account edge.AccountID) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	for _, key := range sortedKeys(policy.Resources) {
		zone := c.p.zone(edge.ZoneID(strings.TrimPrefix(key, edge.ResourceZone)))
		if key != edge.ResourceAccount+string(account) && (zone == nil || zone.AccountID != account) {
			problems = append(problems, problem(0, at+"/"+pointerEscape.Replace(key), "a token of an account can act on this account and its zones only"))
		}
	}
	return problems
}
