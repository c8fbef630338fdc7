package rule

import (
	"errors"
	"maps"
	"reflect"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// At implements [diff.DeclarerAt].
func (k Exceptions) At(deployed func(name string) diff.Deployed, now time.Time) diff.Declarer {
	k.deployed, k.now = deployed, now
	return k
}

// Declare implements [diff.Declarer]: the skip rules that act on one deployment alone, or on all that
// comes behind them. Each is of the deployment that it acts on first, which has the id of its managed
// ruleset in the place of its name. Nobody answers for them yet.
func (k Exceptions) Declare(entryPoint edge.Ruleset) (all []desired.Other) {
	for i, rule := range entryPoint.Rules {
		if o, ok := k.declare(rule, entryPoint.Rules[i+1:]); ok {
			all = append(all, o)
		}
	}
	return all
}

func (k Exceptions) declare(rule edge.Rule, behind []edge.Rule) (none desired.Other, ok bool) {
	body, err := bodyOf(rule)
	if err != nil || rule.Action != edge.ActionSkip || rule.Ref == "" {
		return none, false
	}
	id, skip := firstOf(reachOf(body[parametersMember]), behind)
	if id == "" || !meant(id, skip, body[parametersMember]) || !k.has(id, skip) {
		return none, false
	}
	values, rest := tree{"owner": desired.NoOwner, string(skipMember): skip, "enabled": rule.IsEnabled()}, maps.Clone(body)
	for _, name := range []string{"ref", "action", parametersMember, "enabled"} {
		delete(rest, name)
	}
	for _, m := range k.members {
		if value := rest.at(m.wire); value != nil {
			values.put(string(m.path), value)
			rest.put(m.wire, nil)
		}
	}
	if len(rest) > 0 || !k.understood(values) {
		return none, false
	}
	o, err := desired.NewOther(k.name, rule.Ref, desired.Origin{}, values)
	o.Of = string(id)
	return o, err == nil
}

// firstOf says of what a rule turns off which managed ruleset it is of, and what is declared then;
// empty where no declaration can say it.
func firstOf(r reach, behind []edge.Rule) (edge.RulesetID, any) {
	one := len(r.Rulesets) + len(r.Rules)
	for _, rule := range behind {
		if rule.Action != edge.ActionExecute || rule.ActionParameters == nil || !r.known || len(r.Phases) > 0 {
			continue
		}
		id := rule.ActionParameters.ID
		switch all, rules := r.of(id); {
		case r.Current && one == 0:
			return id, "all"
		case r.Current || one != 1:
		case all:
			return id, "ruleset"
		case len(rules) > 0:
			return id, map[string]any{"rules": textsOf(rules)}
		}
	}
	return "", nil
}

// meant reports whether a live rule has just the parameters of what is to be declared: products, for
// example, are in no declaration.
func meant(id edge.RulesetID, skip, live any) bool {
	is := any(map[string]any{"rulesets": []any{string(id)}})
	switch by, names := skip.(map[string]any); {
	case skip == "all":
		is = map[string]any{"ruleset": "current"}
	case names:
		is = map[string]any{"rules": map[string]any{string(id): by["rules"]}}
	}
	return reflect.DeepEqual(canonicalSkip(is), canonicalSkip(live))
}

// has reports whether a managed ruleset has all rules that are to be declared: what is gone is left
// out of the live rule with the next change, and no declaration says it.
func (k Exceptions) has(id edge.RulesetID, skip any) bool {
	by, names := skip.(map[string]any)
	if !names {
		return true
	}
	if k.deployed == nil {
		return false
	}
	of := k.deployed(string(id))
	if of.Managed == nil {
		return false
	}
	for _, rule := range listOf(by["rules"]) {
		if _, why := of.Managed.Find(refOf(rule)); why != "" {
			return false
		}
	}
	return true
}

// skipOf says what a live rule turns off as a declaration of a deployment does; where none can say
// it, as it is.
func (m member) skipOf(of diff.Deployed, parameters any, behind []edge.Rule) any {
	_, skip := firstOf(reachOf(parameters), behind)
	if as, err := resolve(skip, of.Managed); skip == nil || err != nil || !m.same(as.parameters, parameters) {
		return parameters
	}
	return skip
}

// Redeclare implements [diff.Declarer].
func (k Exceptions) Redeclare(o desired.Other, entryPoint edge.Ruleset) (desired.Other, bool) {
	of := diff.Deployed{}
	if k.deployed != nil {
		of = k.deployed(o.Of)
	}
	e, err := k.rule(o, of, k.now)
	i := byRef(entryPoint.Rules, o.Key)
	if i < 0 || entryPoint.Rules[i].Action != edge.ActionSkip {
		return o, e.over && i < 0 // it is not added any more
	}
	live, liveErr := bodyOf(entryPoint.Rules[i])
	values, declaredErr := treeOf([]byte(o.Value))
	means, meansErr := treeOf([]byte(e.Value))
	if errors.Join(liveErr, declaredErr, meansErr) != nil {
		return o, false
	}
	for _, m := range k.members {
		declared, is := means.at(string(m.path)), live.at(m.wire)
		switch {
		case m.path == "action":
		case m.path == skipMember:
			if err != nil || !m.same(declared, is) {
				values.put(string(m.path), m.skipOf(of, is, entryPoint.Rules[i+1:]))
			}
		case declared != nil && !m.same(declared, is):
			values.put(string(m.path), is)
		}
	}
	if values[string(orderMember)] != nil && !k.inOrder(o.Key, entryPoint, values) {
		values.put(string(orderMember), orderAt(entryPoint.Rules, i))
	}
	values["prune"] = o.Prune
	now, err := desired.NewOther(k.name, o.Key, o.Origin, values)
	now.Places, now.Of = o.Places, o.Of
	return now, err == nil
}
