package controller

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/outage"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// reports tells reporters what happens: each look at a zone when it is over; a commit
// once each zone that it declares otherwise was read; and the sweep, once it has
// come to every zone. What it keeps of a zone is what stands out, and nothing of one
// that agrees.
type reports struct {
	to         []reconcile.Reporter
	control    *control.Control
	lanes      *lanes
	retries    *retries
	outages    *outage.Tracker
	interval   time.Duration
	looking    reconcile.Looking
	requests   reconcile.Requests
	withTokens bool // tokens are read, too

	mu        sync.Mutex
	zones     map[edge.Scope]found
	operation diff.Operation // what is left of the last one of them
	tokens    tokensFound
	commit    group // the zones that the newest commit declares otherwise
	turn      group // all zones, since the sweep began anew
	held      *reconcile.Held
	counted   int64     // requests that reports have told
	asked     time.Time // whether groups wait for lanes that are away; of one goroutine
	sweep     sweepCost
}

// tokensFound is the same of all tokens.
type tokensFound struct {
	found
	plan       diff.Plan
	unfinished int
}

// state notes how something that needs the state folder has ended, and reports a failure.
// part is what was done.
func (r *reports) state(ctx context.Context, part string, err error) {
	if err == nil {
		r.outages.Worked(reconcile.OutageState, "", part)
		return
	}
	if anotherDoes(err) {
		return
	}
	r.outages.Failed(reconcile.OutageState, "", part, err)
	r.failure(ctx, err)
}

// send fills in what every report says and hands it to the reporters; the caller holds
// the lock.
func (r *reports) send(ctx context.Context, report reconcile.Report) {
	state := desired.State{}
	if g := r.control.Current(); g != nil {
		cost := r.costOf(g)
		state, report.Sweep, report.Overload = g.State, cost.requests, cost.overload
	}
	report.Commit, report.Declared = state.Commit, state.Zones()
	report.Unfinished = r.unfinished()
	report.Rollout = r.control.Rollout()
	if report.Finished.IsZero() {
		report.Finished = time.Now()
	}
	if report.Started.IsZero() {
		report.Started = report.Finished
	}
	report.Plan.Version, report.Plan.Commit = diff.PlanVersion, state.Commit
	report.Plan.GeneratedAt = report.Finished.UTC()
	report.Plan.Holds = r.control.Holds()
	if !report.Sum {
		now := r.requests.Sent()
		report.Requests, r.counted = now-r.counted, now
		r.turn.request += report.Requests
		r.commit.request += report.Requests
	}
	report.Plan.Requests.Used = report.Requests
	report.Plan.Requests.Overload = report.Overload
	ctx = context.WithoutCancel(ctx)
	for _, reporter := range r.to {
		reporter.Report(ctx, report)
	}
}

// unfinished counts what is not done yet, or is tried again; not what waits for
// someone's word. The caller holds the lock.
func (r *reports) unfinished() int {
	_, timely := r.control.Waiting()
	n := timely + r.retries.len() + r.tokens.unfinished
	if r.commit.open {
		n += max(1, len(r.commit.left))
	}
	return n
}

// zone tells of a look at a zone.
func (r *reports) zone(ctx context.Context, l *look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := l.item.Key
	f := r.light(l.plan, l.results)
	if len(f.changes)+len(f.problems)+len(f.results) == 0 {
		delete(r.zones, id)
	} else if g := r.control.Current(); g != nil && g.Declares(id) {
		r.zones[id] = f
	}
	trigger := reconcile.TriggerSweep
	if l.commit {
		trigger = reconcile.TriggerSync
	}
	now := time.Now()
	report := reconcile.Report{Trigger: trigger, Scope: reconcile.Scope{Slice: true, Zone: id}, Started: l.began, Finished: now, Plan: l.plan, Results: l.results}
	err, _ := l.failure()
	report.Told = err != nil
	r.send(ctx, report)
	r.note(ctx, id, now.Sub(l.began))
}

// note notes that a zone was read, and tells of what is complete with it.
func (r *reports) note(ctx context.Context, id edge.Scope, took time.Duration) {
	for _, g := range []*group{&r.commit, &r.turn} {
		if g.left[id] {
			delete(g.left, id)
			g.busy += took
		}
	}
	r.complete(ctx)
}

// accepted tells of a commit that is in force from now on, and of the warnings in it.
func (r *reports) accepted(ctx context.Context, d control.Decision, problems []desired.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = nil
	r.begin(d.Accepted, d.Due, d.Tokens, d.SameZones)
	r.send(ctx, reconcile.Report{
		Trigger: reconcile.TriggerSync, Problems: problems, Scope: reconcile.Scope{Begun: &reconcile.Begun{Zones: len(d.Due)}},
	})
	r.complete(ctx)
}

// inForce notes what is in force without a proposal: from an earlier process, or by
// another one. due are the zones that it declares otherwise; nil is all.
func (r *reports) inForce(g *control.Generation, due []edge.Scope, same bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(g, due, false, same)
}

// leave waits no more for zones that another process works on, and tells of what is complete without
// them.
func (r *reports) leave(ctx context.Context, theirs func(edge.Scope) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.zones, func(id edge.Scope, _ found) bool { return theirs(id) })
	for _, g := range []*group{&r.commit, &r.turn} {
		maps.DeleteFunc(g.left, func(id edge.Scope, _ bool) bool { return theirs(id) })
		g.tokens = g.tokens && r.lanes.tokensOurs()
	}
	if len(r.turn.left) > 0 || r.commit.open { // else there is nothing to tell of
		r.complete(ctx)
	}
}

// leaveTokens has groups wait for no work on tokens: another process does it.
func (r *reports) leaveTokens(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	waited := r.commit.tokens || r.turn.tokens
	if r.commit.tokens, r.turn.tokens = false, false; waited {
		r.complete(ctx)
	}
}

// renamed notes that zones have other ids in a generation that declares the same.
func (r *reports) renamed(g *control.Generation, ids map[edge.Scope]edge.Scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.zones, func(id edge.Scope, _ found) bool { return !g.Declares(id) })
	r.commit, r.turn = r.commit.renamed(ids, g), r.turn.over(g)
}

// begin begins the groups of a generation; the caller holds the lock. same says that it has the
// zones of the one before.
func (r *reports) begin(g *control.Generation, due []edge.Scope, tokens, same bool) {
	if !same {
		maps.DeleteFunc(r.zones, func(id edge.Scope, _ found) bool { return !g.Declares(id) })
	}
	first := !r.turn.open
	tokens = tokens && r.withTokens
	if first {
		r.turn = r.newTurn()
	} else {
		r.turn = r.turn.over(g)
	}
	switch {
	case due == nil && len(g.State.Accounts) > 0:
		r.commit.open = false // nothing is new: the turn tells of it
	case first && len(due) == g.State.Zones():
		r.commit = wholeGroup(g, r.withTokens)
	default:
		r.commit = newGroup(g.State.Commit, due, tokens)
	}
	r.onlyOurs(&r.commit, g)
	r.onlyOurs(&r.turn, g)
}

// onlyOurs has a group wait for nothing that another process works on; the caller holds the lock.
func (r *reports) onlyOurs(of *group, g *control.Generation) {
	of.tokens = of.tokens && r.lanes.tokensOurs()
	ours, all := r.lanes.ours()
	if all {
		return
	}
	maps.DeleteFunc(of.left, func(id edge.Scope, _ bool) bool { lane := r.lanes.at(g, id); return lane != nil && !ours[lane] })
}

// join has the sweep wait for zones that are this process's now, and the commit for those of them in
// which it was not proved yet. Where it was proved in all, that is told at once: the process that had
// them may have ended before it told.
func (r *reports) join(ctx context.Context, commit string, ids, work []edge.Scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.complete(ctx)
	if !r.commit.open {
		r.commit = newGroup(commit, nil, false)
	}
	if r.commit.whole == nil {
		r.commit.all = union(r.commit.all, ids)
	}
	for _, id := range work {
		r.commit.left[id] = true
	}
	for _, id := range ids {
		if r.turn.open {
			r.turn.left[id] = true
		}
	}
}

// round begins the turn anew: someone has asked for a look at every zone of a generation.
func (r *reports) round(g *control.Generation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn = wholeGroup(g, r.withTokens)
	r.onlyOurs(&r.turn, g)
}

// looked tells of a look at the source that has changed nothing.
func (r *reports) looked(ctx context.Context, held *reconcile.Held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.held
	if r.held = held; held != nil {
		held.Again = before != nil && before.Commit == held.Commit && outage.Scrub(before.Reason) == outage.Scrub(held.Reason)
	}
	report := reconcile.Report{Trigger: reconcile.TriggerSync, Held: held}
	if r.control.Current() == nil && held != nil {
		report.Err, report.Problems, report.Held = errors.New(held.Reason), held.Problems, nil
		report.Told = held.Again || held.Commit == ""
	}
	r.send(ctx, report)
}

// failure tells of what kept something from being done, and is about no zone; its outage
// is noted by the caller.
func (r *reports) failure(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.send(ctx, reconcile.Report{Trigger: reconcile.TriggerSync, Err: err, Told: true})
}

// work tells of the work on tokens.
func (r *reports) work(ctx context.Context, o token.Outcome, began time.Time, told bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	plan := o.Plan
	r.tokens = tokensFound{found{changes: plan.Changes, problems: plan.Problems, results: o.Results}, plan, len(o.Unfinished())}
	r.send(ctx, reconcile.Report{
		Trigger: reconcile.TriggerSweep, Scope: reconcile.Scope{Slice: true}, Started: began, Finished: time.Now(),
		Plan: plan, Results: o.Results, Err: o.Err, Told: told,
	})
	r.commit.tokens, r.turn.tokens = false, false
	r.complete(ctx)
}

// inForceState is what is in force, the zero state for nothing.
func (r *reports) inForceState() desired.State {
	state, _ := r.control.InForce()
	return state
}
