package mem

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/edge"
)

var (
	errNull     = errors.New("null")
	errTrailing = errors.New("more follows the object")
)

// The checks below collect every problem of a body, each with a JSON pointer to
// the member it is about: a server tells all of them at once.

// memberType names the JSON type of a member and recognises it.
type memberType struct {
	name string
	is   func(any) bool
}

var (
	text     = memberType{"a string", func(v any) bool { _, ok := v.(string); return ok }}
	boolean  = memberType{"a boolean", func(v any) bool { _, ok := v.(bool); return ok }}
	integer  = memberType{"an integer", isInteger}
	anObject = memberType{"an object", func(v any) bool { _, ok := v.(map[string]any); return ok }}
	anArray  = memberType{"an array", func(v any) bool { _, ok := v.([]any); return ok }}
)

func isInteger(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	_, err := strconv.Atoi(n.String())
	return err == nil
}

// The members of a body whose types are known. Others are kept unseen.
var (
	ruleMembers = map[string]memberType{
		"action": text, "expression": text, "description": text, "ref": text, "enabled": boolean,
		"score_threshold": integer, "categories": anArray, "action_parameters": anObject,
	}
	parameterMembers = map[string]memberType{"id": text, "version": text, "overrides": anObject}
	overridesMembers = map[string]memberType{
		"action": text, "enabled": boolean, "sensitivity_level": text, "categories": anArray, "rules": anArray,
	}
	elementMembers = map[string]memberType{
		"id": text, "category": text, "action": text, "enabled": boolean, "sensitivity_level": text, "score_threshold": integer,
	}
)

func problem(code int, pointer, format string, args ...any) edge.ErrorDetail {
	return edge.ErrorDetail{Code: code, Source: edge.ErrorSource{Pointer: pointer}, Message: fmt.Sprintf(format, args...)}
}

// checkTypes looks at the known members of one object, in the order of names.
func checkTypes(at string, members map[string]any, types map[string]memberType) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	for _, name := range sortedKeys(types) {
		if v := members[name]; v != nil && !types[name].is(v) {
			problems = append(problems, problem(0, at+"/"+name, "%s must be %s", name, types[name].name))
		}
	}
	return problems
}

// checkShape refuses what no update may contain, whether it replaces or merges:
// members of a wrong type, and overrides, categories or rules that are empty.
func checkShape(body map[string]any) []edge.ErrorDetail {
	problems := checkTypes("", body, ruleMembers)
	parameters, ok := body["action_parameters"].(map[string]any)
	if !ok {
		return problems
	}
	problems = append(problems, checkTypes("/action_parameters", parameters, parameterMembers)...)
	overrides, ok := parameters["overrides"].(map[string]any)
	if !ok {
		return problems
	}
	const at = "/action_parameters/overrides"
	if len(overrides) == 0 {
		return append(problems, problem(0, at, "overrides must not be empty"))
	}
	problems = append(problems, checkTypes(at, overrides, overridesMembers)...)
	problems = append(problems, checkElements(at+"/categories", overrides["categories"], "category")...)
	return append(problems, checkElements(at+"/rules", overrides["rules"], "id")...)
}

// checkElements checks the elements of categories or rules: each names what it
// overrides by the member key, and says at least one thing more about it.
func checkElements(at string, value any, key string) []edge.ErrorDetail {
	if value == nil {
		return nil
	}
	return checkList(at, value, "the list must not be empty", "an override", elementMembers, func(at string, members map[string]any) (problems []edge.ErrorDetail) {
		if blank(members[key]) {
			problems = append(problems, problem(0, at+"/"+key, "%s is required", key))
		}
		if said(members) < 2 {
			problems = append(problems, problem(0, at, "an override needs at least two properties"))
		}
		return problems
	})
}

// checkList checks a list of objects that must have one at least, and each of them. Of a value
// that is no list checkTypes has told.
func checkList(
	at string, value any, empty, what string, types map[string]memberType, each func(at string, members map[string]any) []edge.ErrorDetail,
) (problems []edge.ErrorDetail) {
	list, isList := value.([]any)
	if value != nil && !isList {
		return nil
	}
	if len(list) == 0 {
		return []edge.ErrorDetail{problem(0, at, "%s", empty)}
	}
	for i, element := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		members, ok := element.(map[string]any)
		if !ok {
			problems = append(problems, problem(0, at, "%s must be an object", what))
			continue
		}
		problems = append(problems, checkTypes(at, members, types)...)
		problems = append(problems, each(at, members)...)
	}
	return problems
}

// checkRequired checks what a rule must have once the body is applied.
func checkRequired(rule map[string]any) []edge.ErrorDetail {
	var problems []edge.ErrorDetail
	if blank(rule["action"]) {
		problems = append(problems, problem(0, "/action", "action is required"))
	}
	if blank(rule["expression"]) {
		problems = append(problems, problem(edge.CodeExpressionBlank, "/expression", "the expression must not be blank"))
	}
	if rule["action"] != string(edge.ActionExecute) {
		return problems
	}
	parameters, _ := rule["action_parameters"].(map[string]any)
	switch {
	case parameters == nil:
		problems = append(problems, problem(edge.CodeActionParameters, "/action_parameters", "the action execute requires action parameters"))
	case blank(parameters["id"]):
		problems = append(problems, problem(edge.CodeActionParameters, "/action_parameters/id", "the action execute requires the id of a ruleset"))
	}
	return problems
}

// blank reports a member that is missing, null or white space. One of a wrong
// type is not blank: checkTypes has told about it.
func blank(v any) bool {
	s, isText := v.(string)
	return v == nil || isText && strings.TrimSpace(s) == ""
}

// said counts the members that are not null.
func said(members map[string]any) int {
	n := 0
	for _, v := range members {
		if v != nil {
			n++
		}
	}
	return n
}
