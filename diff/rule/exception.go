package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Exceptions is the kind of skip rules of the phase of deployments. Those that a deployment declares
// are planned as any rules are; besides,
//
//	stand    in front of the execute rule of their deployment        (exception_place.go)
//	skip     rules that they name, by id on the platform             (skips.go)
//	end      after their last day: they are off then, and not added
//	tell     which rules that are on they turn off                   (exception_tell.go)
//	declare  the inverse, for import and absorb                      (exception_declare.go)
//
// Those that nothing declares may go; see undeclared.go.
type Exceptions struct {
	Kind
	deployed func(name string) diff.Deployed // of the zone at work, for who declares; else nil
	now      time.Time
}

// Exception is the kind of exceptions.
var Exception = Exceptions{Kind: Kind{name: desired.Exception, phase: edge.PhaseFirewallManaged, members: exceptionMembers}}

var exceptionMembers = slices.Concat(common[:2], []member{
	{path: "expression", wire: "expression", direct: narrowing},
	{path: "action", wire: "action", direct: acting},
	{path: skipMember, wire: parametersMember, form: canonicalSkip, direct: widening},
	{path: "logging", wire: "logging.enabled", direct: logging},
})

// Plan implements [diff.Kind].
func (k Exceptions) Plan(in diff.Input) diff.Part {
	out := undeclared(in)
	if !k.concerned(in) {
		return out
	}
	return k.planDeclared(in, out)
}

// planDeclared adds the plan of what is declared.
func (k Exceptions) planDeclared(in diff.Input, out diff.Part) diff.Part {
	p := exceptions{zonePart: zonePart{Kind: k.Kind, out: &out}, in: in, resolved: map[diff.ID]*exception{}}
	p.ahead = map[diff.ID]edge.RuleID{}
	declared := p.Kind.Plan(p.prepared())
	for i := range declared.Changes {
		p.tell(&declared.Changes[i])
	}
	out.Changes, out.Problems = append(out.Changes, declared.Changes...), append(out.Problems, declared.Problems...)
	out.Settled = append(out.Settled, declared.Settled...)
	return out
}

// Restore implements [diff.Kind].
func (k Exceptions) Restore(r diff.Restoration, in diff.Input) (*diff.Change, *diff.Problem) {
	if r.ID.Ref != r.Deployment { // nothing declared it: it has the name of a deployment
		return returned(r, in)
	}
	return k.Kind.Restore(r, in)
}

// exceptions is the plan of all exceptions on its way.
type exceptions struct {
	zonePart // the zone at hand
	in       diff.Input
	live     diff.Observed[edge.Ruleset]
	deployed map[edge.Scope][]diff.Deployed
	resolved map[diff.ID]*exception
}

// exception is one that is declared, with what that means on the platform.
type exception struct {
	desired.Other
	of   diff.Deployed
	skip skipped
	// until is its last day, and over says that it is over.
	until string
	over  bool
}

// prepared is the input in which the exceptions of each zone say what a rule of the platform does.
// Those of which that cannot be told are left out, and reported.
func (p *exceptions) prepared() diff.Input {
	in := p.in
	in.Memory = nil // what is prepared is anew in each plan
	in.Prunable = maps.Clone(in.Prunable)
	p.deployed = map[edge.Scope][]diff.Deployed{}
	for _, d := range in.Deployed {
		p.deployed[d.Scope] = append(p.deployed[d.Scope], d)
	}
	in.State.Accounts = slices.Clone(in.State.Accounts)
	for i := range in.State.Accounts {
		account := &in.State.Accounts[i]
		p.account = *account
		cloned := false
		for j, zone := range account.Zones {
			live, read := in.Live.EntryPoints[zone.Scope.At(p.phase)]
			known := live.Err == nil || errors.Is(live.Err, edge.ErrEntryPointNotFound)
			if !read || !known || in.Live.Accounts[account.ID].Documented || !slices.ContainsFunc(zone.Others, p.is) {
				continue // without them, or said of all of them at once
			}
			if !cloned {
				account.Zones, cloned = slices.Clone(account.Zones), true
			}
			p.zone, p.live = zone, live
			account.Zones[j].Others = p.prepare(in.Prunable)
		}
	}
	return in
}

// prepare are the exceptions of a zone as rules of the platform. What is left out may not be removed
// for that.
func (p *exceptions) prepare(prunable diff.Pruning) (all []desired.Other) {
	for _, o := range p.of(p.zone) {
		id := p.id(p.zone.Scope, o.Key)
		e, problem := p.resolve(o)
		switch {
		case problem != nil:
			delete(prunable, id)
			p.problem(o, *problem)
		case e.over && byRef(p.live.Value.Rules, o.Key) < 0:
			p.out.Settled = append(p.out.Settled, diff.Settled{ID: id, Version: p.live.Value.Version})
		default:
			p.resolved[id] = e
			if e.of.Execute != "" {
				p.ahead[id] = e.of.Execute
			}
			all = append(all, e.Other)
		}
	}
	return all
}

// resolve says what one declares in terms of the platform.
func (p *exceptions) resolve(o desired.Other) (*exception, *diff.Problem) {
	of, problem := p.deployment(o)
	if problem != nil {
		return nil, problem
	}
	e, err := p.rule(o, of, p.in.Now)
	if p.remark(o, e); err != nil {
		return nil, &diff.Problem{
			State: diff.Blocked, Lasts: true, Unfit: true, Reason: "skip: " + err.Error(),
			Hint: "name rules that the managed ruleset has (seawall rules lists them), or remove the exception",
		}
	}
	return &e, nil
}

// deployment is the deployment of an exception, or why nothing can be told of it.
func (p *exceptions) deployment(o desired.Other) (diff.Deployed, *diff.Problem) {
	all := p.deployed[p.zone.Scope]
	i := slices.IndexFunc(all, func(d diff.Deployed) bool { return d.Deployment == o.Of })
	switch {
	case i < 0:
		return diff.Deployed{}, &diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("nothing is known of deployment %q", o.Of)}
	case all[i].Problem != nil:
		problem := *all[i].Problem
		problem.Reason = fmt.Sprintf("it cannot stand before deployment %q: %s", o.Of, problem.Reason)
		return all[i], &problem
	}
	return all[i], nil
}

// rule is an exception as a rule of the platform at a time. An error is that nothing is left to skip;
// where it is over, that does not matter.
func (k Kind) rule(o desired.Other, of diff.Deployed, now time.Time) (exception, error) {
	e := exception{Other: o, of: of, until: o.Text("until")}
	values, err := treeOf([]byte(o.Value))
	if err != nil { // the schema lets none of these pass
		return e, err
	}
	if end, has := o.Ends(); has && !now.IsZero() && !now.Before(end) {
		e.over, values["enabled"] = true, false
		if at, declared := o.Places["until"]; declared {
			e.Places = maps.Clone(o.Places)
			e.Places["enabled"] = at
		}
	}
	e.skip, err = resolve(values[string(skipMember)], of.Managed)
	switch {
	case err == nil:
		values[string(skipMember)] = e.skip.parameters
	case e.over:
		delete(values, string(skipMember))
	default:
		return e, err
	}
	values["action"] = string(edge.ActionSkip)
	delete(values, "owner")
	delete(values, "until")
	data, err := json.Marshal(values)
	e.Value = string(data)
	return e, err
}

// Skips implements [diff.Skipper].
func (k Exceptions) Skips(asked diff.SkipAsked) (none diff.DeclaredSkip) {
	o, is := k.declaredBy(asked)
	if !is {
		return none
	}
	owner, _ := o.Answers()
	said := diff.DeclaredSkip{Kind: k.name, Key: o.Key, Owner: owner, Until: o.Text("until"), Origin: o.Origin}
	e, err := k.rule(o, asked.Deployed(o.Of), asked.Now)
	if err != nil {
		return said
	}
	said.Over = e.over
	values, err := treeOf([]byte(e.Value))
	live, liveErr := bodyOf(asked.Rule)
	said.Agrees = err == nil && liveErr == nil && !said.Over && k.agrees(values, live)
	return said
}

// agrees reports whether a live rule has all that is declared.
func (k Kind) agrees(values, live tree) bool {
	for _, m := range k.members {
		if declared := values.at(string(m.path)); declared != nil && !m.same(declared, live.at(m.wire)) {
			return false
		}
	}
	return true
}
