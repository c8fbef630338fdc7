package token

import (
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/must"
)

// A quarantined creation is told and never sent again.
func TestQuarantineIsForAPerson(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.lost["create"] = true
	f.work()
	clear(f.lost)
	o := f.work()
	f.wantTaken()
	if p := o.Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined || !strings.Contains(p[0].Hint, "seawall token resolve ci-dns") || converged(o) {
		t.Errorf("problems %+v", p)
	}
}

// A ledger that may not be complete creates nothing.
func TestUnknownTokensAreNotCreated(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.memory.live.Unknown, f.memory.live.Hint = "the ledger is new", "seawall token init"
	o := f.work()
	f.wantTaken()
	if p := o.Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown || p[0].Hint != "seawall token init" || len(o.Plan.Changes) != 0 {
		t.Errorf("problems %+v, changes %+v", p, o.Plan.Changes)
	}
	if due, err := f.Due(t.Context(), f.scope.Tokens); err != nil || len(due) != 0 {
		t.Errorf("due %v, error %v", due, err)
	}
}

// While another process works on tokens they are compared with the record, and nothing is sent or put on
// record: not even what an attempt that is under way has come to.
func TestTokensOfAnotherProcessAreOnlyCompared(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.unfinished("dns")
	f.memory.live.Elsewhere = "r2"
	o := f.work()
	f.wantTaken()
	f.wantStates(diff.TokenIntended)
	if p := o.Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, "under way; r2 works on tokens") || len(o.Results) != 0 {
		t.Errorf("problems %+v, results %+v", p, o.Results)
	}
	f.memory.live.Elsewhere = ""
	f.work()
	f.wantStates(diff.TokenQuarantined)
}

// unfinished is an attempt of a process that died.
func (f *fixture) unfinished(intent string) {
	f.memory.live.Records = append(f.memory.live.Records, diff.TokenRecord{Intent: intent, Key: "ci-" + intent, State: diff.TokenIntended, At: f.now})
}

func (f *fixture) wantStates(want ...diff.TokenState) {
	f.t.Helper()
	for i, r := range f.records() {
		if r.State != want[i] || r.State == diff.TokenQuarantined && r.Reason == "" {
			f.t.Errorf("attempt %s is %s, want %s; %q", r.Intent, r.State, want[i], r.Reason)
		}
	}
}

// Attempts that an earlier process left are quarantined once: when tokens are
// looked at first, and in doubt about the ledger too.
func TestUnfinishedIsQuarantinedOnce(t *testing.T) {
	for name, unknown := range map[string]string{"complete": "", "put back": "the ledger was restored from a backup"} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.memory.live.Unknown = unknown
			f.unfinished("1")
			f.work()
			f.wantTaken("quarantine")
			f.wantStates(diff.TokenQuarantined)
			f.unfinished("2") // as nobody else can: this process holds the lock
			f.work()
			f.wantTaken()
			f.wantStates(diff.TokenQuarantined, diff.TokenIntended)
			f.restart()
			f.work()
			f.wantTaken("quarantine")
		})
	}
}

// While another process holds the lock the attempts are its own; they are
// quarantined when this one has got it, and then once.
func TestUnfinishedWaitsForTheLock(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.unfinished("1")
	f.memory.held = true
	for range 2 {
		if p := f.work().Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown {
			t.Errorf("problems %+v", p)
		}
		f.wantTaken()
	}
	f.wantStates(diff.TokenIntended)
	f.memory.held = false
	f.work()
	f.wantTaken("quarantine", "intend", "create", "confirm", "deliver", "delivered")
	f.wantStates(diff.TokenQuarantined, diff.TokenConfirmed)
	f.work()
	f.wantTaken()
}

// An attempt whose end could not be recorded is quarantined by the same process.
func TestEndThatCouldNotBeRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		fail []string
		lost string
	}{
		"refused":          {fail: []string{"create", "not created"}},
		"answer lost":      {fail: []string{"quarantine"}, lost: "create"},
		"cannot be sealed": {fail: []string{"confirm", "quarantine"}},
		"intended or not":  {lost: "intend"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.push(declare("ci-dns", zoneA))
			for _, step := range c.fail {
				f.fail[step] = errDiskFull
			}
			f.lost[c.lost] = c.lost != ""
			f.work()
			f.wantStates(diff.TokenIntended)
			clear(f.fail)
			clear(f.lost)
			f.work()
			f.wantTaken("quarantine")
			f.wantStates(diff.TokenQuarantined)
			f.work()
			f.wantTaken()
		})
	}
}

// Quarantine that fails is tried again, and nothing is created meanwhile.
func TestQuarantineThatFails(t *testing.T) {
	f := newFixture(t)
	f.push(declare("ci-dns", zoneA))
	f.unfinished("1")
	f.fail["quarantine"] = errDiskFull
	for range 2 {
		if o := f.work(); o.Err == nil {
			t.Error("no error")
		}
		f.wantTaken("quarantine")
	}
	clear(f.fail)
	must.Do(t, QuarantineUnfinished(t.Context(), f.memory))
	f.wantStates(diff.TokenQuarantined)
}
