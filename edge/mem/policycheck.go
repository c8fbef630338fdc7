package mem

import (
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
	list, _ := value.([]any)
	return checkList("/policies", value, "a token needs at least one policy", "a policy", policyMembers, func(at string, policy map[string]any) []edge.ErrorDetail {
		problems := checkPolicy(at, policy, user)
		if len(list) == 1 && policy["effect"] == string(edge.Deny) {
			problems = append(problems, problem(0, at+"/effect", "a single policy must allow"))
		}
		return problems
	})
}

func checkPolicy(at string, policy map[string]any, user string) (problems []edge.ErrorDetail) {
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
	groups := at + "/permission_groups"
	return append(problems, checkList(groups, policy["permission_groups"], "a policy needs at least one permission group", "a permission group", groupMembers,
		func(at string, group map[string]any) []edge.ErrorDetail {
			if id, _ := group["id"].(string); blank(group["id"]) || len(id) > maxGroupID {
				return []edge.ErrorDetail{problem(0, at+"/id", "a permission group needs an id of at most %d characters", maxGroupID)}
			}
			return nil
		})...)
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
