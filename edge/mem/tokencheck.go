package mem

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/exactjson"
)

// The checks of a new token are those the reference documents, and those the
// service has been seen to make.

// tokenTime is the form of a token's timestamps (reference, "Limits").
const tokenTime = "2006-01-02T15:04:05Z"

const maxTokenName = 120

// tokenRequest is the body of a creation that passed the checks. The condition
// stays as it was sent.
type tokenRequest struct {
	edge.TokenSpec
	Condition json.RawMessage `json:"condition"`
}

var (
	tokenMembers = map[string]memberType{
		"name": text, "policies": anArray, "not_before": text, "expires_on": text, "condition": anObject,
	}
	filterMembers = map[string]memberType{"in": anArray, "not_in": anArray}
)

// readTokenRequest reads the body of a creation, or tells everything that is
// wrong with it. user is the calling user's tag, empty when nobody knows it.
func readTokenRequest(body []byte, user string) (tokenRequest, []edge.ErrorDetail) {
	members, err := object(body)
	if err != nil {
		return tokenRequest{}, []edge.ErrorDetail{notAnObject(err)}
	}
	problems := checkTypes("", members, tokenMembers)
	problems = append(problems, checkName(members["name"])...)
	problems = append(problems, checkPolicies(members["policies"], user)...)
	problems = append(problems, checkWindow(members)...)
	problems = append(problems, checkCondition(members["condition"])...)
	if len(problems) > 0 {
		return tokenRequest{}, problems
	}
	var request tokenRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return tokenRequest{}, []edge.ErrorDetail{{Message: exactjson.Reason(err, "the token")}}
	}
	if condition, _ := members["condition"].(map[string]any); len(condition) == 0 {
		request.Condition = nil
	}
	return request, nil
}

func checkName(name any) []edge.ErrorDetail {
	if blank(name) {
		return []edge.ErrorDetail{problem(0, "/name", "name is required")}
	}
	if s, ok := name.(string); ok && utf8.RuneCountInString(s) > maxTokenName {
		return []edge.ErrorDetail{problem(0, "/name", "name is longer than %d characters", maxTokenName)}
	}
	return nil
}

func checkWindow(members map[string]any) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	times := map[string]time.Time{}
	for _, name := range []string{"not_before", "expires_on"} {
		said, ok := members[name].(string)
		if !ok {
			continue
		}
		at, err := parseTokenTime(said)
		if err != nil {
			problems = append(problems, problem(0, "/"+name, "%s %q is not a time in UTC such as 2027-01-31T00:00:00Z", name, said))
			continue
		}
		times[name] = at
	}
	if begin, end := times["not_before"], times["expires_on"]; !begin.IsZero() && !end.IsZero() && !begin.Before(end) {
		problems = append(problems, problem(0, "/expires_on", "expires_on must be after not_before"))
	}
	return problems
}

// parseTokenTime takes the one documented form; time.Parse alone would let
// fractions of a second pass.
func parseTokenTime(said string) (time.Time, error) {
	at, err := time.Parse(tokenTime, said)
	if err == nil && at.Format(tokenTime) != said {
		err = fmt.Errorf("%q is not in the form YYYY-MM-DDThh:mm:ssZ", said)
	}
	return at, err
}

// checkCondition takes both spellings of the key, and empty lists: one in "in"
// keeps every address out.
func checkCondition(value any) []edge.ErrorDetail {
	condition, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	var problems []edge.ErrorDetail
	for _, key := range sortedKeys(condition) {
		at := "/condition/" + key
		filter, ok := condition[key].(map[string]any)
		switch {
		case key != "request.ip" && key != "request_ip":
			problems = append(problems, problem(0, at, "%q is not a condition", key))
		case condition[key] == nil:
		case !ok:
			problems = append(problems, problem(0, at, "%s must be an object", key))
		default:
			problems = append(problems, unknownMembers(at, filter, filterMembers)...)
			problems = append(problems, checkTypes(at, filter, filterMembers)...)
			problems = append(problems, checkRanges(at+"/in", filter["in"])...)
			problems = append(problems, checkRanges(at+"/not_in", filter["not_in"])...)
		}
	}
	return problems
}

func checkRanges(at string, value any) []edge.ErrorDetail {
	ranges, _ := value.([]any)
	var problems []edge.ErrorDetail
	for i, element := range ranges {
		said, _ := element.(string)
		if _, err := netip.ParsePrefix(said); err != nil {
			problems = append(problems, problem(0, fmt.Sprintf("%s/%d", at, i), "%q is not a range in CIDR notation", fmt.Sprint(element)))
		}
	}
	return problems
}

// checkStatus takes the statuses that a person can set, and the one that a token
// has: whoever sends back what was read must not be refused. That a token is
// expired the clock says, so to send it says nothing.
func checkStatus(body []byte, t SeedToken) []edge.ErrorDetail {
	members, err := object(body)
	if err != nil || members["status"] == nil {
		return nil // readTokenRequest has told about the first
	}
	said, ok := members["status"].(string)
	if !ok || said != statusActive && said != statusDisabled && said != statusExpired && said != t.Status {
		return []edge.ErrorDetail{problem(0, "/status", "status must be %s or %s", statusActive, statusDisabled)}
	}
	return nil
}
