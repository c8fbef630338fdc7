package review

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seawall-dev/seawall/diff"
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

// A process that takes over in the middle of a commit tells what became of its part, also a failure, and
// also where it has begun nothing; but what is on record of the part counts, unless it is a success by now.
func TestWhoTakesOverTells(t *testing.T) {
	refused := diff.Change{Zone: "z", Account: "b", Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Refused: &diff.Refusal{Guard: diff.GuardApproval}}
	done := refused
	done.Refused = nil
	sum := func(c ...diff.Change) reconcile.Report {
		return reconcile.Report{Commit: "c1", Scope: reconcile.Scope{Sum: true}, Plan: diff.Plan{Changes: c}}
	}
	for _, test := range []struct {
		name, onFile, want string
		sum                reconcile.Report
	}{
		{"nothing on record, and it failed", `{"commit":"c0","state":"success"}`, "failure", sum(refused)},
		{"nothing on record, and all is done", "", "success", sum()},
		{"a success on record, and trouble today", `{"commit":"c1","state":"success"}`, "success", sum(refused)},
		{"a failure on record, and all is done by now", `{"commit":"c1","state":"failure"}`, "success", sum()},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, file: map[string]string{"applied/credential b": test.onFile}}
			a.start("r2", "credential b")
			a.all["r2"].Report(t.Context(), test.sum)
			a.say(t)
			if got := a.file["applied/credential b"]; !strings.Contains(got, `"commit":"c1","state":"`+test.want) {
				t.Errorf("on record is %s", got)
			}
		})
	}
}

// What another part has made of a commit is not this one's: neither when it joins, nor when it is
// another's again.
func TestPartsAreToldApart(t *testing.T) {
	a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, lead: "r1"}
	a.start("r1", "credential a")
	refused := diff.Change{Zone: "z", Account: "a", Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Refused: &diff.Refusal{Guard: diff.GuardApproval}}
	m := a.all["r1"]
	m.Begin("c1")
	m.Report(t.Context(), reconcile.Report{Commit: "c1", Plan: diff.Plan{Changes: []diff.Change{refused}}})
	a.held["r1"] = append(a.held["r1"], reconcile.Lease{Name: "credential b", Epoch: 7})
	m.Report(t.Context(), reconcile.Report{Commit: "c1", Scope: reconcile.Scope{Sum: true}})
	a.say(t)
	for credential, want := range map[string]string{"a": "failure", "b": "success"} {
		if got := a.file["applied/credential "+credential]; !strings.Contains(got, want) {
			t.Errorf("of %s is on record %s", credential, got)
		}
	}
	a.held["r1"] = a.held["r1"][1:]
	m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	if n := len(m.trouble); n > 0 {
		t.Errorf("%d changes of another's part are still its trouble", n)
	}
}

// Trouble that is over by the time that another part is done is no failure any more.
func TestTroubleEndsWhileAPartJoins(t *testing.T) {
	a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, lead: "r1"}
	a.start("r1", "credential a")
	refused := diff.Change{Zone: "z", Account: "a", Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Refused: &diff.Refusal{Guard: diff.GuardApproval}}
	done := refused
	done.Refused = nil
	m := a.all["r1"]
	m.Begin("c1")
	m.Report(t.Context(), reconcile.Report{Commit: "c1", Plan: diff.Plan{Changes: []diff.Change{refused}}})
	a.held["r1"] = append(a.held["r1"], reconcile.Lease{Name: "credential b", Epoch: 7})
	m.Report(t.Context(), reconcile.Report{Commit: "c1", Fleet: reconcile.Fleet{Unfinished: 1}, Plan: diff.Plan{Changes: []diff.Change{done}}})
	m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	a.say(t)
	if last := a.told[len(a.told)-1]; last != "c1 success" {
		t.Errorf("the forge was told %q", a.told)
	}
}

// What a process that was cut off has to say of a part is not said once another one has the part; it is
// once the part has come back.
func TestALateNoteHidesNoNewerOne(t *testing.T) {
	a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, file: map[string]string{}}
	a.start("r1", "credential a")
	m, had := a.all["r1"], a.held["r1"]
	m.Begin("c1")
	m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	a.held["r1"], a.file["applied/credential a"] = nil, "newer"
	a.say(t)
	if got := a.file["applied/credential a"]; got != "newer" {
		t.Errorf("on record is %s", got)
	}
	a.held["r1"] = had
	m.Report(t.Context(), reconcile.Report{Commit: "c1"})
	a.say(t)
	if got := a.file["applied/credential a"]; !strings.Contains(got, `"commit":"c1","state":"success"`) {
		t.Errorf("after it has come back, on record is %s", got)
	}
}

// What this process has to say of its part waits for no forge.
func TestNotesWaitForNoForge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &applying{all: map[string]*Merges{}, held: map[string][]reconcile.Lease{}, lead: "r1"}
		a.start("r1", "credential a")
		m := a.all["r1"]
		m.send = func(context.Context, string, reconcile.CommitStatus) error { return errors.New("503") }
		for _, commit := range []string{"c1", "c2", "c3"} {
			m.Begin(commit)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); m.Run(ctx) }()
		synctest.Wait()
		m.Report(t.Context(), reconcile.Report{Commit: "c3"})
		synctest.Wait()
		if got := a.file["applied/credential a"]; !strings.Contains(got, `"commit":"c3","state":"success"`) {
			t.Errorf("on record is %q", got)
		}
		cancel()
		<-ended
	})
}
