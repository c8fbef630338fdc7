package control

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// noted notes the last acceptance.
type noted struct {
	*reconcile.Forgetful
	last reconcile.Acceptance
	fail bool
}

func (n *noted) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	if n.fail {
		return context.DeadlineExceeded
	}
	n.last = a
	return n.Forgetful.AcceptCommit(ctx, a)
}

// movedGuards have each kind of setting that selects zones.
func movedGuards() reconcile.Guards {
	one, zero := guard.Labels{"tier": "1"}, guard.Labels{"tier": "0"}
	return reconcile.Guards{
		Shrink: guard.Shrink{Floor: 1000},
		Rules: []guard.Rule{
			{Name: "all", Changes: &guard.Limit{Percent: new(50)}},
			{Name: "one", Labels: one, Weakening: &guard.Limit{Count: new(3)}},
			{Name: "two", Labels: zero, Approve: guard.ApproveWeakening},
		},
		Freezes:  []reconcile.Freeze{{Name: "f", Labels: zero}},
		Waves:    []reconcile.Wave{{Labels: one}, {Percent: 30}},
		Observe:  []guard.Observe{{Setting: "accounts.a1.mode", Account: "a1"}},
		Accounts: guard.Accounts{Settings: map[string]guard.AccountSettings{"a1": {Credential: "a1"}}},
	}
}

// Whatever commits say and whatever becomes of zones between them: what is kept from one generation
// to the next is what comes of all zones of the last one.
func TestWhatIsKeptIsThatOfAllZones(t *testing.T) {
	followed := 0
	rapid.Check(t, func(t *rapid.T) {
		m := &movedLife{T: t, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), records: &noted{Forgetful: &reconcile.Forgetful{}}, now: time.Unix(1e9, 0)}
		m.begin()
		m.state = firstDrawn()
		for n := range rapid.IntRange(2, 25).Draw(t, "commits") {
			m.records.fail = n > 0 && rapid.IntRange(0, 15).Draw(t, "the ledger fails") == 0
			if m.push(n) {
				m.check()
			}
			if k := &m.control.state.zones.known; k.of == m.control.Current().self && m.control.Current().since != nil {
				followed++
			}
			for range rapid.IntRange(0, 6).Draw(t, "steps") {
				m.step()
				m.work()
			}
		}
	})
	if followed == 0 {
		t.Error("no generation was worked out from the one before")
	}
}

type movedLife struct {
	*rapid.T
	random  *rand.Rand
	records *noted
	control *Control
	state   desired.State
	now     time.Time
}

func (m *movedLife) begin() {
	c, err := New(m.Context(), Config{
		Records: m.records, Guards: movedGuards(), Now: func() time.Time { return m.now }, DriftFor: time.Hour,
		Foresee: func(t zone.Task) (diff.Plan, bool) { return diff.Plan{}, len(t.Zone().Scope.ID)%5 > 0 },
	})
	if err != nil {
		m.Fatal(err)
	}
	m.control = c
}

// push proposes the next commit, and once more where the ledger does not take it; false where it is
// held.
func (m *movedLife) push(n int) bool {
	m.state = drawn(m.random, m.state, n)
	before := map[edge.Scope]diff.Pruning{}
	for id, z := range m.control.state.zones.records {
		before[id] = z.prunable
	}
	d, err := m.control.Propose(m.Context(), reconcile.Proposal{Commit: m.state.Commit, State: m.state})
	switch {
	case err == nil && d.Held != nil: // it shrinks
		m.state, m.records.fail = m.control.Current().State, false
		return false
	case m.records.fail && err != nil:
		m.records.fail = false
		d, err = m.control.Propose(m.Context(), reconcile.Proposal{Commit: m.state.Commit, State: m.state})
	case m.records.fail:
		m.Fatal("it does not say that the ledger has failed")
	}
	if err != nil || d.Accepted == nil {
		m.Fatalf("%v, %+v", err, d.Held)
	}
	var keep []diff.ID
	var gone []edge.Scope
	for id, prunable := range before {
		if !d.Accepted.Declares(id) {
			gone = append(gone, id)
			continue
		}
		_, declared := d.Accepted.At(id)
		for of, p := range prunable {
			if stays(declared, of.Kind, p.Deployment) {
				keep = append(keep, of)
			}
		}
	}
	if d.Accepted.sought > 0 {
		gone = nil
	}
	sortIDs(keep)
	slices.SortFunc(gone, edge.Scope.Compare)
	if slices.SortFunc(m.records.last.Gone, edge.Scope.Compare); !slices.Equal(m.records.last.Gone, gone) || !slices.Equal(m.records.last.Keep, keep) {
		m.Fatalf("on record are to be gone %v and to stay %v, want %v and %v", m.records.last.Gone, m.records.last.Keep, gone, keep)
	}
	return true
}

// step lets something become of a zone.
func (m *movedLife) step() {
	c, g := m.control, m.control.Current()
	all := slices.Collect(g.Zones())
	id := all[m.random.IntN(len(all))]
	t, _ := c.Task(g, id)
	change := diff.Change{
		Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: t.Account().Key, Zone: t.Zone().Key, Scope: id, Deployment: "core",
		Direction: rapid.SampledFrom([]diff.Direction{diff.Weakens, diff.Strengthens}).Draw(m.T, "direction"),
	}
	switch rapid.SampledFrom([]string{"prove", "prove", "prove", "read", "write", "write", "wait", "time", "restart"}).Draw(m.T, "step") {
	case "prove":
		m.must(c.Proved(m.Context(), t, allSettled(t)))
	case "read":
		c.Read(id)
	case "write":
		if _, err := c.Permit(m.Context(), t, change, change); err != nil && !errors.Is(err, reconcile.ErrSuperseded) {
			m.Fatal(err)
		}
	case "wait":
		change.Refused = &diff.Refusal{Guard: diff.GuardApproval}
		_, err := c.Note(m.Context(), Outcome{Scope: id, Fingerprint: t.Fingerprint, Plan: diff.Plan{Changes: []diff.Change{change}}})
		m.must(err)
	case "time":
		m.now = m.now.Add(25 * time.Minute)
	case "restart":
		m.must(c.SaveState(m.Context(), g))
		m.begin()
	}
}

func (m *movedLife) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// check works everything out again, from all zones.
func (m *movedLife) check() {
	s, g := &m.control.state, m.control.Current()
	whole := &state{}
	whole.init(m.control.Config)
	whole.zones.records, whole.zones.onRecord = s.zones.records, s.zones.onRecord
	whole.limits.drifts, whole.limits.sent = slices.Clone(s.limits.drifts), maps.Clone(s.limits.sent)
	whole.current.Store(g)
	whole.publish(g)
	for what, pair := range map[string][2]any{
		"the memory":             {s.zones.memory, whole.zones.memory},
		"the base of drift":      {s.limits.driftBase, whole.limits.driftBase},
		"the base of the commit": {s.limits.commitBase, whole.limits.commitBase},
		"the tally of drift":     {s.limits.drift, whole.limits.drift},
		"the last drifts":        {s.limits.newest, whole.limits.newest},
		"commit work":            {s.zones.commitWork(g), whole.zones.commitWork(g)},
		"what is not declared":   {s.zones.undeclared(g), whole.zones.undeclared(g)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			m.Fatalf("%s: %s is\n%+v, want\n%+v", g.State.Commit, what, pair[0], pair[1])
		}
	}
	m.work()
	for id := range s.waiting.zones {
		if !g.Declares(id) {
			m.Fatalf("zone %s waits and is not declared", id)
		}
	}
}

// work looks for commit work in all zones.
func (m *movedLife) work() {
	s, g := &m.control.state, m.control.Current()
	var work []edge.Scope
	for id := range g.Zones() {
		if s.zones.unproved(g, id) {
			work = append(work, id)
		}
	}
	if !slices.Equal(s.zones.commitWork(g), work) {
		m.Fatalf("commit work is %v, want %v", s.zones.commitWork(g), work)
	}
}
