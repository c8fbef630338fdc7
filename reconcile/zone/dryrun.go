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
type DryRuns struct {
	Lanes       reconcile.Lanes // each change is tried with the credential of its account
	Concurrency int             // requests at once; zero is as many as zones of the credential
	Limit       int             // changes of one plan, new deployments first; zero is 100
	// Careful asks only where a request that changes nothing has shown that the platform
	// knows dry runs: a platform that did not would make the write.
	Careful bool
}

const usualDryRuns = 100

// Check returns the plan with the changes refused that the platform would not accept.
// live is what the plan was made from. A credential without dry runs is asked nothing.
func (d DryRuns) Check(ctx context.Context, plan diff.Plan, live diff.Live) diff.Plan {
	if d.Limit <= 0 {
		d.Limit = usualDryRuns
	}
	changes, room := slices.Clone(plan.Changes), d.Limit
	candidates := tryable(changes)
	for i, lane := range d.Lanes.All {
		own := slices.DeleteFunc(slices.Clone(candidates), func(j int) bool { return d.Lanes.Index(changes[j].Account) != i })
		if lane.DryRunner == nil || len(own) == 0 {
			continue
		}
		t := trials{
			DryRuns: d, runner: lane.DryRunner, atOnce: cmp.Or(d.Concurrency, lane.AtOnce()),
			changes: changes, left: own, reason: fmt.Sprintf("a plan tries at most %d", d.Limit),
		}
		if t.probe(ctx, live) {
			now := min(room, len(own))
			room -= now
			t.run(ctx, own[:now])
		}
		plan.DryRun = t.addTo(plan.DryRun)
	}
	if slices.ContainsFunc(changes, refusedDry) {
		return plan.WithChanges(changes)
	}
	return plan
}

func refusedDry(c diff.Change) bool { return c.Refused != nil && c.Refused.Guard == diff.GuardDryRun }

// tryable are the changes that can be tried, by their index: new deployments first. What
// only waits, for a person or for a time, is tried too; what is refused for good is not.
func tryable(changes []diff.Change) (all []int) {
	var updates []int
	for i, c := range changes {
		if c.Refused != nil && !slices.Contains([]diff.Guard{
			diff.GuardHold, diff.GuardReverted, diff.GuardLimit, diff.GuardApproval, diff.GuardFreeze, diff.GuardWave, diff.GuardOvertaken,
		}, c.Refused.Guard) {
			continue
		}
		switch ruleOf(c).Do {
		case diff.ActionDeploy:
			all = append(all, i)
		case diff.ActionUpdate:
			updates = append(updates, i)
		default: // there is no dry run of it
		}
	}
	return append(all, updates...)
}

// trials are the dry runs of one plan.
type trials struct {
	DryRuns
	runner  edge.DryRunner
	atOnce  int
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
		if rules := live.EntryPoints[c.Scope.At(ruleOf(c).Target.Phase)].Value.Rules; len(rules) > 0 {
			return t.probeWith(ctx, c.Scope, live.EntryPoints[c.Scope.At(ruleOf(c).Target.Phase)].Value.ID, rules[0])
		}
	}
	var first edge.Place
	for place, entryPoint := range live.EntryPoints {
		if len(t.Lanes.All) == 1 && len(entryPoint.Value.Rules) > 0 && (first == edge.Place{} || place.Compare(first) < 0) {
			first = place
		}
	}
	if first != (edge.Place{}) {
		entryPoint := live.EntryPoints[first].Value
		return t.probeWith(ctx, first.Scope, entryPoint.ID, entryPoint.Rules[0])
	}
	if t.Careful {
		t.reason = "no zone that was read has a rule to test with whether the platform knows dry runs"
	}
	return !t.Careful
}

func (t *trials) probeWith(ctx context.Context, id edge.Scope, entryPoint edge.RulesetID, rule edge.Rule) bool {
	err := t.runner.Try(ctx, edge.UpdateRule(id, entryPoint, rule.ID, rule.Update()))
	if err != nil {
		t.reason = "a dry run that changes nothing did not pass: " + err.Error()
	}
	return err == nil
}

func (t *trials) run(ctx context.Context, indexes []int) {
	var group errgroup.Group
	group.SetLimit(t.atOnce)
	for _, i := range indexes {
		group.Go(func() error {
			if !t.stopped() {
				write, _ := writeOf(t.changes[i]) // each that [tryable] returns has one
				t.note(i, t.runner.Try(ctx, write))
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

// addTo adds what was learned to what was learned with other credentials; nil for none.
func (t *trials) addTo(whole *diff.DryRun) *diff.DryRun {
	if whole == nil {
		whole = &diff.DryRun{}
	}
	whole.Tried += t.tried
	for _, i := range t.left {
		whole.NotTried = append(whole.NotTried, t.changes[i].Name())
	}
	if len(t.left) > 0 && whole.Reason == "" {
		whole.Reason = t.reason
	}
	return whole
}
