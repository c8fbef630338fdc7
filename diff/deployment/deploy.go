package deployment

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// A deployment that is absent is created where its declaration says so, and one that
// left the repository is removed where its declaration had said so. Both need calls
// that the reference does not show.

const (
	hintNotDeployed = "deploy the managed ruleset in the zone on the platform, or remove the deployment from the repository"
	hintDeploy      = "declare deploy: true, deploy the managed ruleset on the platform, or remove the deployment from the repository"
	hintNoDeploy    = `deploy: true needs platform.profile: "extended" in the configuration; else ` + hintNotDeployed
	hintNoRemoval   = `set platform.profile: "extended" in the configuration, or delete the execute rule on the platform`
)

// absent plans a deployment that the zone does not have; entryPoint is the zero value
// where it has no entry point either.
func (p *planner) absent(at place, entryPoint edge.Ruleset, reason string) {
	documented := p.in.Live.Accounts[at.account.ID].Documented
	switch {
	case !at.d.Deploy && documented:
		p.notDeployed(at, reason, hintNotDeployed)
		return
	case !at.d.Deploy:
		p.notDeployed(at, reason, hintDeploy)
		return
	case documented:
		p.notDeployed(at, reason, hintNoDeploy)
		return
	}
	found, ok := p.findManaged(at)
	if !ok {
		return
	}
	pin, ok := p.pinned(at, executing(found.ID), found)
	if !ok {
		return
	}
	m := pin.managed
	intent, ok := p.intentOf(at, m, found)
	if !ok {
		return
	}
	live := executing(m.ID)
	before := p.in.Applied[diff.ID{Scope: at.zone.Scope, Ruleset: m.ID, Ref: at.d.Ref}]
	calledAsBefore(&live, entryPoint, before)
	live.Ref = cmp.Or(at.d.Ref, live.Ref)
	w := p.wanted(intent, live, nil, pin)
	p.writes(at, overridesOf(w.rule))
	// It comes to stand behind all rules that are there.
	p.bypassing = append(p.bypassing, p.bypasses(at, entryPoint, w.rule, m, before)...)
	for _, problem := range w.problems(intent, m) {
		p.problem(at, problem)
	}
	fields := membersOf(w.rule)
	for i := range fields {
		f := &fields[i]
		if f.Path == versionMember {
			f.Old = nil
		}
		f.Direction = diff.Neutral // what runs nothing can only win
		if f.Path == "enabled" && w.rule.IsEnabled() {
			f.Direction = diff.Strengthens
		}
	}
	annotate(fields, intent, m)
	w.explain(fields, func() string { return "the latest is " + found.Version })
	target := diff.Target{Phase: edge.PhaseFirewallManaged, Ruleset: m.ID, Ref: at.d.Ref, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Owned: w.owned}
	p.out.Changes = append(p.out.Changes, diff.Change{
		Kind: Name, Account: at.account.Key, Zone: at.zone.Key, Scope: at.zone.Scope, ByName: at.zone.ByName, ZoneOrigin: at.zone.Origin, Deployment: at.d.Name(),
		Direction: directionOf(fields), Origin: at.d.Origin, Fields: fields,
		Operation: diff.RuleOperation{Do: diff.ActionDeploy, Target: target, Body: w.rule},
	})
}

// executing is an execute rule that says nothing but which managed ruleset it runs, on
// every request.
func executing(id edge.RulesetID) edge.Rule {
	return edge.Rule{Action: edge.ActionExecute, ActionParameters: &edge.ActionParameters{ID: id}, Expression: "true", Enabled: &on}
}

// membersOf are the members of an execute rule, as fields that come to be, sorted by
// path.
func membersOf(rule edge.Rule) []diff.Field {
	fields := slices.DeleteFunc(compare(edge.Rule{}, rule, nil), func(f diff.Field) bool {
		return f.Path == "enabled" || f.Path == "expression"
	})
	fields = append(fields, diff.Field{Path: "enabled", New: rule.IsEnabled()}, diff.Field{Path: "expression", New: rule.Expression})
	slices.SortFunc(fields, func(a, b diff.Field) int { return cmp.Compare(a.Path, b.Path) })
	return fields
}

// settle notes a deployment that agrees with its declaration.
func (p *planner) settle(at place, id diff.ID, rule edge.Rule, owned []diff.Member) {
	s := diff.Settled{ID: id, Owned: owned}
	if at.d.Prune {
		s.Prune = &diff.Prunable{Account: at.account.Key, Zone: at.zone.Key, Deployment: at.d.Name(), Rule: rule.ID}
	}
	p.out.Settled = append(p.out.Settled, s)
}

// byZone sorts what may be removed by zone.
func byZone(all diff.Pruning) map[edge.Scope][]diff.ID {
	zones := map[edge.Scope][]diff.ID{}
	for id := range all {
		if id.Kind == "" { // else it is of another kind
			zones[id.Scope] = append(zones[id.Scope], id)
		}
	}
	for _, ids := range zones {
		slices.SortFunc(ids, diff.ID.Compare)
	}
	return zones
}

// planRemovals plans to remove the deployments of a zone that may be removed and that it
// does not declare any more. While it is not known which managed ruleset a declaration
// means, none is removed: it may be the one.
func (p *planner) planRemovals(account desired.Account, zone desired.Zone, entryPoint diff.Observed[edge.Ruleset]) {
	declared := map[diff.ID]bool{}
	marked := p.prunable[zone.Scope]
	for _, d := range zone.Deployments {
		if len(marked) == 0 {
			return
		}
		found := p.lookUp(account, d.Ruleset)
		if found.problem != nil {
			return
		}
		declared[diff.ID{Scope: zone.Scope, Ruleset: found.managed.ID, Ref: d.Ref}] = true
	}
	for _, id := range marked {
		if !declared[id] {
			p.planRemoval(account, zone, id, entryPoint)
		}
	}
}

func (p *planner) planRemoval(account desired.Account, zone desired.Zone, id diff.ID, entryPoint diff.Observed[edge.Ruleset]) {
	mark := p.in.Prunable[id]
	at := place{account: account, zone: zone, d: desired.Deployment{Ruleset: mark.Deployment, Ref: id.Ref}}
	if unreadable(entryPoint.Err) {
		p.problem(at, p.unreadZone(account, zone, entryPoint.Err))
		return
	}
	i := slices.IndexFunc(entryPoint.Value.Rules, func(r edge.Rule) bool { return r.ID == mark.Rule && r.Executes(id.Ruleset) })
	switch {
	case entryPoint.Err != nil || i < 0:
		p.out.Settled = append(p.out.Settled, diff.Settled{ID: id, Removed: true})
	case p.in.Live.Accounts[account.ID].Documented:
		p.problem(at, diff.Problem{
			State: diff.Blocked, Hint: hintNoRemoval,
			Reason: "the deployment left the repository and was declared with prune: true, and the profile has no call that deletes its execute rule",
		})
	default:
		p.out.Changes = append(p.out.Changes, removal(at, id, entryPoint.Value, entryPoint.Value.Rules[i]))
	}
}

// removal is the change that deletes an execute rule. It weakens, also where the rule is off:
// with the rule go all overrides that are tuned in it.
func removal(at place, id diff.ID, entryPoint edge.Ruleset, rule edge.Rule) diff.Change {
	fields := membersOf(rule)
	for i := range fields {
		f := &fields[i]
		f.Old, f.New, f.Direction = f.New, nil, diff.Neutral
		if f.Path == "enabled" && rule.IsEnabled() {
			f.Direction = diff.Weakens
		}
	}
	return diff.Change{
		Kind: Name, Account: at.account.Key, Zone: at.zone.Key, Scope: at.zone.Scope, ByName: at.zone.ByName, ZoneOrigin: at.zone.Origin, Deployment: at.d.Name(),
		Direction: diff.Weakens, Fields: fields,
		Operation: diff.RuleOperation{Do: diff.ActionRemove, Target: diff.Target{
			Phase:   edge.PhaseFirewallManaged,
			Ruleset: id.Ruleset, Ref: id.Ref, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: rule.ID,
		}},
	}
}
