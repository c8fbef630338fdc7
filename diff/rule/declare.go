package rule

import (
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Declare implements [diff.Declarer]: each rule in the order in which it stands. One that has what
// no declaration can say is left out.
func (k Kind) Declare(entryPoint edge.Ruleset) (all []desired.Other) {
	last := ""
	for _, rule := range entryPoint.Rules {
		o, ok := k.declare(rule, last, entryPoint.Kind == edge.KindRoot)
		if !ok {
			continue
		}
		all, last = append(all, o), o.Key
	}
	return all
}

// declare declares a rule of an account or of a zone: the one only executes rulesets, the other
// has only all else.
func (k Kind) declare(rule edge.Rule, behind string, account bool) (desired.Other, bool) {
	body, err := bodyOf(rule)
	if err != nil || rule.Ref == "" {
		return desired.Other{}, false
	}
	values, rest := tree{}, maps.Clone(body)
	delete(rest, "ref")
	for _, m := range k.members {
		if value := body.at(m.wire); value != nil {
			values.put(string(m.path), value)
			rest.put(m.wire, nil)
		}
	}
	_, known := strength(values["action"])
	if account {
		known = rule.Action == edge.ActionExecute
	}
	if !known || len(rest) > 0 || !k.sayable(values) {
		return desired.Other{}, false
	}
	if values["enabled"] == nil {
		values["enabled"] = true // which the schema says where nothing is said
	}
	if behind != "" {
		values[string(orderMember)] = map[string]any{"after": behind}
	}
	o, err := desired.NewOther(k.name, rule.Ref, desired.Origin{}, values)
	return o, err == nil
}

// Redeclare implements [diff.Declarer].
func (k Kind) Redeclare(o desired.Other, entryPoint edge.Ruleset) (desired.Other, bool) {
	i := byRef(entryPoint.Rules, o.Key)
	if i < 0 {
		return o, false
	}
	body, err := bodyOf(entryPoint.Rules[i])
	values, declaredErr := treeOf([]byte(o.Value))
	if err != nil || declaredErr != nil {
		return o, false
	}
	acted := values["action"]
	if (&wanted{values: values}).isForeign(entryPoint.Rules[i]) { // no declaration of it is valid
		return o, false
	}
	for _, m := range k.members {
		declared, live := values.at(string(m.path)), body.at(m.wire)
		if declared != nil && !m.same(declared, live) || declared == nil && live != nil && acted != body["action"] && strings.Contains(m.wire, ".") {
			values.put(string(m.path), live)
		}
	}
	if values[string(orderMember)] != nil && !k.inOrder(o.Key, entryPoint, values) {
		values.put(string(orderMember), orderAt(entryPoint.Rules, i))
	}
	values["prune"] = o.Prune
	now, err := desired.NewOther(k.name, o.Key, o.Origin, values)
	now.Places = o.Places
	return now, err == nil
}

// inOrder reports whether a live rule stands as its declaration says.
func (k Kind) inOrder(key string, entryPoint edge.Ruleset, values tree) bool {
	w := wanted{values: values}
	if w.readOrder() != nil {
		return false
	}
	rules := make([]placed, len(entryPoint.Rules))
	for i, rule := range entryPoint.Rules {
		rules[i] = placed{ref: rule.Ref, live: true, foreign: rule.Ref != key}
		if rule.Ref == key {
			rules[i].order = w.order
		}
	}
	_, stay, err := arrange(rules)
	return err == nil && !slices.Contains(stay, false)
}

// orderAt says where a rule stands, as a declaration has it: by the nearest rule with a ref. It is
// nil where there is none.
func orderAt(rules []edge.Rule, i int) any {
	if i == 0 {
		return atFirst
	}
	for j := i - 1; j >= 0; j-- {
		if rules[j].Ref != "" {
			return map[string]any{"after": rules[j].Ref}
		}
	}
	for _, rule := range rules[i+1:] {
		if rule.Ref != "" {
			return map[string]any{"before": rule.Ref}
		}
	}
	return nil
}
