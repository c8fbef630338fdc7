package control

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// A drift that was noted while the clock was ahead does not keep those noted afterwards from being
// forgotten in their time.
func TestDriftsAreForgottenThoughTheClockWentBack(t *testing.T) {
	now := time.Unix(1e9, 0)
	a, b := edge.ZoneScope("a"), edge.ZoneScope("b")
	l := newLimits(guard.Facts{Now: now, Rules: []guard.Rule{{Name: "all"}}}, nil, time.Hour, nil)
	l.drifted(reconcile.Drift{Scope: a, At: now.Add(1000 * time.Hour)})
	l.drifted(reconcile.Drift{Scope: b, At: now})
	l.forget(now.Add(2 * time.Hour))
	if !l.drift.Covers(a, false) || l.drift.Covers(b, false) {
		t.Errorf("counted are %+v", l.drifts)
	}
}

// A look that ends after its zone has left does not have it wait for ever.
func TestNothingWaitsThatIsGone(t *testing.T) {
	c, err := New(t.Context(), Config{Records: &reconcile.Forgetful{}, Now: func() time.Time { return time.Unix(1e9, 0) }})
	must.Do(t, err)
	state := firstDrawn()
	task := newGeneration(state, nil)
	gone := state.Accounts[0].Zones[0]
	state.Commit, state.Accounts[0].Zones = "c1", state.Accounts[0].Zones[1:]
	if d, err := c.Propose(t.Context(), reconcile.Proposal{Commit: "c1", State: state}); err != nil || d.Accepted == nil {
		t.Fatalf("%+v, %v", d.Held, err)
	}
	held := diff.Change{Scope: gone.Scope, Refused: &diff.Refusal{Guard: diff.GuardFreeze}}
	_, err = c.Note(t.Context(), Outcome{Scope: gone.Scope, Fingerprint: task.declaration(gone.Scope), Plan: diff.Plan{Changes: []diff.Change{held}}})
	must.Do(t, err)
	state.Commit, state.Tokens = "c2", []desired.Token{{Key: "t"}}
	if d, err := c.Propose(t.Context(), reconcile.Proposal{Commit: "c2", State: state}); err != nil || d.Accepted == nil {
		t.Fatalf("%+v, %v", d.Held, err)
	}
	if all, timely := c.Waiting(); all+timely != 0 {
		t.Errorf("%d zones wait, %d of them for a time", all, timely)
	}
}
