package controller

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/queue"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// still is a controller that does not run, whose looks and proofs are made up.
type still struct {
	*Controller
	t       testT
	records *reconciletest.Records
	looks   map[edge.Scope]*look // the last at each zone since it is declared
}

// shrinking lets a commit declare as little as it likes.
var shrinking = reconcile.Guards{Shrink: guard.Shrink{Floor: 1000}}

func newStill(t testT, records *reconciletest.Records) *still {
	t.Helper()
	repo := reconciletest.NewRepo()
	c, err := New(context.Background(), Config{
		Source:  source.New(source.Config{Source: repo, Compiler: repo, Now: time.Now}),
		Lanes:   reconcile.OneLane(reconcile.Lane{}),
		Records: records,
		Guards:  shrinking,
	})
	must.Do(t, err)
	return &still{c, t, records, map[edge.Scope]*look{}}
}

// propose has a commit in force.
func (s *still) propose(state desired.State) {
	s.t.Helper()
	if held := s.proposed(state); held != nil {
		s.t.Fatalf("%s is held: %+v", state.Commit, held)
	}
}

// proposed proposes a commit that may be held: one that leaves nothing of all that is known
// to exist is.
func (s *still) proposed(state desired.State) *reconcile.Held {
	s.t.Helper()
	d, err := s.control.Propose(context.Background(), reconcile.Proposal{State: state})
	must.Do(s.t, err)
	if d.Accepted != nil {
		s.commits.accept(d)
	}
	return d.Held
}

// look has a look at a zone end so.
func (s *still) look(id edge.Scope, plan diff.Plan) {
	l := &look{item: itemsOf([]edge.Scope{id}, queue.Sweep, "")[0], generation: s.control.Current(), plan: plan}
	s.outcomes.note(l, time.Now())
	if l.generation != nil && l.generation.Declares(id) {
		s.looks[id] = l
	}
}

// prove has a zone proved as it is declared, with its one deployment.
func (s *still) prove(id edge.Scope) error {
	g := s.control.Current()
	if g == nil || !g.Declares(id) {
		return nil
	}
	task, _ := s.control.Task(g, id)
	return s.control.Proved(context.Background(), task, []diff.Settled{{ID: diff.ID{Scope: id, Ruleset: mem.CoreRuleset}}})
}

// acceptElsewhere has another process accept a commit, and prove what it declares.
func (s *still) acceptElsewhere(c *control.Control, state desired.State, kept bool) (held bool) {
	s.t.Helper()
	ctx := context.Background()
	d, err := c.Propose(ctx, reconcile.Proposal{State: state})
	must.Do(s.t, err)
	if d.Accepted == nil {
		return true
	}
	if kept {
		must.Do(s.t, c.SaveState(ctx, d.Accepted))
	}
	for id := range d.Accepted.Zones() {
		task, _ := c.Task(d.Accepted, id)
		must.Do(s.t, c.Proved(ctx, task, []diff.Settled{{ID: diff.ID{Scope: id, Ruleset: mem.CoreRuleset}}}))
	}
	return false
}

// walk works out what the rows should be from all that is known, and uses nothing that is kept.
func (s *still) walk() (list []inspect.Row) {
	g := s.control.Current()
	if g == nil {
		return nil
	}
	maps.DeleteFunc(s.looks, func(id edge.Scope, _ *look) bool { return !g.Declares(id) })
	for account, z := range g.State.EachZone() {
		row := inspect.Row{Zone: z.Key, Scope: z.Scope, Account: account.Key, Labels: z.Labels, Outcome: inspect.InSync}
		row.May = inspect.ZoneLabels{Declared: z.Labels, Proved: s.control.LastProof(g, z.Scope).Labels}
		var decisions []inspect.Decision
		l := s.looks[z.Scope]
		if l != nil {
			decisions, _ = decide(l)
		}
		switch {
		case len(decisions) > 0:
			row.Outcome = inspect.Worst(decisions)
			row.Reason = decisions[slices.IndexFunc(decisions, func(d inspect.Decision) bool { return d.Outcome == row.Outcome })].Reason
			if i := slices.IndexFunc(decisions, func(d inspect.Decision) bool { return d.Approve != "" }); i >= 0 {
				row.Approve = decisions[i].Approve
			}
		case s.control.CommitWork(g, z.Scope):
			row.Outcome, row.Reason = inspect.Pending, notChecked
		case l == nil:
			row.Outcome = inspect.NotRead
		}
		_, row.Held = diff.HoldOn(s.control.Holds(), z.Key, z.Scope)
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b inspect.Row) int { return cmp.Or(cmp.Compare(a.Zone, b.Zone), a.Scope.Compare(b.Scope)) })
	return list
}

// bare is a row without what the walk does not work out.
func bare(r inspect.Row) inspect.Row {
	r.Since, r.LookedAt, r.Origin = time.Time{}, time.Time{}, desired.Origin{}
	return r
}

// pages are all rows that a query selects, page by page.
func (s *still) pages(q inspect.FleetQuery) (all []inspect.Row, first inspect.Fleet) {
	s.t.Helper()
	for {
		page, err := s.Fleet(q)
		must.Do(s.t, err)
		if q.After == "" {
			first = page
		}
		all = append(all, page.Zones...)
		if q.After = page.Next; q.After == "" {
			return all, first
		}
	}
}

// check fails where what is kept is not what the walk works out.
func (s *still) check(q inspect.FleetQuery) {
	s.t.Helper()
	var want []inspect.Row
	seen := map[inspect.Outcome]int{}
	declared := 0
	for _, r := range s.walk() {
		if q.May != nil && !q.May(r.May) {
			continue
		}
		declared++
		seen[r.Outcome]++
		if len(q.Outcomes) > 0 && !slices.Contains(q.Outcomes, r.Outcome) || q.Account != "" && r.Account != q.Account ||
			!guard.Labels(q.Labels).Selects(r.Labels) || !strings.Contains(strings.ToLower(r.Zone), strings.ToLower(q.Text)) && !strings.Contains(r.Scope.ID, strings.ToLower(q.Text)) {
			continue
		}
		if q.May != nil && r.Reason == "too many" { // that is of other zones, too
			r.Reason = "it is one of more changes than guards allow at once"
		}
		want = append(want, r)
	}
	got, first := s.pages(q)
	if len(got) != len(want) || first.Matches != len(want) || first.Declared != declared {
		s.t.Fatalf("%+v: %d rows, %d match and %d are declared; want %d of %d", q, len(got), first.Matches, first.Declared, len(want), declared)
	}
	for i := range got {
		if !reflect.DeepEqual(bare(got[i]), want[i]) {
			s.t.Fatalf("%+v: row %d is\n%+v, want\n%+v", q, i, got[i], want[i])
		}
	}
	grid := s.Grid(q)
	for i, r := range want {
		if grid.Outcomes[i] != r.Outcome || grid.Scopes[i] != r.Scope {
			s.t.Fatalf("cell %d is %s of %s, want %s of %s", i, grid.Outcomes[i], grid.Scopes[i], r.Outcome, r.Scope)
		}
	}
	for _, outcome := range inspect.Outcomes() {
		if first.Outcomes[outcome] != seen[outcome] {
			s.t.Fatalf("%d zones are %s, want %d", first.Outcomes[outcome], outcome, seen[outcome])
		}
	}
}

// checkStatus fails where a status has other zones.
func (s *still) checkStatus() {
	s.t.Helper()
	rows, zones := s.walk(), s.Status().Zones
	notable := 0
	for _, r := range rows {
		zones.Outcomes[r.Outcome]--
		if l := s.looks[r.Scope]; l != nil && r.Outcome != inspect.PutBack {
			if decisions, _ := decide(l); len(decisions) > 0 {
				notable++
			}
		}
	}
	for outcome, n := range zones.Outcomes {
		if n != 0 {
			s.t.Fatalf("%d zones too many are %s", n, outcome)
		}
	}
	if zones.Declared != len(rows) || len(zones.Notable) != min(notable, inspect.MostListed) {
		s.t.Fatalf("%d are declared and %d stand out; want %d and %d", zones.Declared, len(zones.Notable), len(rows), notable)
	}
}
