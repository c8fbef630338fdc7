package control

import (
	"context"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// losing are records that lose what was counted, as a database does that was put back to an earlier time.
type losing struct {
	*reconcile.Forgetful
	lost    bool
	counted int
}

func (l *losing) Counted(ctx context.Context, c reconcile.Count) error {
	l.counted, l.lost = l.counted+1, false
	return l.Forgetful.Counted(ctx, c)
}

func (l *losing) Tallied(ctx context.Context, after int64) ([]reconcile.Count, error) {
	if l.lost {
		return nil, nil
	}
	return l.Forgetful.Tallied(ctx, after)
}

// Who decides about commits goes by what is on record of how much one changes, and not by what it has put
// there once: a process that starts later would wait for it for ever.
func TestWhatACommitChangesIsOnRecord(t *testing.T) {
	records := &losing{Forgetful: &reconcile.Forgetful{}}
	c, err := New(t.Context(), Config{
		Records: records, Now: time.Now, Shared: true,
		Guards:  reconcile.Guards{Rules: sharesOf(20)},
		Foresee: func(zone.Task) (diff.Plan, bool) { return diff.Plan{}, true },
	})
	must.Do(t, err)
	state := labelled("c1", desired.Zone{Key: "y", Scope: edge.ZoneScope("y")})
	if _, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: state.Commit}); err != nil {
		t.Fatal(err)
	}
	parts, err := c.saved.encode(state)
	must.Do(t, err)
	must.Do(t, records.SaveState(t.Context(), state.Commit, parts))
	for _, test := range []struct {
		lost    bool
		counted int
	}{{false, 1}, {true, 2}, {false, 2}} {
		records.lost = test.lost
		if _, err := c.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if records.counted != test.counted || c.state.counting() || c.state.limits.fresh != test.lost {
			t.Errorf("lost: %v: counted %d times, want %d; counting: %v, news: %v", test.lost, records.counted, test.counted, c.state.counting(), c.state.limits.fresh)
		}
		if _, err := c.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A commit that is accepted while git was not looked at yet is counted in full: its zones only wait.
func TestACommitIsCountedWhileGitWasNotLookedAt(t *testing.T) {
	records := &reconcile.Forgetful{}
	c, err := New(t.Context(), Config{
		Records: records, Now: time.Now, Shared: true, Guards: reconcile.Guards{Rules: []guard.Rule{{Name: "some", Changes: &guard.Limit{Count: new(3)}}}},
		Foresee: func(t zone.Task) (diff.Plan, bool) {
			return diff.Plan{Changes: []diff.Change{{
				Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: t.Account().Key, Zone: t.Zone().Key, Scope: t.Zone().Scope, Deployment: "core",
				Direction: diff.Weakens,
			}}}, true
		},
	})
	must.Do(t, err)
	records.GoBack(reconcile.Accepted{}, 7)
	must.Do(t, c.readStanding(t.Context()))
	var zones []desired.Zone
	for _, id := range []edge.ZoneID{"x", "y", "z"} {
		zones = append(zones, desired.Zone{Key: string(id), Scope: edge.ZoneScope(id), Deployments: []desired.Deployment{{Ruleset: "core"}}})
	}
	state := labelled("c2", zones...)
	if _, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: state.Commit}); err != nil {
		t.Fatal(err)
	}
	if whole := c.state.limits.whole; c.Unlooked() == 0 || whole == nil || len(whole.All) != 3 {
		t.Errorf("put back: %d, on record: %+v", c.Unlooked(), whole)
	}
}

// Records that were put back to an earlier time are read anew: what others count from then on has numbers
// that are known here as those of something else.
func TestCountsOfRecordsPutBack(t *testing.T) {
	records, news := &reconcile.Forgetful{}, reconcile.News{}
	c, err := New(t.Context(), Config{
		Records: records, Now: time.Now, Shared: true, Guards: reconcile.Guards{Rules: sharesOf(20)},
		Foresee: func(zone.Task) (diff.Plan, bool) { return diff.Plan{}, true }, News: func() (reconcile.News, bool) { return news, true },
	})
	must.Do(t, err)
	state := labelled("c1", desired.Zone{Key: "y", Scope: edge.ZoneScope("y")})
	if _, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: state.Commit}); err != nil {
		t.Fatal(err)
	}
	tick := func(want bool) {
		t.Helper()
		ticked, err := c.Tick(t.Context())
		must.Do(t, err)
		if ticked.PutBack != want {
			t.Errorf("put back: %v, want %v", ticked.PutBack, want)
		}
	}
	tick(false)
	c.state.limits.counted = 100 // of before
	news.PutBack++
	tick(true)
	tick(true) // until all was read anew
	if _, err := c.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	tick(false)
	must.Do(t, records.Tally(t.Context(), reconcile.Count{Scope: edge.ZoneScope("z"), Commit: "c1", At: time.Now(), By: "another"}, c.state.limits.counted, time.Time{}))
	news.Counted++
	c.Heed()
	tick(false)
	if n := c.state.limits.counted; n == 0 || n > 10 {
		t.Errorf("what others count is read up to %d", n)
	}
}
