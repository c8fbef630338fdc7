package review

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// newApproved is a pull request with a plan that alice may approve of.
func newApproved(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, 1)
	f.approvedBy("alice")
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("xss", "sqli")))
	f.round()
	f.clock.Advance(time.Second)
	return f
}

// Whoever registers a name that an approver has given up approves of nothing; the approver
// does, under another name.
func TestApproverIsAnAccountAndNotAName(t *testing.T) {
	f := newApproved(t)
	f.forge.rename("alice", "alice-2")
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.round()
	if len(f.records.approved) != 0 || !strings.Contains(f.log.String(), "belongs to another account now") {
		t.Errorf("approved %+v, log\n%s", f.records.approved, f.log)
	}
	f.forge.approve(1, "p1", f.clock.Now(), "alice-2")
	f.round()
	if len(f.records.approved) != 2 || f.records.approved[0].Who != "alice-2" {
		t.Errorf("approved %+v", f.records.approved)
	}
}

// A configured id counts, whatever the name.
func TestApproverByID(t *testing.T) {
	f := newApproved(t)
	configured := []reconcile.Account{{ID: f.forge.account("alice").ID, Name: "someone"}}
	f.Trust.Approvers, f.approvers = configured, newApprovers(configured)
	f.forge.approve(1, "p1", f.clock.Now(), "someone")
	f.round()
	if len(f.records.approved) != 0 {
		t.Errorf("a name is taken for an id: %+v", f.records.approved)
	}
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.round()
	if len(f.records.approved) != 2 {
		t.Errorf("approved %+v", f.records.approved)
	}
}

// An approver who may no longer write to the project approves of nothing; where the forge
// does not tell, the configuration is enough.
func TestApproverMayWrite(t *testing.T) {
	f := newApproved(t)
	f.forge.readers = []string{"alice"}
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.round()
	if len(f.records.approved) != 0 || !strings.Contains(f.log.String(), "may not write to the project") {
		t.Errorf("approved %+v, log\n%s", f.records.approved, f.log)
	}
	f.forge.secretive = true
	f.round()
	if len(f.records.approved) != 2 {
		t.Errorf("approved %+v", f.records.approved)
	}
}

// The ids are kept over a restart, and those of names that are configured no more are not.
func TestApproversAreRemembered(t *testing.T) {
	file := AccountFile(filepath.Join(t.TempDir(), "approvers.json"))
	start := func(names ...string) *fixture {
		f := newFixture(t, 1)
		f.approvedBy(names...)
		f.Trust.Accounts = file
		f.converge("c1", fleetZone(1, core("xss")))
		return f
	}
	f := start("Alice", "nobody")
	f.forge.unknown = []string{"nobody"}
	f.round()
	first := f.forge.account("alice").ID
	if got, err := file.Load(); err != nil || !cmp.Equal(got, map[string]int64{"alice": first}) {
		t.Errorf("remembered %v, %v", got, err)
	}
	f = start("alice", "bob")
	f.forge.last = 40 // others have been registered in between, and alice's name was given up
	f.round()
	if got, err := file.Load(); err != nil || got["alice"] != first || got["bob"] == 0 {
		t.Errorf("remembered %v, %v", got, err)
	}
	f = start("bob")
	f.round()
	if got, err := file.Load(); err != nil || len(got) != 1 {
		t.Errorf("remembered %v, %v", got, err)
	}
	must.Do(t, os.WriteFile(string(file), []byte("{"), 0o600))
	f = start("bob")
	f.round()
	if !strings.Contains(f.log.String(), "approvers.json") || f.approvers.is(f.forge.account("bob")) {
		t.Errorf("a damaged file is taken for an empty one; log\n%s", f.log)
	}
}

// What was approved and not done is withdrawn when its review is, and when the pull request
// is closed without a merge; a merge and a push withdraw nothing.
func TestApprovalsAreWithdrawn(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*fixture)
		left int
	}{
		"nothing": {func(*fixture) {}, 2},
		"pushed":  {func(f *fixture) { f.open(1, "p2", fleetZone(1, core("sqli"))) }, 2},
		"renamed": {func(f *fixture) {
			f.forge.rename("alice", "alice-2")
			f.forge.approvals["1 p1"] = []string{"alice-2"}
		}, 2},
		"dismissed":               {func(f *fixture) { f.forge.approvals["1 p1"] = nil }, 0},
		"by another of that name": {func(f *fixture) { f.forge.rename("alice", "alice-2") }, 0},
		"closed":                  {func(f *fixture) { f.forge.pulls, f.forge.states[1] = nil, reconcile.PullClosed }, 0},
		"merged":                  {func(f *fixture) { f.forge.pulls, f.forge.states[1] = nil, reconcile.PullMerged }, 2},
		"not told": {func(f *fixture) {
			f.forge.approvals["1 p1"], f.forge.away = nil, errors.New("503")
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newApproved(t)
			f.forge.approve(1, "p1", f.clock.Now(), "alice")
			f.round()
			if standing, _ := f.records.Standing(t.Context()); len(standing.Approvals) != 2 {
				t.Fatalf("approvals %+v", standing.Approvals)
			}
			c.then(f)
			f.round()
			f.round()
			if standing, _ := f.records.Standing(t.Context()); len(standing.Approvals) != c.left {
				t.Errorf("approvals %+v, log\n%s", standing.Approvals, f.log)
			}
		})
	}
}

// A review that was dismissed and given again approves again.
func TestApprovalGivenAgain(t *testing.T) {
	f := newApproved(t)
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.round()
	f.forge.approvals["1 p1"] = nil
	f.round()
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.round()
	if standing, _ := f.records.Standing(t.Context()); len(standing.Approvals) != 2 {
		t.Errorf("approvals %+v", standing.Approvals)
	}
}

// A forge that does not answer about people is logged once for each cause, and withdraws
// nothing.
func TestSilenceAboutPeopleIsLoggedOnce(t *testing.T) {
	f := newApproved(t)
	f.forge.approve(1, "p1", f.clock.Now(), "alice")
	f.round()
	f.forge.away = errors.New("503")
	for range 3 {
		f.round()
	}
	if n := strings.Count(f.log.String(), "level=WARN msg=\"the forge does not say enough about approvals"); n != 1 {
		t.Errorf("%d lines:\n%s", n, f.log)
	}
	f.forge.away = nil
	f.round()
	f.forge.away = errors.New("503")
	f.round()
	if n := strings.Count(f.log.String(), "level=WARN msg=\"the forge does not say enough about approvals"); n != 2 {
		t.Errorf("%d lines:\n%s", n, f.log)
	}
}
