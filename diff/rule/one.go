package rule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// planRule plans one rule: it is added, changed, moved, or as declared.
func (p *zonePlan) planRule(w *wanted, s step) {
	var rule edge.Rule
	was := tree(nil)
	isLive := s.at < len(s.live)
	if isLive {
		rule = s.live[s.at]
		var problem *diff.Problem
		if was, problem = p.compared(w, rule); problem != nil {
			p.problem(w.Other, *problem)
			return
		}
	}
	is, owned := p.body(w, was)
	fields := judged(p.fields(was, is), is, p.behind(s))
	if len(fields) > 0 && p.exceeds(w, is, isLive) {
		return
	}
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
		fields = append(fields, diff.Field{Path: orderMember, Old: place(p.live.Rules, byID(p.live.Rules, rule.ID)-1), New: s.behind, Direction: moved(rule, is, s.forward())})
	case len(fields) == 0 && w.misplaced:
		return
	case len(fields) == 0:
		settled := p.asDeclared(w.Other, rule.ID, owned)
		p.out.Settled = append(p.out.Settled, settled)
		inputs := p.inputs()
		inputs.Owned = owned
		p.memory.Keep(settled.ID, inputs)
		return
	}
	body, err := is.rule()
	if err != nil {
		p.problem(w.Other, diff.Problem{State: diff.Blocked, Lasts: true, Reason: err.Error()})
		return
	}
	o.Body = body
	w.place(fields)
	if _, ours := p.applied[p.id(p.zone.Scope, w.Key)]; isLive && !ours {
		takeOver(fields)
	}
	p.out.Changes = append(p.out.Changes, p.change(w.Key, w.Origin, s.turn, fields, o))
}

// compared is a live rule that is to be compared with what is declared, or why it cannot be.
func (p *zonePlan) compared(w *wanted, rule edge.Rule) (tree, *diff.Problem) {
	body, err := bodyOf(rule)
	switch {
	case err != nil:
		return nil, &diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("the live rule cannot be understood: %v", err)}
	case w.isForeign(rule):
		return nil, &diff.Problem{
			State: diff.Blocked, Lasts: true, Reason: fmt.Sprintf("the live rule with this ref has the action %s, and is no %s", rule.Action, p.name.Word()),
			Hint: "declare the rule by another key",
		}
	}
	return body, nil
}

// place says of fields where they are declared, and sorts them.
func (w *wanted) place(fields []diff.Field) {
	for i := range fields {
		if at, declared := w.Places[string(fields[i].Path)]; declared {
			fields[i].Origin = &at
		}
	}
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
}

// asDeclared is a rule in which nothing differs.
func (p *zonePlan) asDeclared(o desired.Other, id edge.RuleID, owned []diff.Member) diff.Settled {
	settled := diff.Settled{ID: p.id(p.zone.Scope, o.Key), Owned: owned, Version: p.live.Version}
	if o.Prune {
		settled.Prune = &diff.Prunable{Account: p.account.Key, Zone: p.zone.Key, Deployment: o.Key, Rule: id}
	}
	return settled
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
		maps.Copy(is, was)
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
func (k Kind) fields(was, is tree) (fields []diff.Field) {
	for _, m := range k.members {
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
	return append(fields, k.lost(was, is)...)
}

// lost are the parameters that no declaration can say and that go with an action.
func (k Kind) lost(was, is tree) (fields []diff.Field) {
	parameters, _ := was[parametersMember].(map[string]any)
	for name, old := range parameters {
		path := parametersMember + "." + name
		said := slices.ContainsFunc(k.members, func(m member) bool {
			return m.wire == path || strings.HasPrefix(m.wire, path+".") || m.wire == parametersMember
		})
		if !said && is.at(path) == nil {
			fields = append(fields, diff.Field{Path: diff.Member(path), Old: old, Direction: diff.Neutral})
		}
	}
	return fields
}
