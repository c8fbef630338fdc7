//go:build unix

package controller

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// To write a zone takes the same memory in any fleet while an approval of a commit of all zones
// stands for each of them: each of these approvals is spent with its own change.
func TestApprovedZoneCostsTheSameInAnyFleet(t *testing.T) {
	var smallest uint64
	for _, zones := range []int{100, 1000} { // 10,000 take a minute to prove, one by one
		f := newFleetOf(t, zones)
		f.Guards.Rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
		records, err := ledger.Open(t.TempDir() + "/ledger")
		must.Do(t, err)
		defer records.Close()
		f.Records = records
		f.open(t)
		f.prove(t)
		c := f.heart.control
		f.heart.commits.propose(t.Context(), reconcile.Proposal{Commit: "c1", State: f.state("c1", zones, 40)})
		approveAll(t, f, records)
		_, err = c.Tick(t.Context())
		must.Do(t, err)
		standing, err := records.Standing(t.Context())
		if err != nil || len(standing.Approvals) != zones {
			t.Fatalf("%d approvals count, %v; want one for each of %d zones", len(standing.Approvals), err, zones)
		}
		n := 0
		write := func() {
			n++
			f.heart.zones[0].work(t.Context(), queue.Item[edge.Scope]{Key: mem.FleetZone(n), Priority: queue.Bulk, Reason: "changed by a commit"})
		}
		bytes := bytesPerRun(20, write)
		standing, err = records.Standing(t.Context())
		if err != nil || len(standing.Approvals) != zones-n {
			t.Fatalf("%d approvals count, %v; want %d", len(standing.Approvals), err, zones-n)
		}
		if smallest == 0 {
			smallest = bytes
		}
		if t.Logf("one approved zone of %d: %d bytes", zones, bytes); bytes > smallest*3/2 {
			t.Errorf("one approved zone of %d takes %d bytes, and one of 100 %d", zones, bytes, smallest)
		}
	}
}

// approveAll agrees to all that the commit in force changes, as one.
func approveAll(t *testing.T, f *benchFleet, records *ledger.Ledger) {
	t.Helper()
	c := f.heart.control
	var changes []diff.Change
	for id := range c.Current().Zones() {
		task, _ := c.Task(c.Current(), id)
		plan, seen := f.heart.seen.plan(task)
		if !seen {
			t.Fatalf("zone %s was not seen", id)
		}
		changes = append(changes, plan.Changes...)
	}
	plan := diff.Gather("c1", len(changes), 0, changes, nil)
	must.Do(t, records.Approve(t.Context(), []reconcile.Approval{{Digest: plan.ApprovalDigest(), Kind: reconcile.Approved, Who: "kim"}}))
}
