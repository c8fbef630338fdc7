package rule

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// member is something that a rule can declare. One that is not declared is not managed.
type member struct {
	path   diff.Member // in CUE, as in desired.Declarations
	wire   string      // in a rule of the platform
	set    bool        // a list whose order has no meaning
	direct func(c change) diff.Direction
}

// orderMember has no place in a rule: the platform has the list.
const orderMember diff.Member = "order"

// parametersMember has what is of an action, on the platform.
const parametersMember = "action_parameters"

// The members of both kinds, as people read them.
var (
	common = []member{
		{path: "description", wire: "description", direct: neutral},
		{path: "enabled", wire: "enabled", direct: enabling},
		{path: "expression", wire: "expression", direct: weakening}, // which of two is wider nobody can tell
		{path: "action", wire: "action", direct: acting},
	}
	response = []member{
		{path: "response.status", wire: "action_parameters.response.status_code", direct: neutral},
		{path: "response.type", wire: "action_parameters.response.content_type", direct: neutral},
		{path: "response.content", wire: "action_parameters.response.content", direct: neutral},
	}
	execution = []member{ // of an account
		{path: "execute", wire: "action_parameters.id", direct: weakening}, // what a ruleset does is not known here
	}
	customMembers = slices.Concat(common, response, execution, []member{
		{path: "skip.ruleset", wire: "action_parameters.ruleset", direct: skipping},
		{path: "skip.phases", wire: "action_parameters.phases", set: true, direct: skipping},
		{path: "skip.products", wire: "action_parameters.products", set: true, direct: skipping},
		{path: "logging", wire: "logging.enabled", direct: logging},
	})
	limitMembers = slices.Concat(common, response, execution, []member{
		{path: "limit.characteristics", wire: "ratelimit.characteristics", set: true, direct: weakening},
		{path: "limit.period", wire: "ratelimit.period", direct: rising},
		{path: "limit.requests", wire: "ratelimit.requests_per_period", direct: falling},
		{path: "limit.timeout", wire: "ratelimit.mitigation_timeout", direct: rising},
		{path: "limit.counting", wire: "ratelimit.counting_expression", direct: weakening},
		{path: "limit.to_origin", wire: "ratelimit.requests_to_origin", direct: weakening},
	})
)

// tree is a JSON object, with numbers as they are written.
type tree map[string]any

func treeOf(data []byte) (t tree, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&t)
	return t, err
}

// bodyOf is what an update of a rule has.
func bodyOf(rule edge.Rule) (tree, error) { return rule.Members() }

func (t tree) rule() (rule edge.Rule, err error) {
	data, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(data, &rule)
	}
	return rule, err
}

// at is the value at a path, nil for none.
func (t tree) at(path string) any {
	name, below, deeper := strings.Cut(path, ".")
	if !deeper {
		return t[name]
	}
	inner, _ := t[name].(map[string]any)
	return tree(inner).at(below)
}

// put sets the value at a path; nil takes it away. Objects on the way are copied, as others may
// have them.
func (t tree) put(path string, value any) {
	name, below, deeper := strings.Cut(path, ".")
	switch {
	case deeper:
		inner, _ := t[name].(map[string]any)
		if inner = maps.Clone(inner); inner == nil {
			if value == nil {
				return
			}
			inner = map[string]any{}
		}
		if tree(inner).put(below, value); len(inner) == 0 {
			delete(t, name)
			return
		}
		t[name] = inner
	case value == nil:
		delete(t, name)
	default:
		t[name] = value
	}
}

// same reports whether two values of a member mean the same.
func (m member) same(a, b any) bool {
	if m.path == "enabled" {
		a, b = a == nil || a == true, b == nil || b == true // one that says nothing is on
	}
	if m.set {
		a, b = sortedList(a), sortedList(b)
	}
	return reflect.DeepEqual(a, b)
}

func sortedList(value any) any {
	list, is := value.([]any)
	if !is {
		return value
	}
	texts := make([]string, len(list))
	for i, element := range list {
		data, _ := json.Marshal(element)
		texts[i] = string(data)
	}
	slices.Sort(texts)
	return texts
}
