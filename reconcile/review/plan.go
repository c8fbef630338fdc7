package review

import (
	"context"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/trace"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// planning evaluates and plans heads, one at a time.
type planning struct {
	*Config
	parts map[int]part // that are not read through yet
	kept  kept
}

// look evaluates and plans a head.
func (r *planning) look(ctx context.Context, pull reconcile.PullRequest, head string, base desired.State) (verdict, shown, error) {
	now := shown{head: head, base: base.Commit}
	if err := r.mayGoOn(pull.Number, head, base.Commit); err != nil {
		return verdict{}, now, err
	}
	within, span := trace.Start(ctx, trace.Evaluate)
	state, problems, err := r.Heads.Compile(within, head)
	span.Text(trace.Commit, head)
	span.End(err)
	if err != nil {
		return verdict{}, now, fmt.Errorf("compiling: %w", err)
	}
	if len(desired.Errors(problems)) > 0 {
		return verdict{head: head, base: base.Commit, problems: problems}, now, nil
	}
	within, span = trace.Start(ctx, trace.PlanPull)
	plan, err := r.plan(within, pull, head, state, base)
	span.Count(trace.Changes, len(plan.Changes))
	span.End(err)
	if err != nil {
		return verdict{}, now, err
	}
	return verdict{head: head, base: base.Commit, zones: state.Zones(), problems: problems, plan: &plan, approvers: r.reviewers()}, now, nil
}

// reviewers are the names of the accounts whose review releases something: none where
// nobody sees the plan that they would approve.
func (r *planning) reviewers() (names []string) {
	if !r.Comments {
		return nil
	}
	for _, account := range r.Trust.Approvers {
		names = append(names, account.Name)
	}
	return names
}

// plan plans a head against what is live: of the zones whose declaration it
// changes, those that base declares. What drifted elsewhere is not its doing, and
// is nothing that its reviewers agree to.
func (r *planning) plan(ctx context.Context, pull reconcile.PullRequest, commit string, head, base desired.State) (diff.Plan, error) {
	head = r.Names.Resolve(head)
	reading, unread := readable(head, base)
	record, err := r.Records.Restore(ctx)
	if err != nil {
		return diff.Plan{}, fmt.Errorf("recalling earlier runs: %w", err)
	}
	seen, used, err := r.read(ctx, pull.Number, commit, base.Commit, wanted{reading, control.PrunableByZone(record.Prunable), r.Guards.Looking})
	if err != nil {
		return diff.Plan{}, fmt.Errorf("reading what is live: %w", err)
	}
	live := seen.Live
	if live.Tokens, err = r.Tokens.Look(ctx, token.Scope{Commit: head.Commit, Tokens: head.Tokens, Accounts: r.Lanes.Within(head).Accounts}); err != nil {
		return diff.Plan{}, fmt.Errorf("recalling tokens: %w", err)
	}
	whole := control.Whole{Record: record, Guards: r.Guards, State: head, Live: live, Now: r.Now()}
	if base.Commit == record.Accepted.Commit {
		whole.Before = &base
	}
	facts := whole.Judge().Facts
	facts.NonConvergent, facts.Tries = record.NonConvergent, record.Tries
	plan := planner.Make(planner.Input{
		State: reading, Live: live, Applied: record.Applied, Reports: r.Guards.ReportUnmanaged, Prunable: record.Prunable, Now: facts.Now,
		NameSuffix: r.Tokens.NameSuffix, CreatingGroups: r.Tokens.CreatingGroups,
	})
	plan.Problems = append(plan.Problems, unread...)
	plan.GeneratedAt = facts.Now
	plan.Leaving, plan.NotLookedAt = r.leaving(record, head, base), live.NotLookedAt(reading)
	plan = guard.Check(plan, facts).Named(base, head, r.Names.Shown)
	if !pull.Fork { // what strangers write is sent nowhere
		before := r.Requests.Sent()
		plan = r.DryRuns.Check(ctx, plan, live)
		used += r.Requests.Sent() - before
	}
	if r.Deprecations != nil {
		plan.Deprecations = r.Deprecations(head, facts.Now)
	}
	plan.Requests.Used, plan.Requests.Cost, plan.Requests.Looks = used, r.Cost(plan), int64(seen.Looked)
	return plan, nil
}

// leaving is what leaves settings of the configuration by a head, and not by base already.
func (r *planning) leaving(record reconcile.Record, head, base desired.State) []diff.Leaving {
	known := map[string]bool{}
	before, _ := control.Departures(record, r.Guards, base)
	for _, l := range before {
		known[l.Digest] = true
	}
	all, _ := control.Departures(record, r.Guards, head)
	return slices.DeleteFunc(all, func(l diff.Leaving) bool { return known[l.Digest] })
}

// readable cuts a head down to the zones that it declares otherwise and whose ids
// base declares in the same account, and says of each new one that it is not read.
func readable(head, base desired.State) (desired.State, []diff.Problem) {
	declared := map[edge.Scope]edge.AccountID{}
	for account, zone := range base.EachZone() {
		declared[zone.Scope] = account.ID
	}
	changed := diff.ChangedZones(base, head)
	var unread []diff.Problem
	reading := head.Only(func(account desired.Account, zone desired.Zone) bool {
		switch {
		case !changed[zone.Scope]:
			return false
		case declared[zone.Scope] == account.ID && account.ID != "":
			return true
		}
		unread = append(unread, diff.Problem{
			Account: account.Key, Zone: zone.Key, Scope: zone.Scope, State: diff.NotRead, Origin: zone.Origin,
			Reason: "the commit in force does not declare this zone, so Seawall does not read it before the merge",
		})
		return false
	})
	return reading, unread
}
