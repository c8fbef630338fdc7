// Package exception plans the skip rules of entry points ([Kind]): what the platform calls
// exceptions. Seawall writes none. It removes those that came after a deployment was proved, where
// the declaration says bypass: "remove":
//
//	judge     which of them go          (diff/deployment, [diff.Bypass.Remove])
//	Plan      one change a rule         (exception.go)
//	Restore   a rule that was removed   (restore.go)
//
// The law: what was removed and is put back acts as before. It must not import diff/deployment,
// nor what is done with plans.
package exception

import (
	"cmp"
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Name is that of the kind.
const Name desired.KindName = "exception"

// phase is that of the entry points.
const phase = edge.PhaseFirewallManaged

// Kind is that of skip rules; see [diff.Kind].
type Kind struct{}

// Name implements [diff.Kind].
func (Kind) Name() desired.KindName { return Name }

// Phases implements [diff.Kind]. A rule goes only because of a deployment, whose entry point is
// read for that.
func (Kind) Phases(_ desired.Zone, removable diff.Pruning) []edge.Phase {
	if !removable.Of(Name) {
		return nil
	}
	return []edge.Phase{phase}
}

// Declared implements [diff.Kind]: none is.
func (Kind) Declared(desired.Account, diff.AccountLive) iter.Seq2[diff.ID, bool] {
	return func(func(diff.ID, bool) bool) {}
}

// PutsBack implements [diff.Returner].
func (Kind) PutsBack() {}

// Plan implements [diff.Kind]: it removes the rules of which the kinds before it have found that
// they go, and notes those that are gone.
func (Kind) Plan(in diff.Input) (out diff.Part) {
	all, removals := goers(in.Bypasses), begun(in.Applied)
	if len(all) == 0 && len(removals) == 0 {
		return out
	}
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			entryPoint, read := in.Live.EntryPoints[zone.Scope.At(phase)]
			if !read || entryPoint.Err != nil {
				continue
			}
			for _, b := range all[zone.Scope] {
				if i := find(entryPoint.Value, b.Rule); i >= 0 {
					out.Changes = append(out.Changes, removal(account, zone, b, entryPoint.Value, i))
				}
			}
			for _, id := range removals[zone.Scope] {
				if find(entryPoint.Value, edge.RuleID(id.Ref)) < 0 {
					out.Settled = append(out.Settled, diff.Settled{ID: id, Removed: true})
				}
			}
		}
	}
	return out
}

// goers are the skip rules that go, by zone: each once, with the first deployment that it acts on.
func goers(bypasses []diff.Bypass) map[edge.Scope][]diff.Bypass {
	var zones map[edge.Scope][]diff.Bypass
	for _, b := range bypasses {
		if !b.Remove || slices.ContainsFunc(zones[b.Scope], func(o diff.Bypass) bool { return o.Rule == b.Rule }) {
			continue
		}
		if zones == nil {
			zones = map[edge.Scope][]diff.Bypass{}
		}
		zones[b.Scope] = append(zones[b.Scope], b)
	}
	return zones
}

// begun are the rules on record whose removal was begun, by zone.
func begun(applied diff.Applied) map[edge.Scope][]diff.ID {
	var zones map[edge.Scope][]diff.ID
	for id := range applied {
		if id.Kind != Name {
			continue
		}
		if zones == nil {
			zones = map[edge.Scope][]diff.ID{}
		}
		zones[id.Scope] = append(zones[id.Scope], id)
	}
	for _, ids := range zones {
		slices.SortFunc(ids, diff.ID.Compare)
	}
	return zones
}

func find(entryPoint edge.Ruleset, id edge.RuleID) int {
	return slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.ID == id })
}

// removal is the change that deletes a rule. That it was begun is on record as what is owned.
func removal(account desired.Account, zone desired.Zone, b diff.Bypass, entryPoint edge.Ruleset, i int) diff.Change {
	rule := entryPoint.Rules[i]
	fields := fieldsOf(rule, executedAfter(entryPoint, i))
	for i := range fields {
		if f := &fields[i]; f.Path == expressionMember {
			f.Note = "nothing accepts the skip rule, and it was not there when the deployment was last proved"
		}
	}
	return diff.Change{
		Kind: Name, Account: account.Key, Zone: zone.Key, Scope: zone.Scope, ByName: zone.ByName, ZoneOrigin: zone.Origin, Deployment: b.Deployment,
		Direction: diff.Strengthens, Origin: decidedAt(zone, b.Deployment), Fields: fields,
		Operation: diff.RuleOperation{Do: diff.ActionRemove, Target: diff.Target{
			Kind: Name, Ref: string(rule.ID), Phase: phase, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: rule.ID,
			Owned: []diff.Member{removalBegun},
		}},
	}
}

const removalBegun diff.Member = "removal"

// decidedAt is where a zone says that skip rules go, of the deployment first.
func decidedAt(zone desired.Zone, deployment string) (at desired.Origin) {
	for _, d := range zone.Deployments {
		if d.Bypass != nil && d.Bypass.Value == desired.RemoveBypass && (at.IsZero() || d.Name() == deployment) {
			at = d.Bypass.Origin
		}
	}
	return at
}

// executedAfter is the first execute rule behind a rule: what it acts on. Where it is put back,
// it is in front of that.
func executedAfter(entryPoint edge.Ruleset, i int) edge.RuleID {
	for _, r := range entryPoint.Rules[i+1:] {
		if r.Action == edge.ActionExecute {
			return r.ID
		}
	}
	return ""
}

// beforeMember is the path of the execute rule that a rule stands before.
const beforeMember diff.Member = "position.before"

// expressionMember is the member with the direction of the whole.
const expressionMember diff.Member = "expression"

// fieldsOf are the members of a rule, as fields that go, sorted by path.
func fieldsOf(rule edge.Rule, before edge.RuleID) []diff.Field {
	fields := []diff.Field{{Path: beforeMember, Old: string(before), Direction: diff.Neutral}}
	for path, value := range membersOf(rule) {
		direction := diff.Neutral
		if path == expressionMember {
			direction = diff.Strengthens
		}
		fields = append(fields, diff.Field{Path: path, Old: value, Direction: direction})
	}
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
	return fields
}

// membersOf are the members of a rule as a request has them.
func membersOf(rule edge.Rule) map[diff.Member]any {
	members := map[diff.Member]any{}
	values, err := rule.Members()
	if err != nil { // which no rule that was read is like
		return map[diff.Member]any{expressionMember: rule.Expression}
	}
	for name, value := range values {
		members[diff.Member(name)] = value
	}
	return members
}
