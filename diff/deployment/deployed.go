package deployment

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Other kinds declare rules that stand by the execute rule of a deployment. This file says of a
// deployment what they need to know, and reports no problem itself.

// tellDeployed notes the deployments of a zone at which something else is declared.
func (p *planner) tellDeployed(account desired.Account, zone desired.Zone, entryPoint edge.Ruleset) {
	var told []string
	for _, o := range zone.Others {
		if o.Of == "" || slices.Contains(told, o.Of) {
			continue
		}
		told = append(told, o.Of)
		d := p.deployed(account, zone, entryPoint, o.Of)
		if m, is := d.Managed.(*running); is {
			m.overrides = append(m.overrides, p.written[o.Of]...)
		}
		p.out.Deployed = append(p.out.Deployed, d)
	}
	p.written = nil
}

// writes notes the overrides that a deployment is declared to have.
func (p *planner) writes(at place, o *edge.Overrides) {
	if !slices.ContainsFunc(at.zone.Others, func(other desired.Other) bool { return other.Of == at.d.Name() }) {
		return // most zones declare nothing else at it
	}
	if p.written == nil {
		p.written = map[string][]*edge.Overrides{}
	}
	p.written[at.d.Name()] = []*edge.Overrides{o}
}

// deployed is a deployment of a zone by its name.
func (p *planner) deployed(account desired.Account, zone desired.Zone, entryPoint edge.Ruleset, name string) diff.Deployed {
	out := diff.Deployed{Scope: zone.Scope, Deployment: name}
	i := slices.IndexFunc(zone.Deployments, func(d desired.Deployment) bool { return d.Name() == name })
	if i < 0 {
		return because(out, diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("the %s declares no deployment %q", zone.Scope.Level, name)})
	}
	at := place{account, zone, zone.Deployments[i], &zone.Deployments[i]}
	found := p.lookUp(account, at.d.Ruleset)
	if found.problem != nil {
		return because(out, *found.problem)
	}
	if twin, ok := p.twin(at, found.managed.ID); ok && zone.Scope.Level != edge.LevelAccount {
		return because(out, diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("deployment %q runs the same managed ruleset", twin)})
	}
	rules, live := executions(entryPoint, found.managed.ID, at.d.Ref), executing(found.managed.ID)
	switch {
	case len(rules) == 1:
		live, out.Execute = rules[0], rules[0].ID
	case len(rules) > 1:
		return because(out, diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("%d execute rules run its managed ruleset", len(rules))})
	case !at.d.Deploy || p.documented(at):
		return because(out, diff.Problem{State: diff.Blocked, Reason: "it is not deployed", Hint: hintDeploy})
	}
	m, err := p.version(at, found.managed, p.versionOf(at, live, found.managed).want)
	if err != nil {
		m = found.managed // as for a version of which nothing is known
	}
	out.Managed = &running{managed: m, overrides: []*edge.Overrides{overridesOf(live)}}
	return out
}

func because(d diff.Deployed, p diff.Problem) diff.Deployed {
	d.Problem = &p
	return d
}

// running is the managed ruleset that a deployment runs; see [diff.Managed].
type running struct {
	managed   *managed
	overrides []*edge.Overrides // that are live, and those that are declared
	on        []bool            // by rule; nil: not worked out yet
}

// ID implements [diff.Managed].
func (r *running) ID() edge.RulesetID { return r.managed.ID }

// Find implements [diff.Managed].
func (r *running) Find(ref desired.RuleRef) (edge.RuleID, string) {
	f := r.managed.find(ref)
	return f.id, f.message
}

// Tagged implements [diff.Managed].
func (r *running) Tagged(tag string) (ids []edge.RuleID) {
	for _, i := range r.managed.byTag[tag] {
		ids = append(ids, r.managed.Rules[i].ID)
	}
	return ids
}

// On implements [diff.Managed].
func (r *running) On(ids []edge.RuleID) (on []diff.SkippedRule) {
	if r.on == nil {
		r.on = make([]bool, len(r.managed.Rules))
		for _, under := range r.overrides {
			for i, e := range r.managed.effects(under) {
				r.on[i] = r.on[i] || e.enabled
			}
		}
	}
	for i, rule := range r.managed.Rules {
		if r.on[i] && (ids == nil || slices.Contains(ids, rule.ID)) {
			on = append(on, r.managed.skipped(rule.ID))
		}
	}
	return on
}
