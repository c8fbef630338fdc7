package control

import (
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// Approvals expire unless a rollout has begun on them, and that goes on record.
func TestApprovalsExpire(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := noon
	records := &reconcile.Forgetful{}
	c, err := New(t.Context(), Config{
		Records: records, Now: func() time.Time { return now },
		Guards: reconcile.Guards{ApprovalsExpire: 7 * 24 * time.Hour, Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveAll}}},
	})
	must.Do(t, err)
	tick := func(at time.Duration, want ...string) {
		t.Helper()
		now = noon.Add(at)
		if _, err := c.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		standing, err := records.Standing(t.Context())
		if err != nil || len(standing.Approvals) != len(want) || len(c.state.approvals.digests) != len(want) {
			t.Errorf("after %v: on record %+v, counted %v, want %v", at, standing.Approvals, c.state.approvals.digests, want)
		}
		for _, digest := range want {
			if !c.state.approvals.digests[digest] {
				t.Errorf("after %v: %s does not count", at, digest)
			}
		}
	}
	early, late := reconcile.Approval{Digest: "early", Kind: reconcile.Approved, At: noon}, reconcile.Approval{Digest: "late", Kind: reconcile.Approved, At: noon.Add(48 * time.Hour)}
	used := reconcile.Approval{Digest: "used", Kind: reconcile.Approved, At: noon}
	must.Do(t, records.Approve(t.Context(), []reconcile.Approval{early, late, used}))
	tick(time.Hour, "early", "late", "used")
	c.state.approvals.used.add("used")
	tick(2*time.Hour, "early", "late", "used")
	if standing, _ := records.Standing(t.Context()); !standing.Approvals[2].Used {
		t.Errorf("on record %+v", standing.Approvals)
	}
	tick(7*24*time.Hour-time.Second, "early", "late", "used")
	tick(7*24*time.Hour, "late", "used")
	tick(9*24*time.Hour, "used")
	tick(900*24*time.Hour, "used")
}

// An approval counts as used from when a change that it approves of passes the guards.
func TestApprovalIsUsed(t *testing.T) {
	change := diff.Change{Zone: "a", Approved: true, Operation: diff.RuleOperation{Do: diff.ActionUpdate, Body: edge.Rule{Expression: "true"}}}
	digest := change.ApprovalDigest()
	var a approvals
	a.restore([]reconcile.Approval{{Digest: digest}})
	a.divide(diff.Plan{Changes: []diff.Change{change}}, time.Time{})
	a.divide(diff.Plan{Changes: []diff.Change{change}}, time.Time{})
	if !slices.Equal(a.used.list, []string{digest}) || len(a.divided.single) != 0 {
		t.Errorf("used %v, divided %+v", a.used.list, a.divided)
	}
	other := change
	other.Approved, other.Deployment = false, "b"
	a = approvals{}
	a.restore([]reconcile.Approval{{Digest: other.ApprovalDigest()}})
	if a.divide(diff.Plan{Changes: []diff.Change{other}}, time.Time{}); len(a.used.list) != 0 {
		t.Errorf("used %v", a.used.list)
	}
}
