package zone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// DryRuns asks the platform about the changes of a plan before anything is written:
// whether the plan of the zone includes them, and whether it accepts their expressions.
// The zero value asks nothing.
type DryRuns struct {
	Runner edge.DryRunner // nil: the platform has no dry run, or Lanes say
	// Lanes have the runner of each account; without any, Runner is that of all.
	Lanes       reconcile.Lanes
	Concurrency int // requests at once; zero is 1
	Limit       int // changes of one plan, new deployments first; zero is 100
	// Careful asks only where a request that changes nothing has shown that the platform
	// knows dry runs: a platform that did not would make the write.
	Careful bool
}

const usualDryRuns = 100

// Check returns the plan with the changes refused that the platform would not accept.
// live is what the plan was made from.
func (d DryRuns) Check(ctx context.Context, plan diff.Plan, live diff.Live) diff.Plan {
	if len(d.Lanes.All) > 0 {
		return d.checkLanes(ctx, plan, live)
	}
	candidates := tryable(plan.Changes)
	if d.Runner == nil || len(candidates) == 0 {
		return plan
	}
	limit := d.Limit
	if limit <= 0 {
		limit = usualDryRuns
	}
	t := trials{
		DryRuns: d, changes: slices.Clone(plan.Changes), left: candidates,
		reason: fmt.Sprintf("a plan tries at most %d", limit),
	}
	if t.probe(ctx, live) {
		t.run(ctx, candidates[:min(limit, len(candidates))])
	}
	if plan.DryRun = t.outcome(); slices.ContainsFunc(t.changes, refusedDry) {
		return plan.WithChanges(t.changes)
	}
	return plan
}

// checkLanes asks about each change with the credential of its account, and shows with a
// zone of such a change that the platform knows dry runs.
func (d DryRuns) checkLanes(ctx context.Context, plan diff.Plan, live diff.Live) diff.Plan {
	changes, asked := slices.Clone(plan.Changes), (*diff.DryRun)(nil)
	for i, lane := range d.Lanes.All {
		of := d
		of.Lanes, of.Runner = reconcile.Lanes{}, lane.DryRunner
		if of.Concurrency == 0 {
			of.Concurrency = lane.AtOnce()
		}
		own, indexes := diff.Live{EntryPoints: map[edge.ZoneID]diff.Observed[edge.Ruleset]{}}, []int{}
		part := diff.Plan{}
		for j, c := range plan.Changes {
			if d.Lanes.Index(c.Account) == i && c.Kind() == diff.KindDeployment {
				indexes, part.Changes = append(indexes, j), append(part.Changes, c)
				own.EntryPoints[c.ZoneID] = live.EntryPoints[c.ZoneID]
			}
		}
		if len(d.Lanes.All) == 1 {
			own = live
		}
		part = of.Check(ctx, part, own)
		for k, j := range indexes {
			changes[j] = part.Changes[k]
		}
		asked = joined(asked, part.DryRun)
	}
	if plan.DryRun = asked; slices.ContainsFunc(changes, refusedDry) {
		return plan.WithChanges(changes)
	}
	return plan
}

// joined is what both have asked; nil asked nothing.
func joined(a, b *diff.DryRun) *diff.DryRun {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &diff.DryRun{Tried: a.Tried + b.Tried, NotTried: append(a.NotTried, b.NotTried...), Reason: cmp.Or(a.Reason, b.Reason)}
}

func refusedDry(c diff.Change) bool { return c.Refused != nil && c.Refused.Guard == diff.GuardDryRun }

// tryable are the changes that can be tried, by their index: new deployments first. What
// only waits, for a person or for a time, is tried too; what is refused for good is not.
func tryable(changes []diff.Change) (all []int) {
	var updates []int
	for i, c := range changes {
		if c.Refused != nil && !slices.Contains([]diff.Guard{
			diff.GuardHold, diff.GuardLimit, diff.GuardApproval, diff.GuardFreeze, diff.GuardWave,
		}, c.Refused.Guard) {
			continue
		}
		switch c.Operation.(type) {
		case diff.DeploymentCreation:
			all = append(all, i)
		case diff.DeploymentUpdate:
			updates = append(updates, i)
		}
	}
	return append(all, updates...)
}

// trials are the dry runs of one plan.
type trials struct {
	DryRuns
	changes []diff.Change

	mu     sync.Mutex
	left   []int // that were not tried
	tried  int
	reason string // why others were not
	ended  bool
}

// probe has the platform show with a request that changes nothing that it knows dry runs:
// an update of a rule to what it is.
func (t *trials) probe(ctx context.Context, live diff.Live) bool {
	for _, i := range t.left {
		c := t.changes[i]
		if rules := live.EntryPoints[c.ZoneID].Value.Rules; len(rules) > 0 {
			return t.probeWith(ctx, c.ZoneID, live.EntryPoints[c.ZoneID].Value.ID, rules[0])
		}
	}
	var first edge.ZoneID
	for id, entryPoint := range live.EntryPoints {
		if len(entryPoint.Value.Rules) > 0 && (first == "" || id < first) {
			first = id
		}
	}
	if first != "" {
		entryPoint := live.EntryPoints[first].Value
		return t.probeWith(ctx, first, entryPoint.ID, entryPoint.Rules[0])
	}
	if t.Careful {
		t.reason = "no zone that was read has a rule to test with whether the platform knows dry runs"
	}
	return !t.Careful
}

func (t *trials) probeWith(ctx context.Context, id edge.ZoneID, entryPoint edge.RulesetID, rule edge.Rule) bool {
	err := t.Runner.TryUpdateRule(ctx, id, entryPoint, rule.ID, rule.Update())
	if err != nil {
		t.reason = "a dry run that changes nothing did not pass: " + err.Error()
	}
	return err == nil
}

func (t *trials) run(ctx context.Context, indexes []int) {
	var group errgroup.Group
	group.SetLimit(max(1, t.Concurrency))
	for _, i := range indexes {
		group.Go(func() error {
			if !t.stopped() {
				t.note(i, try(ctx, t.Runner, t.changes[i]))
			}
			return nil
		})
	}
	_ = group.Wait() // no function of the group fails: what they learn is in t
}

func (t *trials) stopped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// try asks about one change.
func try(ctx context.Context, r edge.DryRunner, c diff.Change) error {
	target := c.Target()
	switch o := c.Operation.(type) {
	case diff.DeploymentUpdate:
		return r.TryUpdateRule(ctx, c.ZoneID, target.EntryPoint, target.Rule, o.Body)
	case diff.DeploymentCreation:
		if target.EntryPoint != "" {
			return r.TryAddRule(ctx, c.ZoneID, target.EntryPoint, o.Body)
		}
		return r.TryCreateEntryPoint(ctx, c.ZoneID, []edge.Rule{o.Body})
	}
	return nil
}

// note takes in what the platform has said about a change. What says nothing about it,
// such as that the credential may only read, leaves it as not tried.
func (t *trials) note(i int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil || errors.Is(err, edge.ErrInvalid) {
		t.tried++
		t.left = slices.DeleteFunc(slices.Clone(t.left), func(j int) bool { return i == j })
		if err != nil {
			t.changes[i].Refused = refusalOf(err)
		}
		return
	}
	t.reason = err.Error()
	about := errors.Is(err, edge.ErrForbidden) || errors.Is(err, edge.ErrNotFound) || errors.Is(err, edge.ErrEntryPointExists)
	t.ended = t.ended || !about
}

func refusalOf(err error) *diff.Refusal {
	release := "another declaration"
	if errors.Is(err, edge.ErrNotEntitled) {
		release = "a subscription of the zone or account that includes it, or another declaration"
	}
	return &diff.Refusal{Guard: diff.GuardDryRun, Reason: "the platform would not accept it: " + err.Error(), Release: release}
}

func (t *trials) outcome() *diff.DryRun {
	d := &diff.DryRun{Tried: t.tried}
	for _, i := range t.left {
		d.NotTried = append(d.NotTried, t.changes[i].Name())
	}
	if len(d.NotTried) > 0 {
		d.Reason = t.reason
	}
	return d
}
