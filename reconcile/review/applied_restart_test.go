package review

import (
	"testing"

	"github.com/seawall-dev/seawall/reconcile"
)

// A process that leads from its start knows what became of a commit from what is on record alone: it
// has neither begun it nor works on any of its zones.
func TestALeaderThatHasJustStartedTells(t *testing.T) {
	a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, lead: "r1"}
	a.start("r1", "credential a")
	a.start("r2", "credential b")
	for _, m := range a.all {
		m.Begin("c1")
	}
	a.all["r1"].Report(t.Context(), reconcile.Report{Commit: "c1"})
	a.say(t)
	a.start("r1", "") // anew
	a.held["r1"] = nil
	a.all["r1"].hear("credential a", `{"commit":"c1","state":"success"}`) // as all replicas learn that start
	a.all["r1"].lead()
	a.told = nil
	a.all["r2"].Report(t.Context(), reconcile.Report{Commit: "c1"})
	a.say(t)
	if len(a.told) != 1 || a.told[0] != "c1 success" {
		t.Errorf("the forge was told %q", a.told)
	}
}

// What a process could not tell the forge while it led is another's to tell once it does not lead any
// more: it comes late, and may be of before.
func TestOnlyWhoLeadsTellsTheForge(t *testing.T) {
	a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, lead: "r1"}
	a.start("r1", "credential a")
	a.start("r2", "credential b")
	for _, m := range a.all {
		m.Begin("c1")
	}
	a.lead = "r2"
	for _, m := range a.all {
		m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	}
	a.say(t)
	if len(a.told) != 1 || a.told[0] != "c1 success" {
		t.Errorf("the forge was told %q", a.told)
	}

	a.told = nil
	for _, m := range a.all {
		m.Begin("c2")
		m.Report(t.Context(), reconcile.Report{Commit: "c2"})
	}
	for _, lease := range []string{"credential a", "credential b"} {
		a.all["r2"].hear(lease, `{"commit":"c2","state":"success"}`)
	}
	a.lead = "" // before the forge was told of all of it
	a.say(t)
	a.lead = "r2"
	a.all["r2"].lead()
	a.say(t)
	if len(a.told) != 1 || a.told[0] != "c2 success" {
		t.Errorf("after it has led again the forge was told %q", a.told)
	}
}
