package once

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
)

// A plan says that nothing is written before git was looked at; an apply has looked, and writes.
func TestPlanOfRecordsPutBack(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declareAll(1, core("xss"))...)
	f.converge(Order{})
	f.repo.Push("c2", declareAll(1, core("php"))...)
	f.records.GoBack(reconcile.Accepted{Commit: "c1"}, 7)
	plan := f.run().Plan(t.Context(), Order{}).Plan
	if len(plan.Changes) != 1 || plan.Changes[0].Scope != mem.FleetZone(1) {
		t.Fatalf("changes %+v", plan.Changes)
	}
	if r := plan.Changes[0].Refused; r == nil || r.Guard != diff.GuardOvertaken || r.Reason != diff.ReasonPutBack {
		t.Errorf("refused %+v", r)
	}
	f.converge(Order{})
	if n := f.recall().PutBack; n != 0 {
		t.Errorf("put back: %d", n)
	}
}
