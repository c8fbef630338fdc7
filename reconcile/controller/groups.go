package controller

import (
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// group is a number of zones that are told of together, once each was read.
type group struct {
	commit  string
	left    map[edge.Scope]bool
	all     []edge.Scope
	whole   bool // all zones that are declared
	tokens  bool // the tokens are still to be read
	told    bool
	early   bool // it was told of without the zones of lanes that are away
	began   time.Time
	busy    time.Duration
	request int64
}

func newGroup(commit string, ids []edge.Scope, whole, tokens bool) group {
	left := make(map[edge.Scope]bool, len(ids))
	for _, id := range ids {
		left[id] = true
	}
	return group{commit: commit, left: left, all: ids, whole: whole, tokens: tokens, began: time.Now()}
}

// missing returns the lanes whose zones of a group are all that is left, and why nothing is
// to be expected of each; nil while something is, or where no lane has done its part.
func (r *reports) missing(g *group, now time.Time) map[*lane]string {
	if g.told || g.early || g.tokens || len(g.left) == 0 {
		return nil
	}
	in := r.c.control.Current()
	left, whole := map[*lane]string{}, map[*lane]bool{}
	for _, id := range g.all {
		lane := r.c.lanes.at(in, id)
		switch {
		case lane == nil:
		case g.left[id]:
			left[lane] = ""
		default:
			whole[lane] = true
		}
	}
	for lane := range left {
		progress := lane.work.lastProgress(g.began)
		if progress.Before(g.began) {
			progress = g.began
		}
		if left[lane] = lane.away(now, progress); left[lane] == "" {
			return nil
		}
		delete(whole, lane)
	}
	if len(whole) == 0 {
		return nil
	}
	return left
}

func (g *group) done() bool { return !g.told && len(g.left) == 0 && !g.tokens }

// newTurn is the sweep from its beginning.
func (r *reports) newTurn() group {
	g := r.c.control.Current()
	if g == nil {
		return group{told: true}
	}
	return newGroup(g.State.Commit, allOf(g), true, r.c.Tokens != nil)
}

func allOf(g *control.Generation) (ids []edge.Scope) {
	for id := range g.Zones() {
		ids = append(ids, id)
	}
	return ids
}

// sum is the report of a group: what the latest look at each of its zones has found.
func (r *reports) sum(g group, trigger reconcile.Trigger) reconcile.Report {
	return r.sumWithout(g, trigger, nil)
}

// unread is what is found of a zone that was not read, and why.
func unread(t zone.Task, reason string) found {
	return found{problems: []diff.Problem{{
		Account: t.Account().Key, Zone: t.Zone().Key, Scope: t.Zone().Scope, State: diff.Unknown, Reason: reason,
		Hint: "the zone is read as soon as the credential works", Origin: t.Zone().Origin,
	}}}
}

// sumWithout is that report where zones of some lanes were not read.
func (r *reports) sumWithout(g group, trigger reconcile.Trigger, missing map[*lane]string) reconcile.Report {
	var all found
	in := r.c.control.Current()
	for _, id := range g.all {
		f := r.zones[id]
		if reason := missing[r.c.lanes.at(in, id)]; reason != "" && g.left[id] {
			t, _ := in.Task(id)
			f = unread(t, reason)
		}
		all.changes, all.problems, all.results = append(all.changes, f.changes...), append(all.problems, f.problems...), append(all.results, f.results...)
	}
	tokens := 0
	if g.whole {
		t := r.tokens
		all.changes, all.problems, all.results = append(all.changes, t.changes...), append(all.problems, t.problems...), append(all.results, t.results...)
		tokens = len(r.inForceState().Tokens)
	}
	plan := diff.Gather(g.commit, len(g.all), tokens, all.changes, all.problems)
	if g.whole {
		plan.Deprecations, plan.Findings, plan.Expiries = r.tokens.plan.Deprecations, r.tokens.plan.Findings, r.tokens.plan.Expiries
	}
	report := reconcile.Report{
		Trigger: trigger, Started: g.began, Finished: time.Now(), Plan: plan, Results: all.results,
		Scope: reconcile.Scope{Full: g.whole, Tokens: g.whole, Sum: true}, Busy: g.busy, Requests: g.request,
	}
	if r.held != nil {
		held := *r.held
		held.Again = true
		report.Held = &held
	}
	return report
}

// renamed is a group in which zones have other ids.
func (g group) renamed(ids map[edge.Scope]edge.Scope) group {
	g.left, g.all = maps.Clone(g.left), slices.Clone(g.all)
	for i, before := range g.all {
		if id, ok := ids[before]; ok {
			g.all[i] = id
		}
	}
	for before, id := range ids {
		if g.left[before] {
			delete(g.left, before)
			g.left[id] = true
		}
	}
	return g
}

// over is a turn that goes on over another generation.
func (g group) over(next *control.Generation) group {
	left := map[edge.Scope]bool{}
	known := make(map[edge.Scope]bool, len(g.all))
	for _, id := range g.all {
		known[id] = true
	}
	all := allOf(next)
	for _, id := range all {
		if g.left[id] || !known[id] {
			left[id] = true
		}
	}
	g.commit, g.all, g.left = next.State.Commit, all, left
	return g
}
