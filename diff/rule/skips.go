package rule

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression/judge"
)

// What an exception skips is declared in words of the managed ruleset of its deployment, and is
// ids on the platform:
//
//	"all"                {"ruleset": "current"}
//	"ruleset"            {"rulesets": [ID]}
//	rules: […]           {"rules": {ID: [ID, …]}}
//	tags: […]            the same, with all rules that have one of the tags
//
// The platform takes only rules that the managed ruleset has (vendor: waf/managed-rules/
// waf-exceptions/define-api), and its versions come weekly. So what is gone is left out.

// skipMember is its path.
const skipMember diff.Member = "skip"

// skipped is what an exception turns off.
type skipped struct {
	parameters tree // of its rule
	gone       []string
}

// resolve turns what is declared into parameters. An error is that nothing is left to skip.
func resolve(declared any, of diff.Managed) (skipped, error) {
	switch {
	case declared == "all":
		return skipped{parameters: tree{"ruleset": "current"}}, nil
	case of == nil:
		return skipped{}, errors.New("its managed ruleset is not known")
	case declared == "ruleset":
		return skipped{parameters: tree{"rulesets": []any{string(of.ID())}}}, nil
	}
	by, _ := declared.(map[string]any)
	var ids []edge.RuleID
	var s skipped
	for _, value := range listOf(by["rules"]) {
		id, why := of.Find(refOf(value))
		if why != "" {
			s.gone = append(s.gone, why)
			continue
		}
		ids = append(ids, id)
	}
	for _, value := range listOf(by["tags"]) {
		tag := fmt.Sprint(value)
		tagged := of.Tagged(tag)
		if len(tagged) == 0 {
			s.gone = append(s.gone, fmt.Sprintf("no rule of the managed ruleset has the tag %q", tag))
		}
		ids = append(ids, tagged...)
	}
	if len(ids) == 0 {
		return s, fmt.Errorf("nothing is left to skip: %s", strings.Join(s.gone, "; "))
	}
	slices.Sort(ids)
	s.parameters = tree{"rules": map[string]any{string(of.ID()): textsOf(slices.Compact(ids))}}
	return s, nil
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func textsOf[T ~string](list []T) (texts []any) {
	for _, text := range list {
		texts = append(texts, string(text))
	}
	return texts
}

// refOf is a reference to a rule as JSON has it: an id, or an object with one member.
func refOf(value any) desired.RuleRef {
	if id, is := value.(string); is {
		return desired.RuleRef{ID: edge.RuleID(id)}
	}
	by, _ := value.(map[string]any)
	text := func(name string) string { t, _ := by[name].(string); return t }
	return desired.RuleRef{ID: edge.RuleID(text("id")), Ref: text("ref"), Description: text("description")}
}

// canonicalSkip is the parameters of a skip rule with lists in one order.
func canonicalSkip(value any) any {
	switch v := value.(type) {
	case tree:
		return canonicalSkip(map[string]any(v))
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			out[name] = canonicalSkip(member)
		}
		return out
	case []any:
		return sortedList(v)
	}
	return value
}

// reach is what a skip rule turns off, as the platform has it.
type reach struct {
	edge.Skip
	products any // nil for none
	known    bool
}

func reachOf(parameters any) (r reach) {
	switch by := parameters.(type) {
	case tree:
		r.products = by["products"]
	case map[string]any:
		r.products = by["products"]
	}
	data, err := json.Marshal(map[string]any{"action": "skip", "action_parameters": parameters})
	var rule edge.Rule
	if err == nil {
		err = json.Unmarshal(data, &rule)
	}
	if err == nil {
		r.Skip, _, err = rule.Skip()
	}
	r.known = err == nil
	return r
}

// covers reports whether it turns off at least what another one does, as far as that can be told.
func (r reach) covers(o reach) bool {
	switch {
	case !r.known || !o.known:
		return false
	case len(r.Phases)+len(o.Phases) > 0, o.products != nil && !reflect.DeepEqual(r.products, o.products):
		return false
	case r.Current:
		return true
	case o.Current:
		return false
	}
	for _, id := range o.Rulesets {
		if !slices.Contains(r.Rulesets, id) {
			return false
		}
	}
	for id, rules := range o.Rules {
		if len(r.lacks(id, rules)) > 0 {
			return false
		}
	}
	return true
}

// lacks are those of some rules that it does not turn off.
func (r reach) lacks(ruleset edge.RulesetID, rules []edge.RuleID) (not []edge.RuleID) {
	if r.Current || slices.Contains(r.Rulesets, ruleset) {
		return nil
	}
	for _, id := range rules {
		if !slices.Contains(r.Rules[ruleset], id) {
			not = append(not, id)
		}
	}
	return not
}

// of is what it turns off of a managed ruleset: all of it, or these rules.
func (r reach) of(ruleset edge.RulesetID) (all bool, rules []edge.RuleID) {
	if r.Current || slices.Contains(r.Rulesets, ruleset) {
		return true, nil
	}
	return false, r.Rules[ruleset]
}

// widening judges what a rule turns off: less is certainly more protection.
func widening(c change) diff.Direction {
	if c.is.at("enabled") == false { // it acts on nothing
		return diff.Neutral
	}
	if c.new == nil || c.old != nil && reachOf(c.old).covers(reachOf(c.new)) {
		return diff.Strengthens
	}
	return diff.Weakens
}

// narrowing judges another expression of a skip rule: one that matches no request that the other one
// did not match is certainly more protection.
func narrowing(c change) diff.Direction {
	was, _ := c.old.(string)
	is, _ := c.new.(string)
	switch {
	case c.is.at("enabled") == false: // it acts on nothing
		return diff.Neutral
	case was != "" && judge.Implies(is, was):
		return diff.Strengthens
	default:
		return diff.Weakens
	}
}

// mostNamed is how many rules a note names. The change has all.
const mostNamed = 5

// named are rules in words, the first of them by name.
func named(rules []diff.SkippedRule) string {
	var names []string
	for _, r := range rules[:min(len(rules), mostNamed)] {
		names = append(names, cmp.Or(r.Description, string(r.ID)))
	}
	return words.First(names, len(rules))
}
