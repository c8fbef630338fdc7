package control

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// marked are records with a mark, which return what there is of all zones as what has changed since, unless
// the mark is not theirs any more. Whatever is set is called during a call, or after it.
type marked struct {
	*reconcile.Forgetful
	number   int64
	lost     bool // the mark
	newer    int64
	restored int
	after    func(*reconcile.Record) // after what is on record was read
	proved   func()                  // after a proof is on record
	tallied  error
}

func (m *marked) Restore(ctx context.Context) (reconcile.Record, error) {
	m.number++
	r, err := m.Forgetful.Restore(ctx)
	r.Mark = reconcile.Mark{Number: m.number}
	if m.after != nil {
		m.after(&r)
	}
	return r, err
}

func (m *marked) RestoreSince(ctx context.Context, known reconcile.Known) (reconcile.Record, error) {
	m.restored++
	r, err := m.Restore(ctx)
	if !m.lost {
		r.Only = slices.AppendSeq(slices.Collect(maps.Keys(r.Proofs)), slices.Values(known.Zones))
		slices.SortFunc(r.Only, edge.Scope.Compare)
		r.Only = slices.Compact(r.Only)
	}
	return r, err
}

func (m *marked) Newer(context.Context, reconcile.Mark) (int64, error) { return m.newer, nil }

func (m *marked) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	err := m.Forgetful.Prove(ctx, commit, proofs, settled, results...)
	if m.proved != nil {
		m.proved()
	}
	return err
}

func (m *marked) Tallied(ctx context.Context, after int64) ([]reconcile.Count, error) {
	if m.tallied != nil {
		return nil, m.tallied
	}
	return m.Forgetful.Tallied(ctx, after)
}

// markedFleet is a control over such records, which leads and has counted a commit that changes 40 zones;
// none of them is to be read for that. From then on nothing is known of what was last seen.
func markedFleet(t *testing.T) (*Control, *marked) {
	t.Helper()
	records, seen := &marked{Forgetful: &reconcile.Forgetful{}}, true
	c, err := New(t.Context(), Config{
		Records: records, Now: time.Now, Shared: true, Guards: reconcile.Guards{Rules: sharesOf(20)},
		Foresee: func(zone.Task) (diff.Plan, bool) { return diff.Plan{}, seen },
	})
	must.Do(t, err)
	var zones []desired.Zone
	for i := range 40 {
		id := edge.ZoneID(rune('A' + i))
		zones = append(zones, desired.Zone{Key: string(id), Scope: edge.ZoneScope(id), Deployments: []desired.Deployment{{Ruleset: "core"}}})
	}
	state := labelled("c1", zones...)
	d, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: state.Commit})
	must.Do(t, err)
	must.Do(t, c.SaveState(t.Context(), d.Accepted))
	reload(t, c)
	if c.state.counting() {
		t.Fatal("the commit is not counted")
	}
	seen = false
	return c, records
}

func reload(t *testing.T, c *Control) {
	t.Helper()
	_, err := c.Reload(t.Context())
	must.Do(t, err)
}

// others has another process prove some zones of the commit in force.
func (m *marked) others(t *testing.T, c *Control, ids ...edge.Scope) {
	t.Helper()
	g := c.Current()
	var proofs []reconcile.Proof
	for _, id := range ids {
		proofs = append(proofs, reconcile.Proof{Scope: id, Fingerprint: g.declaration(id), Commit: g.State.Commit})
	}
	must.Do(t, m.Forgetful.Prove(t.Context(), g.State.Commit, proofs, nil))
}

// counts are what a commit under way is counted by.
type counts struct {
	g       *Generation
	commit  map[edge.Scope]bool
	unseen  map[edge.Scope]bool
	waiting map[edge.Scope]waitReasons
	whole   *reconcile.Count
	counted int64
	weighs  bool
	fresh   bool
}

func countsOf(c *Control) counts {
	l := &c.state.limits
	all := counts{g: c.Current(), unseen: maps.Clone(l.unseen), waiting: maps.Clone(c.state.waiting.zones), whole: l.whole, counted: l.counted, weighs: l.weighs, fresh: l.fresh}
	if l.commit != nil {
		all.commit = maps.Collect(l.commit.Zones())
	}
	return all
}

// What others prove of a commit that is under way is taken in without a word about what the commit
// changes: nothing is counted anew, no zone is to be read for it, and none is released.
func TestCatchingUpCountsNothing(t *testing.T) {
	c, records := markedFleet(t)
	told := map[edge.Scope]int{}
	c.Told = func(id edge.Scope) { told[id]++ }
	ids := slices.Collect(c.Current().Zones())
	records.others(t, c, ids[:30]...)
	if behind, err := c.FallsBehind(t.Context()); err != nil || behind {
		t.Errorf("it falls behind (%v) by nothing, %v", behind, err)
	}
	records.newer = manyNewer
	if behind, err := c.FallsBehind(t.Context()); err != nil || !behind {
		t.Fatalf("it does not fall behind, %v", err)
	}
	before := countsOf(c)
	must.Do(t, c.CatchUp(t.Context()))
	if after := countsOf(c); !reflect.DeepEqual(before, after) {
		t.Errorf("it counts by\n%+v, before by\n%+v", after, before)
	}
	if unread := Uncounted(c); len(unread) > 0 || c.state.counting() {
		t.Errorf("%d zones are to be read to count a commit that is counted", len(unread))
	}
	if work := c.state.zones.commitWork(c.Current()); len(work) != 10 || len(told) != 30 {
		t.Errorf("%d zones are not proved, want 10; %d are told, want 30", len(work), len(told))
	}
	ticked, err := c.Tick(t.Context())
	must.Do(t, err)
	if len(ticked.Released) > 0 {
		t.Errorf("%d zones are released", len(ticked.Released))
	}
}

// Where more has changed than zones, nothing is taken in of it, and the next reload takes in all.
func TestCatchingUpLeavesTheRestToAReload(t *testing.T) {
	for name, change := range map[string]func(*marked){
		"the mark is not there":        func(m *marked) { m.lost = true },
		"another commit":               func(m *marked) { m.after = func(r *reconcile.Record) { r.Accepted.Commit = "c2" } },
		"it is to be read anew by now": func(*marked) {},
	} {
		c, records := markedFleet(t)
		ids := slices.Collect(c.Current().Zones())
		mine, _ := c.Task(c.Current(), ids[0])
		must.Do(t, c.Proved(t.Context(), mine, allSettled(mine)))
		records.others(t, c, ids[1])
		change(records)
		if name == "it is to be read anew by now" {
			records.after = func(*reconcile.Record) { c.Anew() }
		}
		must.Do(t, c.CatchUp(t.Context()))
		if _, ours := c.state.zones.ours[ids[0]]; !ours || !c.CommitWork(c.Current(), ids[1]) {
			t.Errorf("%s: something is taken in, or forgotten that was put on record here", name)
		}
		read := records.restored
		records.after = nil
		if must.Do(t, c.CatchUp(t.Context())); name != "another commit" && records.restored != read {
			t.Errorf("%s: it is read again and again", name)
		}
		if reload(t, c); c.CommitWork(c.Current(), ids[1]) {
			t.Errorf("%s: a reload does not take it in", name)
		}
	}
}

// A proof that goes on record while all that is there is read stays known, whichever of both is done
// first.
func TestAProofDuringAReadIsNotLost(t *testing.T) {
	for name, lost := range map[string]bool{"of some zones": false, "of everything": true} {
		for _, way := range []string{"it is on record before, and known after", "it is known first"} {
			c, records := markedFleet(t)
			id := slices.Collect(c.Current().Zones())[3]
			records.others(t, c, id) // so that a read of some zones has it
			task, _ := c.Task(c.Current(), id)
			records.lost = lost
			prove := func() { must.Do(t, c.Proved(t.Context(), task, allSettled(task))) }
			if way == "it is known first" {
				records.after = func(r *reconcile.Record) {
					records.after = nil
					older(r, id)
					prove()
				}
				reload(t, c)
			} else {
				records.proved = func() {
					records.proved = nil
					records.after = func(r *reconcile.Record) { records.after = nil; older(r, id) }
					reload(t, c)
				}
				prove()
			}
			if c.CommitWork(c.Current(), id) {
				t.Errorf("a read %s, %s: the proof is lost", name, way)
			}
			if owned := len(c.state.zones.of(id).applied); owned != 1 {
				t.Errorf("a read %s, %s: it owns %d deployments, want 1", name, way, owned)
			}
			if reload(t, c); c.CommitWork(c.Current(), id) || len(c.state.zones.of(id).applied) != 1 {
				t.Errorf("a read %s, %s: the next read does not have it", name, way)
			}
		}
	}
}

// older has a record be of before a zone was proved.
func older(r *reconcile.Record, id edge.Scope) {
	p := r.Proofs[id]
	p.Fingerprint = "before"
	r.Proofs[id] = p
	maps.DeleteFunc(r.Applied, func(of diff.ID, _ []diff.Member) bool { return of.Scope == id })
}

// What this process has put on record is read again also after a read that has failed.
func TestAFailedReadForgetsNothing(t *testing.T) {
	c, records := markedFleet(t)
	id := slices.Collect(c.Current().Zones())[3]
	task, _ := c.Task(c.Current(), id)
	must.Do(t, c.Proved(t.Context(), task, allSettled(task)))
	records.tallied = errors.New("away")
	if _, err := c.Reload(t.Context()); err == nil {
		t.Fatal("it does not fail")
	}
	if _, ours := c.state.zones.ours[id]; !ours {
		t.Error("what was put on record here is not read again")
	}
}
