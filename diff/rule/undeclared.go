package rule

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// What nothing declares in the phase of deployments and what came after a deployment was proved goes
// where the declaration says bypass: "remove":
//
//	judge     which of them go          (diff/deployment, [diff.Bypass.Remove])
//	remove    one change a rule         (undeclared.go)
//	restore   a rule that was removed   (undeclared_restore.go)
//
// Such a rule is known by its id. The law: what was removed and is put back acts as before.

// undeclared removes the rules of which the kinds before it have found that they go, and notes those
// that are gone.
func undeclared(in diff.Input) (out diff.Part) {
	all, removals := goers(in.Bypasses), begun(in.Applied)
	if len(all) == 0 && len(removals) == 0 {
		return out
	}
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			entryPoint, read := in.Live.EntryPoints[zone.Scope.At(edge.PhaseFirewallManaged)]
			if !read || entryPoint.Err != nil {
				continue
			}
			for _, b := range all[zone.Scope] {
				if i := byID(entryPoint.Value.Rules, b.Rule); i >= 0 {
					out.Changes = append(out.Changes, uninvited(account, zone, b, entryPoint.Value, i))
				}
			}
			for _, id := range removals[zone.Scope] {
				if byID(entryPoint.Value.Rules, edge.RuleID(id.Ref)) < 0 {
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
	for id, owned := range applied {
		if id.Kind != desired.Exception || !slices.Equal(owned, []diff.Member{removalBegun}) {
			continue // else it was declared
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

// uninvited is the change that deletes a rule. That it was begun is on record as what is owned.
func uninvited(account desired.Account, zone desired.Zone, b diff.Bypass, entryPoint edge.Ruleset, i int) diff.Change {
	rule := entryPoint.Rules[i]
	fields := fieldsOf(rule, executedAfter(entryPoint, i))
	for i := range fields {
		if f := &fields[i]; f.Path == expressionMember {
			f.Note = "nothing accepts the skip rule, and it was not there when the deployment was last proved"
		}
	}
	return diff.Change{
		Kind: desired.Exception, Account: account.Key, Zone: zone.Key, Scope: zone.Scope, ByName: zone.ByName, ZoneOrigin: zone.Origin, Deployment: b.Deployment,
		Direction: diff.Strengthens, Origin: decidedAt(zone, b.Deployment), Fields: fields,
		Operation: diff.RuleOperation{Do: diff.ActionRemove, Target: diff.Target{
			Kind: desired.Exception, Ref: string(rule.ID), Phase: edge.PhaseFirewallManaged, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: rule.ID,
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
