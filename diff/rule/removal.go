package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// byScope are the rules of the kind that may be removed, by what they belong to.
func (k Kind) byScope(prunable diff.Pruning) map[edge.Scope][]diff.ID {
	all := map[edge.Scope][]diff.ID{}
	for id := range prunable {
		if id.Kind == k.name {
			all[id.Scope] = append(all[id.Scope], id)
		}
	}
	return all
}

// left are the rules that may be removed, and that nothing declares any more.
func (p *zonePlan) left(prunable []diff.ID) (ids []diff.ID) {
	if len(prunable) == 0 {
		return nil
	}
	declared := p.keys()
	for _, id := range prunable {
		if !declared[id.Ref] {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, diff.ID.Compare)
	return ids
}

// keys are what the zone declares of the kind.
func (p *zonePlan) keys() map[string]bool {
	all := map[string]bool{}
	for _, o := range p.zone.Others {
		if p.is(o) {
			all[o.Key] = true
		}
	}
	return all
}

// removals plans the removal of rules that nothing declares any more, and returns their ids.
func (p *zonePlan) removals(left []diff.ID, prunable diff.Pruning) map[edge.RuleID]bool {
	goes := map[edge.RuleID]bool{}
	for _, id := range left {
		i := byID(p.live.Rules, prunable[id].Rule)
		if i < 0 || p.live.Rules[i].Ref != id.Ref { // by another ref it is another rule
			p.out.Settled = append(p.out.Settled, diff.Settled{ID: id, Removed: true})
			continue
		}
		goes[p.live.Rules[i].ID] = p.remove(id, i, p.zone.Origin, "")
	}
	return goes
}

// others plans what becomes of the rules that are of others. One that executes a ruleset, or that
// has an action that is not known here, stays in any case: what it does nobody can tell.
func (p *zonePlan) others(goes map[edge.RuleID]bool) {
	if p.phase == edge.PhaseFirewallManaged {
		return // most rules there are those of deployments
	}
	decided, said := p.decided(p.zone)
	refs, pending, declared := map[string]int{}, false, p.keys()
	for _, rule := range p.live.Rules {
		refs[rule.Ref]++
	}
	var stay []string
	for i, rule := range p.live.Rules {
		if goes[rule.ID] || declared[rule.Ref] {
			continue
		}
		name := rule.Ref
		if name == "" || refs[name] > 1 {
			name = string(rule.ID)
		}
		if _, known := strength(string(rule.Action)); decided.Do == desired.Remove && known {
			pending = true
			goes[rule.ID] = p.remove(p.id(p.zone.Scope, name), i, decided.Origin, "it is of others, and unmanaged is \"remove\"")
			continue
		} else if !known {
			name += ", which has the action " + string(rule.Action)
		}
		stay = append(stay, name)
	}
	if len(stay) > 0 {
		p.out.Kept = append(p.out.Kept, diff.Kept{
			Account: p.account.Key, Zone: p.zone.Key, Scope: p.zone.Scope, Kind: p.name,
			Members: []diff.Leftover{{Path: "rules of others", Value: len(stay), Note: firstFew(stay)}},
		})
	}
	if said && !pending {
		p.out.Settled = append(p.out.Settled, diff.Settled{ID: p.id(p.zone.Scope, ""), Owned: []diff.Member{"unmanaged"}, Version: p.live.Version})
	}
}

func firstFew(names []string) string {
	text := strings.Join(names[:min(len(names), mostNamed)], "; ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// remove plans a removal, and reports whether it could.
func (p *zonePlan) remove(id diff.ID, i int, because desired.Origin, note string) bool {
	change, err := p.removal(id, i, because, note)
	if err != nil {
		p.problem(desired.Other{Key: id.Ref}, diff.Problem{State: diff.Blocked, Reason: err.Error()})
		return false
	}
	p.out.Changes = append(p.out.Changes, change)
	return true
}

// removal removes a rule. Its fields are all that it has, so that it can be put back. One that
// protects goes last: what has another key by now is there then.
func (p *zonePlan) removal(id diff.ID, i int, because desired.Origin, note string) (diff.Change, error) {
	rule := p.live.Rules[i]
	was, err := bodyOf(rule)
	if err != nil {
		return diff.Change{}, err
	}
	fields := whole(was, place(p.live.Rules, i-1))
	for n := range fields {
		if fields[n].Path == "action" {
			fields[n].Direction, fields[n].Note = disappearing(was), note
		}
	}
	turn := 0
	if combined(fields) == diff.Weakens {
		turn = len(p.live.Rules) + len(p.zone.Others) + 1
	}
	return p.change(id.Ref, because, turn, fields, diff.RuleOperation{Do: diff.ActionRemove, Target: diff.Target{
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
