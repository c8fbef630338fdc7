package rule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// zonePlan is the plan of the rules of one zone on its way.
type zonePlan struct {
	Kind
	account desired.Account
	zone    desired.Zone
	live    edge.Ruleset
	applied diff.Applied
	out     *diff.Part

	wanted map[string]*wanted // by ref
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
func (k Kind) Plan(in diff.Input) (out diff.Part) {
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			observed, read := in.Live.EntryPoints[zone.Scope.At(k.phase)]
			declared := k.of(zone)
			if !read || len(declared) == 0 && !in.Prunable.Of(k.name) {
				continue
			}
			p := zonePlan{Kind: k, account: account, zone: zone, live: observed.Value, applied: in.Applied, out: &out, wanted: map[string]*wanted{}}
			if in.Live.Accounts[account.ID].Documented {
				for _, o := range declared {
					p.problem(o, diff.Problem{State: diff.Blocked, Lasts: true, Reason: "the platform's reference has no call for a " + k.name.Word(), Hint: `set platform.profile: "extended" in the configuration`})
				}
				continue
			}
			if observed.Err != nil && !errors.Is(observed.Err, edge.ErrEntryPointNotFound) {
				for _, o := range declared {
					p.problem(o, diff.Problem{State: diff.Unknown, Reason: "the rules of the phase " + string(k.phase) + " cannot be read: " + observed.Err.Error(), Hint: diff.HintFor(observed.Err), Err: observed.Err})
				}
				continue
			}
			p.plan(declared, in.Prunable)
		}
	}
	return out
}

// plan plans what is declared, and removes what is not any more where that was permitted.
func (p *zonePlan) plan(declared []desired.Other, prunable diff.Pruning) {
	goes := p.removals(prunable)
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
	for _, o := range declared { // by key
		if w := p.wanted[o.Key]; w != nil && byRef(live, o.Key) < 0 {
			rules = append(rules, placed{ref: o.Key, order: w.order})
		}
	}
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
			p.planRule(w, step{turn: n + 1, live: live, at: i, stays: stay[i], position: positionOf(target[n+1:], live, stay), behind: placeBehind(target[:n], rules, live)})
		}
	}
}

// misplace has the rules with an order stay where they are, and heals all else of them. One that
// is not there is not added: at the wrong place it may do harm.
func (p *zonePlan) misplace(declared []desired.Other, live []edge.Rule, err error) {
	for _, o := range declared {
		w := p.wanted[o.Key]
		if w == nil || w.order == (order{}) {
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

// step is where a rule is among the live ones, and where it goes.
type step struct {
	turn     int
	live     []edge.Rule // without those that go
	at       int         // its index among them; behind them all where it is added
	stays    bool
	position *edge.Position
	behind   string // where it stands then, as [place] says it
}

// forward reports whether a live rule that moves comes to stand further in front.
func (s step) forward() bool {
	return s.position != nil && s.position.Before != nil && byID(s.live, *s.position.Before) < s.at
}

// positionOf is the place directly in front of the next rule that stays; nil is the end.
func positionOf(behind []int, live []edge.Rule, stay []bool) *edge.Position {
	for _, i := range behind {
		if stay[i] {
			return &edge.Position{Before: &live[i].ID}
		}
	}
	return nil
}

// placeBehind is the place behind those that come before.
func placeBehind(before []int, rules []placed, live []edge.Rule) string {
	if len(before) == 0 {
		return atFirst
	}
	i := before[len(before)-1]
	if i < len(live) {
		return place(live, i)
	}
	return behindRef + rules[i].ref
}

// planRule plans one rule: it is added, changed, moved, or as declared.
func (p *zonePlan) planRule(w *wanted, s step) {
	var rule edge.Rule
	was := tree(nil)
	isLive := s.at < len(s.live)
	if isLive {
		rule = s.live[s.at]
		body, err := bodyOf(rule)
		if err != nil {
			p.problem(w.Other, diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("the live rule cannot be understood: %v", err)})
			return
		}
		if was = body; w.isForeign(rule) {
			p.problem(w.Other, diff.Problem{
				State: diff.Blocked, Lasts: true, Reason: fmt.Sprintf("the live rule with this ref has the action %s, and is no %s", rule.Action, p.name.Word()),
				Hint: "declare the rule by another key",
			})
			return
		}
	}
	is, owned := p.body(w, was)
	fields := p.fields(was, is)
	target := diff.Target{Kind: p.name, Ref: w.Key, Phase: p.phase, EntryPoint: p.live.ID, Version: p.live.Version, Rule: rule.ID, Owned: owned}
	o := diff.RuleOperation{Do: diff.ActionUpdate, Target: target}
	switch {
	case !isLive:
		o.Do, o.Position = diff.ActionDeploy, s.position
		if w.order != (order{}) {
			fields = append(fields, diff.Field{Path: orderMember, New: w.order.String(), Direction: diff.Neutral})
		}
	case !s.stays:
		last := edge.RuleID("")
		if o.Position = s.position; o.Position == nil {
			o.Position = &edge.Position{After: &last}
		}
		fields = append(fields, diff.Field{Path: orderMember, Old: place(p.live.Rules, byID(p.live.Rules, rule.ID)-1), New: s.behind, Direction: moved(rule, s.forward())})
	case len(fields) == 0 && w.misplaced:
		return
	case len(fields) == 0:
		settled := diff.Settled{ID: p.id(p.zone.Scope, w.Key), Owned: owned, Version: p.live.Version}
		if w.Prune {
			settled.Prune = &diff.Prunable{Account: p.account.Key, Zone: p.zone.Key, Deployment: w.Key, Rule: rule.ID}
		}
		p.out.Settled = append(p.out.Settled, settled)
		return
	}
	body, err := is.rule()
	if err != nil {
		p.problem(w.Other, diff.Problem{State: diff.Blocked, Lasts: true, Reason: err.Error()})
		return
	}
	o.Body = body
	for i := range fields {
		if at, declared := w.Places[string(fields[i].Path)]; declared {
			fields[i].Origin = &at
		}
	}
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
	if _, ours := p.applied[p.id(p.zone.Scope, w.Key)]; isLive && !ours {
		takeOver(fields)
	}
	p.out.Changes = append(p.out.Changes, p.change(w.Key, w.Origin, s.turn, fields, o))
}

// takeOver judges the change of a rule that is not on record: who wrote it may rely on what it
// does, and it may have the ref by chance. So whatever differs weakens.
func takeOver(fields []diff.Field) {
	for i := range fields {
		fields[i].Direction = diff.Weakens
	}
	fields[0].Note = "takes over the rule of others that has this ref: it is not on record as Seawall's"
}

// isForeign reports whether a live rule has an action that no declaration of the kind has, or is
// one that executes a ruleset where another is declared, or the other way round: it is never
// made another one.
func (w *wanted) isForeign(rule edge.Rule) bool {
	if declared := w.values["action"]; rule.Action == edge.ActionExecute || declared == string(edge.ActionExecute) {
		return declared != string(rule.Action)
	}
	_, known := strength(string(rule.Action))
	return !known
}

// change is a change of a rule.
func (p *zonePlan) change(key string, origin desired.Origin, turn int, fields []diff.Field, o diff.RuleOperation) diff.Change {
	return diff.Change{
		Kind: p.name, Account: p.account.Key, Zone: p.zone.Key, Scope: p.zone.Scope, ByName: p.zone.ByName, ZoneOrigin: p.zone.Origin, Deployment: key,
		Turn: turn, Operation: o, Direction: combined(fields), Origin: origin, Fields: fields,
	}
}

// body is the rule as it would be: what is live, with what is declared. Another action has other
// parameters, so those of the one before go.
func (p *zonePlan) body(w *wanted, was tree) (is tree, owned []diff.Member) {
	is = tree{"ref": w.Key}
	if was != nil {
		for name, value := range was {
			is[name] = value
		}
		if action := w.values["action"]; action != was["action"] {
			delete(is, "action_parameters")
			delete(is, "logging")
		}
	}
	for _, m := range p.members {
		if value := w.values.at(string(m.path)); value != nil {
			owned = append(owned, m.path)
			if !m.same(value, is.at(m.wire)) {
				is.put(m.wire, value)
			}
		}
	}
	if w.order != (order{}) {
		owned = append(owned, orderMember)
	}
	return is, owned
}

// fields are the members that differ.
func (p *zonePlan) fields(was, is tree) (fields []diff.Field) {
	for _, m := range p.members {
		old, now := was.at(m.wire), is.at(m.wire)
		if old == nil && now == nil || was != nil && m.same(old, now) {
			continue
		}
		f := diff.Field{Path: m.path, Old: old, New: now, Direction: diff.Neutral}
		switch {
		case was != nil:
			f.Direction = m.direct(change{old, now, was, is})
		case m.path == "action": // all of a new rule is judged by what it does
			f.Direction = appearing(is)
		}
		fields = append(fields, f)
	}
	return append(fields, p.lost(was, is)...)
}

// lost are the parameters that no declaration can say and that go with an action.
func (p *zonePlan) lost(was, is tree) (fields []diff.Field) {
	parameters, _ := was[parametersMember].(map[string]any)
	for name, old := range parameters {
		path := parametersMember + "." + name
		said := slices.ContainsFunc(p.members, func(m member) bool { return m.wire == path || strings.HasPrefix(m.wire, path+".") })
		if !said && is.at(path) == nil {
			fields = append(fields, diff.Field{Path: diff.Member(path), Old: old, Direction: diff.Neutral})
		}
	}
	return fields
}

func (p *zonePlan) problem(o desired.Other, problem diff.Problem) {
	problem.Account, problem.Zone, problem.Scope = p.account.Key, p.zone.Key, p.zone.Scope
	problem.Kind, problem.Deployment, problem.Origin = p.name, o.Key, o.Origin
	p.out.Problems = append(p.out.Problems, problem)
}

// removals plans the removal of rules that nothing declares any more, and returns their ids.
func (p *zonePlan) removals(prunable diff.Pruning) map[edge.RuleID]bool {
	goes := map[edge.RuleID]bool{}
	var ids []diff.ID
	for id := range prunable {
		declared := slices.ContainsFunc(p.zone.Others, func(o desired.Other) bool { return p.is(o) && o.Key == id.Ref })
		if id.Kind == p.name && id.Scope == p.zone.Scope && !declared {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, diff.ID.Compare)
	for _, id := range ids {
		i := byID(p.live.Rules, prunable[id].Rule)
		if i < 0 || p.live.Rules[i].Ref != id.Ref { // by another ref it is another rule
			p.out.Settled = append(p.out.Settled, diff.Settled{ID: id, Removed: true})
			continue
		}
		if change, err := p.removal(id, i); err != nil {
			p.problem(desired.Other{Key: id.Ref}, diff.Problem{State: diff.Blocked, Reason: err.Error()})
		} else {
			goes[p.live.Rules[i].ID] = true
			p.out.Changes = append(p.out.Changes, change)
		}
	}
	return goes
}

// removal removes a rule. Its fields are all that it has, so that it can be put back. One that
// protects goes last: what has another key by now is there then.
func (p *zonePlan) removal(id diff.ID, i int) (diff.Change, error) {
	rule := p.live.Rules[i]
	was, err := bodyOf(rule)
	if err != nil {
		return diff.Change{}, err
	}
	fields := whole(was, place(p.live.Rules, i-1))
	for n := range fields {
		if fields[n].Path == "action" {
			fields[n].Direction = disappearing(was)
		}
	}
	turn := 0
	if combined(fields) == diff.Weakens {
		turn = len(p.live.Rules) + len(p.zone.Others) + 1
	}
	return p.change(id.Ref, p.zone.Origin, turn, fields, diff.RuleOperation{Do: diff.ActionRemove, Target: diff.Target{
		Kind: p.name, Ref: id.Ref, Phase: p.phase, EntryPoint: p.live.ID, Version: p.live.Version, Rule: rule.ID,
	}}), nil
}

// whole are all members of a rule as fields that go, by the names that the platform has.
func whole(was tree, stood string) []diff.Field {
	fields := []diff.Field{{Path: orderMember, Old: stood, Direction: diff.Neutral}}
	for name, value := range was {
		fields = append(fields, diff.Field{Path: diff.Member(name), Old: value, Direction: diff.Neutral})
	}
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
	return fields
}

// The words of a place. A rule without a ref is known by its id.
const (
	atFirst   = "first"
	behindRef = "after "
	behindID  = "after the rule with the id "
)

// place says where what comes behind rules[i] stands: behind which other one, or first.
func place(rules []edge.Rule, i int) string {
	switch {
	case i < 0:
		return atFirst
	case rules[i].Ref == "":
		return behindID + string(rules[i].ID)
	default:
		return behindRef + rules[i].Ref
	}
}
