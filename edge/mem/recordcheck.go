package mem

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

// codeDNSValidation wraps the root cause of an invalid record before the day of
// [RuleErrorChain] (reference, "Errors", 2). The reference gives root causes no
// code, so they have none here.
const codeDNSValidation = 1004

const messageDNSValidation = "DNS Validation Error"

// invalidRecord is the refusal of a record: wrapped, or the root causes.
func invalidRecord(call string, causes []edge.ErrorDetail, now moment) error {
	if now.over(RuleErrorChain) {
		return invalid(call, causes)
	}
	return invalid(call, []edge.ErrorDetail{{Code: codeDNSValidation, Message: messageDNSValidation, Chain: causes}})
}

// folded moves the name fields of an SRV record's data into its name, in place,
// and says what is wrong with the record. Sent is the body that asked for it,
// nil for a whole record. The error is of what the reference does not show.
func folded(call string, members, sent map[string]json.RawMessage, srvOver bool) ([]edge.ErrorDetail, error) {
	var problems []edge.ErrorDetail
	var err error
	if textOf(members["type"]) == typeSRV {
		problems, err = foldSRV(call, members, sent, srvOver)
	}
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	return checkRecord(members), nil
}

// checkRecord finds what would be no DNS record of any kind. What each type asks
// of its content the reference does not show, so nothing is asked.
func checkRecord(members map[string]json.RawMessage) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	for _, member := range []string{"name", "type"} {
		if textOf(members[member]) == "" {
			problems = append(problems, problem(0, "/"+member, "%s must be a text that is not empty", member))
		}
	}
	content, hasContent := members["content"]
	data, hasData := members["data"]
	switch {
	case hasContent && textOf(content) == "":
		problems = append(problems, problem(0, "/content", "content must be a text that is not empty"))
	case hasData && objectOf(data) == nil:
		problems = append(problems, problem(0, "/data", "data must be an object"))
	case !hasContent && !hasData:
		problems = append(problems, problem(0, "/content", "a record needs content, or data"))
	}
	return problems
}

func objectOf(raw json.RawMessage) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// foldSRV makes the outer name of the fields in data, which are not stored. A
// name that is sent beside them must say the same: which of two would win is not
// shown. Without one they replace their part of the name that was there.
func foldSRV(call string, members, sent map[string]json.RawMessage, srvOver bool) ([]edge.ErrorDetail, error) {
	data := objectOf(members["data"])
	given := map[string]string{}
	for _, field := range srvFields {
		raw, ok := data[field]
		if !ok {
			continue
		}
		if given[field] = textOf(raw); srvOver {
			return []edge.ErrorDetail{problem(0, "/data/"+field, "data.%s has reached its end of life: set the name of the record", field)}, nil
		}
		delete(data, field)
	}
	if len(given) == 0 {
		return nil, nil
	}
	problems := checkGiven(given)
	if len(problems) > 0 {
		return problems, nil
	}
	name, err := nameOf(call, members, sent, given)
	if err != nil || name == "" {
		return []edge.ErrorDetail{problem(0, "/name", "name is missing, and data does not have all of service, proto and name")}, err
	}
	members["name"] = quote(name)
	members["data"], err = json.Marshal(data)
	return nil, err
}

func checkGiven(given map[string]string) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	for _, field := range srvFields {
		value, ok := given[field]
		switch {
		case ok && field == "name" && value == "":
			problems = append(problems, problem(0, "/data/name", "data.name must be a text that is not empty"))
		case ok && field != "name" && !isLabel(value):
			problems = append(problems, problem(0, "/data/"+field, `data.%s must be one label with a leading "_"`, field))
		}
	}
	return problems
}

// nameOf is the outer name of an SRV record whose data names it; empty where it
// takes more than is given.
func nameOf(call string, members, sent map[string]json.RawMessage, given map[string]string) (string, error) {
	outer := textOf(members["name"])
	parts := splitSRV(outer)
	if _, both := sent["name"]; both || sent == nil && outer != "" {
		for i, field := range srvFields {
			if value, ok := given[field]; ok && (parts == nil || !strings.EqualFold(value, parts[i])) {
				return "", notShown(call, fmt.Sprintf("which one counts where the name %q and data.%s %q differ (rule %s)", outer, field, value, RuleSRV))
			}
		}
		return outer, nil
	}
	name := make([]string, len(srvFields))
	for i, field := range srvFields {
		value, ok := given[field]
		if !ok && parts != nil {
			value = parts[i]
		}
		if value == "" {
			return "", nil
		}
		name[i] = value
	}
	return strings.Join(name, "."), nil
}
