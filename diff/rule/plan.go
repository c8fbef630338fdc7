package rule

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/tier"
)

// zonePlan is the plan of the rules of one zone on its way.
type zonePlan struct {
	zonePart
	live    edge.Ruleset
	limits  *tier.Limits // of the plan of the zone; nil: not known
	applied diff.Applied
	memory  *diff.Memory

	wanted map[string]*wanted // by ref
	many   int                // how many rules there would be
}

// wanted is a rule that is declared.
type wanted struct {
	desired.Other
	values tree
	order  order
	// misplaced says that no place is as the orders of the rules say: the rule is not in sync,
	// whatever else is.
	misplaced bool
}

// Plan implements [diff.Kind].
func (k Kind) Plan(in diff.Input) diff.Part {
	if !k.concerned(in) {
		return diff.Part{}
	}
	return k.planAll(in)
}

// concerned reports whether any zone declares rules of the kind, says what is done with those of
// others, or has one that may be removed. Most plans are of a zone for which nothing is to be made.
func (k Kind) concerned(in diff.Input) bool {
	for _, account := range in.State.Accounts {
		for i := range account.Zones {
			zone := &account.Zones[i]
			if _, decided := k.decided(*zone); decided || slices.ContainsFunc(zone.Others, k.is) {
				return true
			}
		}
	}
	return in.Prunable.Of(k.name)
}

func (k Kind) planAll(in diff.Input) (out diff.Part) {
	prunable := k.byScope(in.Prunable)
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			observed, read := in.Live.EntryPoints[zone.Scope.At(k.phase)]
			_, decided := k.decided(zone)
			declared, before := k.of(zone), prunable[zone.Scope]
			if !read || len(declared)+len(before) == 0 && !decided {
				continue // so are most zones: nothing is made for them
			}
			p := zonePlan{zonePart: zonePart{k, account, zone, &out}, live: observed.Value, limits: k.limits(in.Live, zone), applied: in.Applied, memory: in.Memory, wanted: map[string]*wanted{}}
			left := p.left(before)
			switch {
			case len(declared)+len(left) == 0 && !decided:
			case in.Live.Accounts[account.ID].Documented:
				p.unplanned(declared, diff.Problem{State: diff.Blocked, Lasts: true, Reason: "the platform's reference has no call for " + withArticle(k.name.Word()), Hint: `set platform.profile: "extended" in the configuration`})
			case observed.Err != nil && !errors.Is(observed.Err, edge.ErrEntryPointNotFound):
				p.unplanned(declared, diff.Problem{State: diff.Unknown, Reason: "the rules of the phase " + string(k.phase) + " cannot be read: " + observed.Err.Error(), Hint: diff.HintFor(observed.Err), Err: observed.Err})
			default:
				p.plan(declared, left, in.Prunable)
			}
		}
	}
	return out
}

// unplanned is a problem of all that is declared; where there is only something to remove, of that.
func (p *zonePlan) unplanned(declared []desired.Other, problem diff.Problem) {
	if len(declared) == 0 {
		p.problem(desired.Other{Origin: p.zone.Origin}, problem)
	}
	for _, o := range declared {
		p.problem(o, problem)
	}
}

// plan plans what is declared, and removes what is not any more where that was permitted.
func (p *zonePlan) plan(declared []desired.Other, left []diff.ID, prunable diff.Pruning) {
	goes := p.removals(left, prunable)
	p.others(goes)
	if len(goes) == 0 && p.recalled(declared) {
		return
	}
	rules := make([]placed, 0, len(p.live.Rules)+len(declared))
	var live []edge.Rule
	for _, o := range declared {
		p.want(o)
	}
	p.wantNoneTwice(declared)
	for _, rule := range p.live.Rules {
		if !goes[rule.ID] {
			r := placed{ref: rule.Ref, foreign: true, live: true}
			if w := p.wanted[rule.Ref]; w != nil {
				r.foreign, r.order = false, w.order
			}
			rules, live = append(rules, r), append(live, rule)
		}
	}
	there := make(map[string]bool, len(live))
	for _, rule := range live {
		there[rule.Ref] = true
	}
	for _, o := range declared { // by key
		if w := p.wanted[o.Key]; w != nil && !there[o.Key] {
			rules = append(rules, placed{ref: o.Key, order: w.order})
		}
	}
	p.many = len(rules)
	p.putAhead(rules, live)
	target, stay, err := arrange(rules)
	if err != nil {
		p.misplace(declared, live, err)
		for i := range rules { // none moves
			stay = append(stay, rules[i].live)
			target = append(target, i)
		}
	}
	for n, i := range target {
		if w := p.wanted[rules[i].ref]; w != nil {
			p.planRule(w, step{turn: n + 1, live: live, at: i, stays: stay[i], position: positionOf(target[n+1:], live, stay), behind: placeBehind(target[:n], rules, live), rest: target[n+1:]})
		}
	}
}

// misplace has the rules with an order stay where they are, and heals all else of them. One that
// is not there is not added: at the wrong place it may do harm.
func (p *zonePlan) misplace(declared []desired.Other, live []edge.Rule, err error) {
	for _, o := range declared {
		w := p.wanted[o.Key]
		if w == nil || w.order == (order{}) && !p.astray(o.Key, live) {
			continue
		}
		p.problem(o, diff.Problem{State: diff.Blocked, Lasts: true, Reason: err.Error(), Hint: "change the order of one of the rules; until then none with an order moves"})
		if w.order, w.misplaced = (order{}), true; byRef(live, o.Key) < 0 {
			delete(p.wanted, o.Key)
		}
	}
}

// want takes note of a declaration. One that says nothing that is understood is a problem.
func (p *zonePlan) want(o desired.Other) {
	values, err := treeOf([]byte(o.Value))
	w := wanted{Other: o, values: values}
	if err == nil && values[string(orderMember)] != nil {
		err = w.readOrder()
	}
	if err != nil { // the schema lets none of these pass
		p.problem(o, diff.Problem{State: diff.Blocked, Lasts: true, Reason: err.Error()})
		return
	}
	p.wanted[o.Key] = &w
}

// wantNoneTwice leaves rules alone of which it cannot be told which one is declared.
func (p *zonePlan) wantNoneTwice(declared []desired.Other) {
	seen := map[string]int{}
	for _, rule := range p.live.Rules {
		seen[rule.Ref]++
	}
	for _, o := range declared {
		if n := seen[o.Key]; n > 1 && p.wanted[o.Key] != nil {
			p.problem(o, diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("%d live rules have the ref %q", n, o.Key), Hint: "remove all but one of them"})
			delete(p.wanted, o.Key)
		}
	}
}

// zonePart is the part of a plan that is about one zone.
type zonePart struct {
	Kind
	account desired.Account
	zone    desired.Zone
	out     *diff.Part
}

func (p *zonePart) problem(o desired.Other, problem diff.Problem) {
	problem.Account, problem.Zone, problem.Scope = p.account.Key, p.zone.Key, p.zone.Scope
	problem.Kind, problem.Deployment, problem.Origin = p.name, o.Key, o.Origin
	p.out.Problems = append(p.out.Problems, problem)
}
