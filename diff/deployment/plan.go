// Package deployment plans the deployments of managed rulesets: declarations and
// what is live go in ([Input]), changes and problems come out ([Outcome]). One
// deployment passes through it like this:
//
//	find        declared name → managed ruleset       (find.go)
//	resolve     intent → claims on override entries   (resolve.go)
//	merge       live rule + claims → wanted rule      (merge.go, slot.go, neutral.go)
//	compare     live and wanted, canonically → fields (canonical.go, compare.go)
//	direction   effective values before and after     (effective.go, direction.go)
//
// [Restore] plans the other way: what was live before a write.
//
// The laws: a rule that was written as planned is planned no more, on a platform
// that replaces and on one that merges; under "keep", what no declaration owns stays
// member for member; and a [Memory] changes no plan. It must not import diff/token,
// nor what is done with plans.
package deployment

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Input is all that the changes of deployments are made from.
type Input struct {
	Accounts []desired.Account
	// Live has the rulesets of the accounts and the entry points of their zones. A
	// zone without an entry point in it is left out.
	Live    diff.Live
	Applied diff.Applied
	// Prunable are the deployments that are removed where nothing declares them.
	Prunable diff.Pruning
	// Memory spares deployments that agreed before; nil spares none.
	Memory *Memory
	// Indexes spares the indexing of managed rulesets; nil indexes them anew.
	Indexes *Indexes
}

// Outcome is what became of the declared deployments, in the order of their
// declaration.
type Outcome struct {
	Zones    int // how many were read
	Changes  []diff.Change
	Problems []diff.Problem
	Settled  []diff.Settled
}

// Plan plans all declared deployments of the zones that were read.
func Plan(in Input) Outcome {
	p := planner{in: in, managed: map[rulesetKey]lookup{}, prunable: byZone(in.Prunable)}
	for _, account := range in.Accounts {
		for _, zone := range account.Zones {
			if entryPoint, read := in.Live.EntryPoints[zone.ID]; read {
				p.out.Zones++
				p.planZone(account, zone, entryPoint)
				p.planRemovals(account, zone, entryPoint)
			}
		}
	}
	return p.out
}

type planner struct {
	in      Input
	out     Outcome
	managed map[rulesetKey]lookup

	prunable map[edge.ZoneID][]diff.DeploymentID
}

// place is where in the declaration the planner is.
type place struct {
	account desired.Account
	zone    desired.Zone
	d       desired.Deployment

	declared *desired.Deployment // where d was copied from
}

func (p *planner) planZone(account desired.Account, zone desired.Zone, entryPoint diff.Observed[edge.Ruleset]) {
	for i, d := range zone.Deployments {
		at := place{account, zone, d, &zone.Deployments[i]}
		switch {
		case errors.Is(entryPoint.Err, edge.ErrEntryPointNotFound):
			p.absent(at, edge.Ruleset{}, "the zone has no entry point ruleset")
		case entryPoint.Err != nil:
			p.problem(at, p.unreadZone(account, zone, entryPoint.Err))
		default:
			p.planDeployment(at, entryPoint.Value)
		}
	}
}

func (p *planner) unreadZone(account desired.Account, zone desired.Zone, err error) diff.Problem {
	hint := hintForbiddenZone
	if errors.Is(p.in.Live.Accounts[account.ID].Listed.Err, edge.ErrForbidden) {
		hint = hintForbiddenAccount // the zone was not even asked for
	}
	return unread(err, hint, zone.Origin)
}

func (p *planner) planDeployment(at place, entryPoint edge.Ruleset) {
	m, ok := p.findManaged(at)
	if !ok {
		return
	}
	rule, ok := p.findRule(at, entryPoint, m)
	if !ok {
		return
	}
	id := diff.DeploymentID{Zone: at.zone.ID, Ruleset: m.ID}
	inputs := p.inputsOf(at, id, entryPoint, m)
	if owned, known := p.in.Memory.recall(id, inputs); known {
		p.settle(at, id, rule, owned)
		return
	}
	resolved, decided, ok := p.resolve(at, m)
	if !ok {
		return
	}
	want, leftovers, standIns := p.wanted(at, rule, resolved, decided, m)
	fields := compare(rule, want, m)
	target := diff.Target{
		Ruleset: m.ID, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: rule.ID,
		Owned: owned(resolved, standIns),
	}
	var conflicts []diff.Problem
	undecided := decided.with("", leftovers)
	if len(undecided) == 0 { // else it is refused, and they are named
		conflicts = m.conflicts(at.d, resolved, overridesOf(want), decided.with(desired.Keep, leftovers))
	}
	for _, problem := range conflicts {
		p.problem(at, problem)
	}
	if len(fields) == 0 && len(undecided) == 0 {
		if len(conflicts) == 0 {
			p.in.Memory.keep(id, inputs, target.Owned)
		}
		p.settle(at, id, rule, target.Owned)
		return
	}
	direct(fields, rule, want, m)
	annotate(fields, at.d, resolved, decided, m)
	p.out.Changes = append(p.out.Changes, p.change(at, fields, want, target, undecided))
}

// resolve resolves a declaration, or reports why it cannot be honoured.
func (p *planner) resolve(at place, m *managed) (claims, decisions, bool) {
	resolved, errs := resolve(at.d, m)
	if p.in.Live.Accounts[at.account.ID].Documented {
		errs = append(errs, beyondReference(at.d)...)
	}
	decided, undecidable := m.decide(at.d)
	errs = append(errs, undecidable...)
	for _, e := range errs {
		p.problem(at, diff.Problem{State: diff.Blocked, Reason: e.message, Hint: e.hint, Origin: cmp.Or(e.origin, at.d.Origin)})
	}
	return resolved, decided, len(errs) == 0
}

// wanted returns the execute rule as it should be: the live one with what the
// declaration owns written into it.
func (p *planner) wanted(at place, live edge.Rule, c claims, decided decisions, m *managed) (want edge.Rule, leftovers []diff.Leftover, standIns []diff.Member) {
	mg := merger{managed: m, decisions: decided, before: map[diff.Member]bool{}}
	for _, member := range p.in.Applied[diff.DeploymentID{Zone: at.zone.ID, Ruleset: m.ID}] {
		mg.before[member] = true
	}
	want = live.Update()
	parameters := *live.ActionParameters
	parameters.Overrides = mg.merge(parameters.Overrides, c)
	want.ActionParameters = &parameters
	want.Enabled = &at.d.Enabled.Value
	if at.d.Expression != nil {
		want.Expression = at.d.Expression.Value
	}
	return want, mg.leftovers, mg.standIns
}

func (p *planner) change(at place, fields []diff.Field, want edge.Rule, target diff.Target, leftovers []diff.Leftover) diff.Change {
	c := diff.Change{
		Account: at.account.Key, Zone: at.zone.Key, ZoneID: at.zone.ID, Deployment: at.d.Ruleset,
		Direction: directionOf(fields), Origin: at.d.Origin, Fields: fields,
		Operation: diff.DeploymentUpdate{Target: target, Body: want, Unmanaged: leftovers},
	}
	if len(fields) == 0 {
		c.Fields, c.Operation = []diff.Field{}, diff.DeploymentUndecided{Target: target, Unmanaged: leftovers}
	}
	return c
}

// directionOf is the direction of all fields together.
func directionOf(fields []diff.Field) diff.Direction {
	directions := make([]diff.Direction, len(fields))
	for i, f := range fields {
		directions[i] = f.Direction
	}
	return diff.Combine(directions...)
}

// findRule returns the execute rule of a deployment, or reports why it is not
// there or not alone.
func (p *planner) findRule(at place, entryPoint edge.Ruleset, m *managed) (edge.Rule, bool) {
	var rules []edge.Rule
	for _, rule := range entryPoint.Rules {
		if rule.Executes(m.ID) {
			rules = append(rules, rule)
		}
	}
	switch len(rules) {
	case 1:
		return rules[0], true
	case 0:
		p.absent(at, entryPoint, fmt.Sprintf("no execute rule of the zone runs managed ruleset %q", m.Name))
	default:
		p.problem(at, diff.Problem{
			State: diff.Blocked, Origin: at.d.Origin,
			Reason: fmt.Sprintf("%d execute rules of the zone run managed ruleset %q (%s and %s)", len(rules), m.Name, rules[0].ID, rules[1].ID),
			Hint:   "remove all but one of them on the platform; the overrides of two could contradict each other",
		})
	}
	return edge.Rule{}, false
}

func (p *planner) notDeployed(at place, reason, hint string) {
	p.problem(at, diff.Problem{State: diff.NotDeployed, Reason: reason, Hint: hint, Origin: at.d.Origin})
}

func (p *planner) problem(at place, problem diff.Problem) {
	problem.Account, problem.Zone, problem.ZoneID = at.account.Key, at.zone.Key, at.zone.ID
	problem.Deployment = at.d.Ruleset
	p.out.Problems = append(p.out.Problems, problem)
}
