package meet

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// Rule is a declared rule as far as it says what becomes of a request.
type Rule struct {
	desired.Other
	Phase      edge.Phase
	Action     string
	Enabled    bool
	Expression string
	Skips      Skips

	expr  expression.Expr // the zero value where it cannot be read
	text  string          // it, in one spelling; see printed
	limit struct {
		Characteristics []string
		Counting        string
	}
	first, last   bool
	before, after string
}

// Skips is what a rule with the action skip turns off.
type Skips struct {
	Ruleset  string // "current": the rules behind it
	Phases   []edge.Phase
	Products []string
}

const actionSkip = string(edge.ActionSkip)

// Ends reports whether no rule behind it acts on a request that it matches. A challenge that is
// passed ends it, too: the vendor's documents call these actions terminating
// (ruleset-engine/rules-language/actions.mdx).
func (r *Rule) Ends() bool { return r.terminates() || r.Action == actionSkip && r.Skips.Ruleset != "" }

func (r *Rule) terminates() bool {
	switch r.Action {
	case "block", "managed_challenge", "js_challenge", "challenge":
		return r.Phase == edge.PhaseFirewallCustom
	}
	return false
}

// Rules are the declared rules of a phase in a zone, in an order in which they may stand: as they
// say, and else by their keys.
func Rules(zone desired.Zone, phase edge.Phase) []*Rule {
	var all []*Rule
	for _, o := range zone.Others {
		d := o.Declaration()
		if d.Phase != phase || d.Expression == "" {
			continue
		}
		if r, ok := ruleOf(d, o); ok {
			all = append(all, r)
		}
	}
	return sorted(all)
}

func ruleOf(d desired.Declaration, o desired.Other) (*Rule, bool) {
	r := &Rule{Other: o, Phase: d.Phase}
	var said struct {
		Action     string
		Enabled    *bool
		Expression string
		Skip       json.RawMessage
		Limit      json.RawMessage
		Order      json.RawMessage
	}
	if json.Unmarshal([]byte(o.Value), &said) != nil || said.Expression == "" {
		return nil, false
	}
	r.Expression, r.Action = said.Expression, cmp.Or(said.Action, actionSkip) // what has no action is an exception
	r.Enabled = said.Enabled == nil || *said.Enabled
	_ = json.Unmarshal(said.Skip, &r.Skips) // an exception says it in another form
	_ = json.Unmarshal(said.Limit, &r.limit)
	var where string
	if json.Unmarshal(said.Order, &where) == nil {
		r.first, r.last = where == "first", where == "last"
	} else {
		var of struct{ Before, After string }
		_ = json.Unmarshal(said.Order, &of)
		r.before, r.after = of.Before, of.After
	}
	r.expr, _ = expression.Parse(said.Expression)
	return r, true
}

// order is what the rules of a phase say of where they stand.
type order struct {
	rules  []*Rule
	behind map[*Rule][]*Rule // those that say, or of which it says, that they stand behind it
}

func orderOf(rules []*Rule) order {
	o := order{rules, map[*Rule][]*Rule{}}
	byKey := map[string]*Rule{}
	for _, r := range rules {
		byKey[r.Key] = r
	}
	for _, r := range rules {
		if other := byKey[r.before]; other != nil {
			o.behind[r] = append(o.behind[r], other)
		}
		if other := byKey[r.after]; other != nil {
			o.behind[other] = append(o.behind[other], r)
		}
	}
	return o
}

// front reports whether it is declared that a rule stands in front of another. Rules that say
// nothing stand anywhere.
func (o order) front(a, b *Rule) bool { return o.leads(a, b) && !o.leads(b, a) }

// leads follows what is said; two that contradict each other both lead.
func (o order) leads(a, b *Rule) bool {
	if len(o.behind[a]) == 0 { // as most rules are
		return a.first && !b.first || !a.last && b.last
	}
	seen := map[*Rule]bool{a: true}
	for queue := []*Rule{a}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.first && !b.first || !at.last && b.last {
			return true
		}
		for _, next := range o.behind[at] {
			if next == b {
				return true
			}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// sorted is an order that contradicts nothing that is said.
func sorted(rules []*Rule) []*Rule {
	o := orderOf(rules)
	var all []*Rule
	rest := slices.Clone(rules)
	for len(rest) > 0 {
		next := slices.IndexFunc(rest, func(r *Rule) bool {
			return !slices.ContainsFunc(rest, func(other *Rule) bool { return other != r && o.front(other, r) })
		})
		next = max(next, 0) // which of those that go in a circle is first is not said
		all = append(all, rest[next])
		rest = slices.Delete(rest, next, next+1)
	}
	return all
}

// printed is the expression in one spelling.
func (r *Rule) printed() string {
	if r.text == "" {
		r.text = r.expr.String()
	}
	return r.text
}
