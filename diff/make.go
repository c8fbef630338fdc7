package diff

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Make plans everything in.State declares against in.Live. Zones whose entry
// point was not looked at are left out. The plan is sorted by account, zone and
// deployment and has passed no guard yet; see [Guard].
func Make(in Input) Plan {
	p := planner{in: in, managed: map[rulesetKey]lookup{}, groups: groupNames(in)}
	p.plan = Plan{
		Version: PlanVersion, Commit: in.State.Commit,
		Changes: []Change{}, Problems: []Problem{}, Deprecations: []deprecation.Notice{},
	}
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			if entryPoint, looked := in.Live.EntryPoints[zone.ID]; looked {
				p.plan.Summary.Zones++
				p.planZone(account, zone, entryPoint)
			}
		}
	}
	p.planTokens()
	p.plan.Findings = sortFindings(append(p.plan.Findings, Findings(withGroupNames(in.State.Tokens, p.groups), in.Creates)...))
	p.plan.Expiries = Expiries(in.Live.Tokens, in.State.Tokens)
	sortChanges(p.plan.Changes)
	if in.Undigested {
		return p.plan.count()
	}
	return p.plan.seal()
}

func sortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Deployment, b.Deployment),
			cmp.Compare(a.Token, b.Token))
	})
}

// Gather is the plan that several plans are parts of: what they found of a commit
// that declares so many zones and tokens.
func Gather(commit string, zones, tokens int, changes []Change, problems []Problem) Plan {
	p := Plan{
		Version: PlanVersion, Commit: commit, Deprecations: []deprecation.Notice{},
		Changes: append([]Change{}, changes...), Problems: append([]Problem{}, problems...),
	}
	p.Summary.Zones, p.Summary.Tokens = zones, tokens
	sortChanges(p.Changes)
	return p.seal()
}

type planner struct {
	in      Input
	plan    Plan
	managed map[rulesetKey]lookup
	groups  map[string]string // names of permission groups, by id
	takers  map[desired.Sink]string
}

// place is where in the declaration the planner is.
type place struct {
	account desired.Account
	zone    desired.Zone
	d       desired.Deployment

	declared *desired.Deployment // where d was copied from
}

func (p *planner) planZone(account desired.Account, zone desired.Zone, entryPoint Observed[edge.Ruleset]) {
	for i, d := range zone.Deployments {
		at := place{account, zone, d, &zone.Deployments[i]}
		switch {
		case errors.Is(entryPoint.Err, edge.ErrEntryPointNotFound):
			p.notDeployed(at, "the zone has no entry point ruleset")
		case entryPoint.Err != nil:
			hint := hintForbiddenZone
			if errors.Is(p.in.Live.Accounts[account.ID].Listed.Err, edge.ErrForbidden) {
				hint = hintForbiddenAccount // the zone was not even asked for
			}
			p.problem(at, unread(entryPoint.Err, hint, zone.Origin))
		default:
			p.planDeployment(at, entryPoint.Value)
		}
	}
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
	id := DeploymentID{at.zone.ID, m.ID}
	inputs := p.inputsOf(at, id, entryPoint, m)
	if owned, known := p.in.Memory.recall(id, inputs); known {
		p.plan.Settled = append(p.plan.Settled, Settled{ID: id, Owned: owned})
		return
	}
	resolved, errs := resolve(at.d, m)
	for _, e := range errs {
		p.problem(at, Problem{State: Blocked, Reason: e.message, Hint: e.hint, Origin: cmp.Or(e.origin, at.d.Origin)})
	}
	if len(errs) > 0 {
		return
	}
	want, leftovers, standIns := p.wanted(at, rule, resolved, m)
	fields := compare(rule, want, m)
	target := Target{
		Ruleset: m.ID, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: rule.ID,
		Owned: owned(resolved, standIns),
	}
	undecided := at.d.Unmanaged == nil && len(leftovers) > 0
	if len(fields) == 0 && !undecided {
		p.in.Memory.keep(id, inputs, target.Owned)
		p.plan.Settled = append(p.plan.Settled, Settled{ID: id, Owned: target.Owned})
		return
	}
	direct(fields, rule, want, m)
	annotate(fields, at.d, resolved, m)
	p.plan.Changes = append(p.plan.Changes, p.change(at, fields, want, target, leftovers, undecided))
}

// wanted returns the execute rule as it should be: the live one with what the
// declaration owns written into it.
func (p *planner) wanted(at place, live edge.Rule, c claims, m *managed) (want edge.Rule, leftovers []Leftover, standIns []Member) {
	mg := merger{managed: m, before: map[Member]bool{}}
	if at.d.Unmanaged != nil {
		mg.decision = at.d.Unmanaged.Value
	}
	for _, member := range p.in.Applied[DeploymentID{at.zone.ID, m.ID}] {
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

func (p *planner) change(at place, fields []Field, want edge.Rule, target Target, leftovers []Leftover, undecided bool) Change {
	c := Change{
		Kind: KindDeployment, Account: at.account.Key, Zone: at.zone.Key, ZoneID: at.zone.ID,
		Deployment: at.d.Ruleset, Action: ActionUpdate, Origin: at.d.Origin, Fields: fields, Target: target,
		Direction: Neutral,
	}
	if len(fields) > 0 {
		c.Request = &Request{
			Method: "PATCH",
			Path:   edge.RulePath(at.zone.ID, target.EntryPoint, target.Rule),
			Body:   want,
		}
		directions := make([]Direction, len(fields))
		for i, f := range fields {
			directions[i] = f.Direction
		}
		c.Direction = combine(directions...)
	} else {
		c.Fields = []Field{}
	}
	if undecided {
		c.Unmanaged = leftovers
	}
	return c
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
		p.notDeployed(at, fmt.Sprintf("no execute rule of the zone runs managed ruleset %q", m.Name))
	default:
		p.problem(at, Problem{
			State: Blocked, Origin: at.d.Origin,
			Reason: fmt.Sprintf("%d execute rules of the zone run managed ruleset %q (%s and %s)", len(rules), m.Name, rules[0].ID, rules[1].ID),
			Hint:   "remove all but one of them on the platform; the overrides of two could contradict each other",
		})
	}
	return edge.Rule{}, false
}

func (p *planner) notDeployed(at place, reason string) {
	p.problem(at, Problem{
		State: NotDeployed, Reason: reason, Origin: at.d.Origin,
		Hint: "deploy the managed ruleset in the zone on the platform, or remove the deployment from the repository",
	})
}

func (p *planner) problem(at place, problem Problem) {
	problem.Account, problem.Zone, problem.ZoneID = at.account.Key, at.zone.Key, at.zone.ID
	problem.Deployment = at.d.Ruleset
	p.plan.Problems = append(p.plan.Problems, problem)
}
