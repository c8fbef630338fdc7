package mem

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
)

const maxGroupID = 32

var (
	policyMembers = map[string]memberType{"effect": text, "resources": anObject, "permission_groups": anArray}
	groupMembers  = map[string]memberType{"id": text, "name": text}
)

func checkPolicies(value any, user string) []edge.ErrorDetail {
	policies, isList := value.([]any)
	if value != nil && !isList {
		return nil // checkTypes has told about it
	}
	if len(policies) == 0 {
		return []edge.ErrorDetail{problem(0, "/policies", "a token needs at least one policy")}
	}
	var problems []edge.ErrorDetail
	for i, policy := range policies {
		at := fmt.Sprintf("/policies/%d", i)
		members, ok := policy.(map[string]any)
		if !ok {
			problems = append(problems, problem(0, at, "a policy must be an object"))
			continue
		}
		problems = append(problems, checkPolicy(at, members, user)...)
		if len(policies) == 1 && members["effect"] == string(edge.Deny) {
			problems = append(problems, problem(0, at+"/effect", "a single policy must allow"))
		}
	}
	return problems
}

func checkPolicy(at string, policy map[string]any, user string) []edge.ErrorDetail {
	problems := checkTypes(at, policy, policyMembers)
	if policy["id"] != nil {
		problems = append(problems, problem(codePolicyID, at+"/id", "a policy of a new token must not have an id"))
	}
	if effect, ok := policy["effect"].(string); policy["effect"] == nil || ok && effect != string(edge.Allow) && effect != string(edge.Deny) {
		problems = append(problems, problem(0, at+"/effect", "effect must be allow or deny"))
	}
	if resources, ok := policy["resources"].(map[string]any); len(resources) == 0 && (ok || policy["resources"] == nil) {
		problems = append(problems, problem(0, at+"/resources", "a policy needs at least one resource"))
	} else {
		problems = append(problems, checkResources(at+"/resources", resources, user)...)
	}
	return append(problems, checkGroups(at+"/permission_groups", policy["permission_groups"])...)
}

func checkGroups(at string, value any) []edge.ErrorDetail {
	groups, isList := value.([]any)
	if value != nil && !isList {
		return nil
	}
	if len(groups) == 0 {
		return []edge.ErrorDetail{problem(0, at, "a policy needs at least one permission group")}
	}
	var problems []edge.ErrorDetail
	for i, group := range groups {
		at := fmt.Sprintf("%s/%d", at, i)
		members, ok := group.(map[string]any)
		if !ok {
			problems = append(problems, problem(0, at, "a permission group must be an object"))
			continue
		}
		problems = append(problems, checkTypes(at, members, groupMembers)...)
		if id, _ := members["id"].(string); blank(members["id"]) || len(id) > maxGroupID {
			problems = append(problems, problem(0, at+"/id", "a permission group needs an id of at most %d characters", maxGroupID))
		}
	}
	return problems
}

// The documented keys of resources (reference, "Resource identifiers").
var (
	accountKey = lazyregexp.New(`^com\.vendor\.api\.account\.[0-9a-f]{32}$`)
	zoneKey    = lazyregexp.New(`^com\.vendor\.api\.account\.zone\.[0-9a-f]{32}$`)
	bucketKey  = lazyregexp.New(`^com\.vendor\.edge\.r2\.bucket\.[0-9a-f]{32}_[a-z]+_[a-z0-9-]+$`) // known beyond the reference
	userKey    = lazyregexp.New(`^com\.vendor\.api\.user\.([0-9A-Za-z_-]{1,64})$`)
)

// pointerEscape is RFC 6901, section 3.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func checkResources(at string, resources map[string]any, user string) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	for _, key := range sortedKeys(resources) {
		value, at := resources[key], at+"/"+pointerEscape.Replace(key)
		tag := userKey().FindStringSubmatch(key)
		known := key == edge.ResourceAllAccounts || key == edge.ResourceAllZones || zoneKey().MatchString(key) || bucketKey().MatchString(key) || tag != nil
		switch {
		case accountKey().MatchString(key):
			if value != "*" && !isAllZones(value) {
				problems = append(problems, problem(0, at, `an account's value must be "*" or {%q: "*"}`, edge.ResourceAllZones))
			}
		case !known:
			problems = append(problems, problem(0, at, "%q is not the key of a resource", key))
		case value != "*":
			problems = append(problems, problem(0, at, `the value of %q must be "*"`, key))
		case tag != nil && user != "" && tag[1] != user:
			problems = append(problems, problem(0, at, "%q is not the calling user", key))
		}
	}
	return problems
}

func isAllZones(value any) bool {
	nested, ok := value.(map[string]any)
	return ok && len(nested) == 1 && nested[edge.ResourceAllZones] == "*"
}
