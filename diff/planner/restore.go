package planner

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Restore plans to put back what was written, each zone as a whole or not at all: only where
// it is still live. What is otherwise by now becomes a problem, [diff.ChangedSince], and a zone
// that is as it was before becomes nothing. The plan has passed no guard yet, and has no
// digest; see [diff.Gather].
func Restore(all []diff.Restoration, live diff.Live) diff.Plan {
	p := diff.Plan{Version: diff.PlanVersion, Changes: []diff.Change{}, Problems: []diff.Problem{}}
	in := Input{Live: live, Indexes: &diff.Indexes{}}
	zones := map[edge.Scope]bool{}
	changed, cloned := map[edge.Scope]string{}, false
	for i, r := range slices.Backward(all) { // what was written last is undone first
		zones[r.ID.Scope] = true
		change, problem := restore(r, in)
		switch {
		case problem != nil:
			problem.Account, problem.Zone, problem.Scope, problem.Kind, problem.Deployment = r.Account, r.Zone, r.ID.Scope, r.ID.Kind, r.Deployment
			p.Problems = append(p.Problems, *problem)
			changed[r.ID.Scope] = fmt.Sprintf("%s %q", r.ID.Word(r.Deployment), r.Deployment)
		case change != nil:
			change.Account, change.Zone, change.Scope, change.Deployment = r.Account, r.Zone, r.ID.Scope, r.Deployment
			if o, is := change.Operation.(diff.RuleOperation); is && o.Do == diff.ActionDeploy && PutsBack(r.ID) {
				change.Turn = len(all) - i
				if !cloned {
					in.Live.EntryPoints, cloned = maps.Clone(live.EntryPoints), true
				}
				at := r.ID.Scope.At(o.Target.Phase)
				in.Live.EntryPoints[at] = with(in.Live.EntryPoints[at], o)
			}
			p.Changes = append(p.Changes, *change)
		}
	}
	slices.Reverse(p.Changes)
	slices.Reverse(p.Problems)
	p.Changes = slices.DeleteFunc(p.Changes, func(c diff.Change) bool {
		why, not := changed[c.Scope]
		if not {
			p.Problems = append(p.Problems, diff.Problem{
				Account: c.Account, Zone: c.Zone, Scope: c.Scope, Kind: c.ID().Kind, Deployment: c.Deployment, State: diff.ChangedSince,
				Reason: why + " of the zone cannot be put back; a zone is put back only as a whole",
			})
		}
		return not
	})
	diff.SortChanges(p.Changes)
	p.Summary.Zones = len(zones)
	return p.Counted()
}

func restore(r diff.Restoration, in Input) (*diff.Change, *diff.Problem) {
	kind := kindOf(r.ID)
	if kind == nil {
		return nil, &diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("this version of Seawall knows no kind %q", r.ID.Kind)}
	}
	change, problem := kind.Restore(r, in)
	if change != nil {
		change.Kind = kind.Name()
	}
	return change, problem
}

// with is an entry point with a rule that is to be added, in its place: others may stand behind it. It
// has no id yet; when they are written, a new plan says it.
func with(observed diff.Observed[edge.Ruleset], o diff.RuleOperation) diff.Observed[edge.Ruleset] {
	rule := o.Body
	rule.ID = edge.RuleID("the rule that has the ref " + o.Target.Ref)
	i := len(observed.Value.Rules)
	index := func(id edge.RuleID) int {
		return slices.IndexFunc(observed.Value.Rules, func(r edge.Rule) bool { return r.ID == id })
	}
	switch p := o.Position; {
	case p == nil:
	case p.Before != nil:
		i = max(index(*p.Before), 0) // the empty one is the first place
	case p.After != nil && *p.After != "":
		i = index(*p.After) + 1
	}
	observed.Value.Rules = slices.Insert(slices.Clone(observed.Value.Rules), i, rule)
	return observed
}
