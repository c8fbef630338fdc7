package token

import (
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestPruneDeletes(t *testing.T) {
	f := newExtended(t)
	f.push(declare("kept", zoneA), pruned(declare("pruned", zoneA)))
	f.converge()
	f.converge() // what the declarations say of deletion is on record now
	f.push()
	c := f.converge().Plan.Changes
	f.wantTaken("list", "delete", "gone")
	if len(c) != 2 || c[0].Action() != diff.ActionOrphan || c[1].Action() != diff.ActionDelete || c[1].Direction != diff.Strengthens {
		t.Errorf("changes %+v", c)
	}
	f.wantMade("kept")
	if len(f.records()) != 1 {
		t.Errorf("on record %d", len(f.records()))
	}
}

// What the newest declaration says of deletion holds for earlier tokens too.
func TestPruneIsWithdrawn(t *testing.T) {
	f := newExtended(t)
	f.push(pruned(declare("ci-dns", zoneA)))
	f.converge()
	elsewhere := declare("ci-dns", zoneA)
	elsewhere.Sink = &desired.Sink{Name: "ci", Key: "elsewhere"}
	f.push(elsewhere)
	f.converge()
	f.converge()
	f.push()
	f.converge()
	f.wantMade("ci-dns", "ci-dns")
	if f.records()[0].Prune || f.records()[1].Prune {
		t.Errorf("on record %+v", f.records())
	}
}

// One that could not be recorded is told.
func TestPruneThatCannotBeRecorded(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.push(pruned(declare("ci-dns", zoneA)))
	f.fail["prunable"] = errDiskFull
	if o := f.work(); o.Err == nil {
		t.Error("no error")
	}
	clear(f.fail)
	f.converge()
	f.wantTaken("list", "prunable")
}

func TestDeletionOfUnknownOutcome(t *testing.T) {
	f := newExtended(t)
	f.push(pruned(declare("pruned", zoneA)))
	f.converge()
	f.converge()
	f.push()
	f.lost["delete"] = true
	f.converge()
	f.wantTaken("list", "delete", "get", "gone")
	f.wantMade()
	if len(f.records()) != 0 {
		t.Errorf("on record %v", f.records())
	}
}

// One of which it is not known whether it worked, or that is refused, is tried
// again.
func TestDeletionThatFails(t *testing.T) {
	for _, step := range []string{"delete", "gone"} {
		f := newExtended(t)
		f.push(pruned(declare("pruned", zoneA)), declare("other", zoneA))
		f.converge()
		f.push(declare("other", zoneA))
		f.fail[step] = errDown
		if o := f.work(); count(o, reconcile.Failed) != 1 || len(f.records()) != 2 {
			t.Errorf("%s: results %v", step, results(o))
		}
		clear(f.fail)
		f.advance(youngFor)
		f.converge()
		f.wantMade("other")
		if len(f.records()) != 1 {
			t.Errorf("on record %d", len(f.records()))
		}
	}
}
