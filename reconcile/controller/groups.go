package controller

import (
	"iter"
	"maps"
	"reflect"
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
	all     []edge.Scope        // unless they are all that are declared
	whole   *control.Generation // that declares them; nil: they are not all
	tokens  bool                // the tokens are still to be read
	open    bool                // it is still to be told of
	early   bool                // it was told of without the zones of lanes that are away
	began   time.Time
	busy    time.Duration
	request int64
}

func newGroup(commit string, ids []edge.Scope, tokens bool) group {
	g := group{commit: commit, all: ids, left: make(map[edge.Scope]bool, len(ids)), tokens: tokens, open: true, began: time.Now()}
	for _, id := range ids {
		g.left[id] = true
	}
	return g
}

// wholeGroup is one of all zones that a generation declares.
func wholeGroup(of *control.Generation, tokens bool) group {
	g := newGroup(of.State.Commit, nil, tokens)
	g.whole, g.left = of, make(map[edge.Scope]bool, of.State.Zones())
	for id := range of.Zones() {
		g.left[id] = true
	}
	return g
}

// union are the zones of both, each once.
func union(all, more []edge.Scope) []edge.Scope {
	have := make(map[edge.Scope]bool, len(all))
	for _, id := range all {
		have[id] = true
	}
	all = slices.Clip(all)
	for _, id := range more {
		if !have[id] {
			all = append(all, id)
		}
	}
	return all
}

// zones are those that it is about.
func (g *group) zones() iter.Seq[edge.Scope] {
	if g.whole != nil {
		return g.whole.Zones()
	}
	return slices.Values(g.all)
}

// trigger is what the report of a group says to have caused it.
func (g *group) trigger() reconcile.Trigger {
	if g.whole != nil {
		return reconcile.TriggerSweep
	}
	return reconcile.TriggerSync
}

func (g *group) done() bool { return g.open && len(g.left) == 0 && !g.tokens }

// missing returns the lanes whose zones of a group are all that is left, and why nothing is
// to be expected of each; nil while something is, or where no lane has done its part.
func (g *group) missing(lanes *lanes, in *control.Generation, now time.Time) map[*lane]string {
	if !g.open || g.early || g.tokens || len(g.left) == 0 {
		return nil
	}
	left, whole := map[*lane]string{}, map[*lane]bool{}
	for id := range g.zones() {
		lane := lanes.at(in, id)
		switch {
		case lane == nil:
		case g.left[id]:
			left[lane] = ""
		default:
			whole[lane] = true
		}
	}
	for lane := range left {
		progress := lane.lastProgress(g.began)
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

// renamed is a group in which zones have other ids, as they are declared now.
func (g group) renamed(ids map[edge.Scope]edge.Scope, now *control.Generation) group {
	if g.whole != nil {
		g.whole = now
	}
	left := maps.Clone(g.left)
	g.all = slices.Clone(g.all)
	for i, before := range g.all {
		if id, ok := ids[before]; ok {
			g.all[i] = id
		}
	}
	for before := range ids { // all of them first: one may have the id that another one had
		delete(left, before)
	}
	for before, id := range ids {
		if g.left[before] {
			left[id] = true
		}
	}
	g.left = left
	return g
}

// over is a turn that goes on over another generation: zones that were not declared before are
// still to be read.
func (g group) over(next *control.Generation) group {
	differs, same, ok := next.Differs(g.whole)
	if !ok {
		differs = slices.Collect(next.Zones())
	}
	for _, id := range differs {
		if !g.whole.Declares(id) {
			g.left[id] = true
		}
	}
	if !same {
		maps.DeleteFunc(g.left, func(id edge.Scope, _ bool) bool { return !next.Declares(id) })
	}
	g.commit, g.whole = next.State.Commit, next
	return g
}

// found is what the latest look at a zone has found, and what came of it.
type found struct {
	changes  []diff.Change
	problems []diff.Problem
	results  []reconcile.Result
	made     int // of the results, the first: their changes were found, and are not among changes
}

func (f *found) add(other found) {
	for _, result := range other.results[:other.made] {
		f.changes = append(f.changes, result.Change)
	}
	f.changes = append(f.changes, other.changes...)
	f.problems = append(f.problems, other.problems...)
	f.results = append(f.results, other.results...)
}

// unread is what is found of a zone that was not read, and why.
func unread(t zone.Task, reason string) found {
	return found{problems: []diff.Problem{{
		Account: t.Account().Key, Zone: t.Zone().Key, Scope: t.Zone().Scope, State: diff.Unknown, Reason: reason,
		Hint: "the zone is read as soon as the credential works", Origin: t.Zone().Origin.At(t.State.Commit),
	}}}
}

// light is what a look has found without what is large: bodies of requests, and fields.
// A commit may change ten thousand zones.
func (r *reports) light(plan diff.Plan, results []reconcile.Result) found {
	f := found{problems: plan.Problems}
	for _, made := range results {
		made.Change, made.Left = r.lightChange(made.Change), nil
		f.results = append(f.results, made)
	}
	for _, c := range plan.Changes {
		c = r.lightChange(c)
		if f.made < len(f.results) && reflect.DeepEqual(f.results[f.made].Change, c) {
			f.made++
		} else {
			f.changes = append(f.changes, c)
		}
	}
	return f
}

// lightChange is a change without what is large. What is left of its operation is mostly what is left of the
// one before: it is kept once.
func (r *reports) lightChange(c diff.Change) diff.Change {
	c = c.Light()
	if reflect.DeepEqual(c.Operation, r.operation) {
		c.Operation = r.operation
	}
	r.operation = c.Operation
	return c
}
