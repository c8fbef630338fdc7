package control

import (
	"context"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// fenced are records that refuse what is written under a lease of an earlier epoch.
type fenced struct {
	*reconcile.Forgetful
	epoch int64
}

func (f *fenced) Roll(ctx context.Context, change func(reconcile.Rollout) reconcile.Rollout) error {
	if lease, under := reconcile.LeaseIn(ctx); under && lease.Epoch < f.epoch {
		return reconcile.ErrLeaseLost
	}
	return f.Forgetful.Roll(ctx, change)
}

// What a process has found by a lease that another has by now does not halt the waves: the other may
// have made it good.
func TestALateOutcomeIsNotRecorded(t *testing.T) {
	records := &fenced{&reconcile.Forgetful{}, 2}
	waves := []reconcile.Wave{{Count: 1, Halt: careful}}
	c, err := New(t.Context(), Config{Records: records, Guards: reconcile.Guards{Waves: waves}, Now: time.Now, Shared: true})
	must.Do(t, err)
	state := labelled("c1", desired.Zone{Key: "y", Scope: edge.ZoneScope("y")}, desired.Zone{Key: "z", Scope: edge.ZoneScope("z")})
	if _, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: state.Commit}); err != nil {
		t.Fatal(err)
	}
	fail := func(epoch int64) string {
		t.Helper()
		ctx := reconcile.Under(t.Context(), reconcile.Lease{Name: "credential a", Epoch: epoch})
		for id := range c.Current().Zones() {
			_, err := c.Note(ctx, Outcome{
				Scope: id, Fingerprint: c.Current().declaration(id), Plan: diff.Plan{Problems: []diff.Problem{{State: diff.Unknown}}},
			})
			must.Do(t, err)
		}
		if _, err := c.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		record, err := records.Restore(t.Context())
		must.Do(t, err)
		return record.Rollout.Halted
	}
	if halted := fail(1); halted != "" || len(c.state.rollout.outcomes)+len(c.state.rollout.under) > 0 {
		t.Errorf("what is late was recorded (%q), or is kept: %v", halted, c.state.rollout.outcomes)
	}
	if halted := fail(2); halted == "" || len(c.state.rollout.outcomes)+len(c.state.rollout.under) > 1 {
		t.Errorf("the holder's was not recorded, or is kept: %v", c.state.rollout.outcomes)
	}
}

// Only who decides about commits lets zones leave settings: another may be behind, and what it knows
// to be declared is older than what is on record.
func TestOnlyWhoLeadsLetsZonesLeave(t *testing.T) {
	records := &reconcile.Forgetful{}
	leads := false
	c, err := New(t.Context(), Config{
		Records: records, Guards: guarded, Now: time.Now, Shared: true, Leads: func() (reconcile.Lease, bool) { return reconcile.Lease{}, leads },
	})
	must.Do(t, err)
	z, anchor := desired.Zone{Key: "z", Scope: edge.ZoneScope("z")}, desired.Zone{Key: "anchor", Scope: edge.ZoneScope("anchor")}
	for _, state := range []desired.State{labelled("c1", anchor, goldZone(edge.ZoneScope("z"))), labelled("c2", anchor, z)} {
		if _, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: state.Commit}); err != nil {
			t.Fatal(err)
		}
	}
	leaving := c.state.zones.memory.leaving
	if len(leaving) != 1 {
		t.Fatalf("leaving %+v", leaving)
	}
	must.Do(t, records.Approve(t.Context(), []reconcile.Approval{{Digest: leaving[0].Digest, Kind: reconcile.Approved, Who: "ann", At: time.Now()}}))
	for _, leads = range []bool{false, true} {
		if _, err := c.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		standing, err := records.Standing(t.Context())
		must.Do(t, err)
		if left := len(c.state.zones.memory.leaving) == 0; left != leads || len(standing.Approvals) == 0 != leads {
			t.Errorf("leads: %v, it has left: %v, and there are approvals: %+v", leads, left, standing.Approvals)
		}
	}
}

// halted are records in which the waves are halted right before a commit is accepted.
type halted struct {
	*reconcile.Forgetful
	commit string
}

func (h *halted) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	if a.Commit == h.commit {
		h.commit = ""
		if err := h.Roll(ctx, func(o reconcile.Rollout) reconcile.Rollout { o.Halted = "1 of 1 failed"; return o }); err != nil {
			return err
		}
	}
	return h.Forgetful.AcceptCommit(ctx, a)
}

// A halt that another process sets while a commit is decided about stays, and is one of that commit.
func TestHaltedWhileACommitIsDecided(t *testing.T) {
	records := &halted{&reconcile.Forgetful{}, "c2"}
	c, err := New(t.Context(), Config{Records: records, Guards: reconcile.Guards{Waves: []reconcile.Wave{{Count: 1, Halt: careful}}}, Now: time.Now, Shared: true})
	must.Do(t, err)
	for _, commit := range []string{"c1", "c2"} {
		state := labelled(commit, desired.Zone{Key: "y", Scope: edge.ZoneScope("y")}, desired.Zone{Key: "z", Scope: edge.ZoneScope("z")})
		if d, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: commit}); err != nil || d.Accepted == nil {
			t.Fatalf("%s: %+v %v", commit, d, err)
		}
	}
	on, err := records.Restore(t.Context())
	must.Do(t, err)
	if on.Rollout.Commit != "c2" || on.Rollout.Halted == "" || c.Rollout() == nil || c.Rollout().Halted == "" {
		t.Errorf("on record is %+v, known is %+v", on.Rollout, c.Rollout())
	}
}
