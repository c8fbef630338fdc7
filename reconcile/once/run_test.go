package once

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestApplySendsTheLeast(t *testing.T) {
	f := newFixture(t, 5)
	f.repo.Push("c1", declare(1, core()), declare(2, core("xss")), declare(3, core()), declare(4, core("sqli", "php")), declare(5, core()))

	report, calls := f.converge(Order{})
	reads := []string{"list", "managed core", "read 1", "read 2", "read 3", "read 4", "read 5"}
	f.wantCalls(calls, append(reads, "write 2", "read 2", "write 4", "read 4")...)
	f.wantOutcomes(report, "2 converged", "4 converged")
	if !report.Full || report.Commit != "c1" || report.Trigger != reconcile.TriggerManual || report.Plan.Requests.ToApply != 4 {
		t.Errorf("report %+v", report)
	}
	f.wantOff(4, "php", "sqli")

	report, calls = f.converge(Order{})
	f.wantCalls(calls, reads...)
	if len(report.Plan.Changes) != 0 || report.Plan.Summary.InSync != 5 {
		t.Errorf("a second plan has %d changes, %d zones in sync", len(report.Plan.Changes), report.Plan.Summary.InSync)
	}
	if got := f.recall(); got.Accepted.Commit != "c1" || got.Accepted.Size != (guard.Size{Zones: 5, Deployments: 5}) || len(got.Proofs) != 5 || f.good.commit != "c1" {
		t.Errorf("on record %+v, good %q", got, f.good.commit)
	}
}

// Side by side the order between zones is free; within a zone it is not.
func TestApplySendsTheLeastSideBySide(t *testing.T) {
	f := newFixture(t, 30)
	steps := map[string]int{}
	f.adjust = func(r *Run) {
		r.Lanes.All[0].Concurrency = 8
		r.Progress = func(stage string, done, total int) {
			if total == 0 {
				return // a stage of unknown length
			}
			if steps[stage]++; done != steps[stage] || total != 30 {
				t.Errorf("%s: %d of %d at step %d", stage, done, total, steps[stage])
			}
		}
	}
	f.repo.Push("c1", declareAll(30, core("xss"))...)
	report, calls := f.converge(Order{})
	if len(calls) != 2+30+30+30 || writes(calls) != 30 {
		t.Errorf("%d calls, %d writes", len(calls), writes(calls))
	}
	for _, id := range []string{"1", "30"} {
		var of []string
		for _, call := range calls {
			if call == "read "+id || call == "write "+id {
				of = append(of, call)
			}
		}
		f.wantCalls(of, "read "+id, "write "+id, "read "+id)
	}
	for i, result := range report.Results {
		if result.Change.Zone != zoneKey(i+1) {
			t.Fatalf("result %d is about %s", i, result.Change.Zone)
		}
	}
	if steps["observing zones"] != 30 || steps["applying changes"] != 30 {
		t.Errorf("progress was told %v", steps)
	}
}

func TestApplyStrengthensFirst(t *testing.T) {
	f := newFixture(t, 3)
	f.Click(2, switchedOff("sqli"))
	f.Click(3, switchedOff("sqli"))
	f.repo.Push("c1", declare(1, core("xss")), declare(2, removing(core("xss"))), declare(3, removing(core())))
	_, calls := f.converge(Order{})
	f.wantCalls(calls[5:], "write 3", "read 3", "write 1", "read 1", "write 2", "read 2")
}

const otherAccount edge.AccountID = "fedcba9876543210fedcba9876543210"

// Zones of an account that cannot be listed are not read, and those of others go on.
func TestAccountThatCannotBeListed(t *testing.T) {
	seed := mem.Fleet(3)
	seed.Accounts = append(seed.Accounts, mem.SeedAccount{ID: otherAccount, Rulesets: seed.Accounts[0].Rulesets})
	seed.Zones[2].AccountID = otherAccount
	f := seeded(t, seed)
	f.repo.Push("c1", declareAll(2, core("xss"))...)
	c := f.repo.Commits["c1"]
	other := stateOf("c1", declare(3, core("xss"))).Accounts[0]
	other.ID, other.Key = otherAccount, "other"
	c.State.Accounts = append(c.State.Accounts, other)
	f.repo.Commits["c1"] = c
	f.tamper.List = func(account edge.AccountID) error {
		if account == mem.Account {
			return errForbidden
		}
		return nil
	}
	report, calls := f.apply(Order{})
	f.wantCalls(calls, "list", "list "+string(otherAccount), "managed core", "read 3", "write 3", "read 3")
	f.wantOutcomes(report, "3 converged")
	if s := report.Plan.Summary; s.Forbidden != 2 || s.Unknown != 0 || s.Zones != 3 || report.Converged() || report.Err != nil {
		t.Errorf("summary %+v, error %v", s, report.Err)
	}
	if !report.Full {
		t.Error("zones that could not be read were in scope all the same")
	}
	if proofs := f.recall().Proofs; len(proofs) != 1 {
		t.Errorf("proofs %v", proofs)
	}
}

func TestManagedRulesetThatCannotBeReadIsUnknown(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, core("xss")))
	f.tamper.Managed = func() error { return errDown }
	report, calls := f.apply(Order{})
	f.wantCalls(calls, "list", "managed core", "read 1")
	if report.Plan.Summary.Unknown != 1 || report.Converged() || len(f.recall().Proofs) != 0 {
		t.Errorf("summary %+v", report.Plan.Summary)
	}
	f.tamper.Managed = nil
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "1 converged")
}

// A platform that goes down in the middle is not asked for the rest, and the next run
// asks again.
func TestOutage(t *testing.T) {
	f := newFixture(t, 10)
	f.repo.Push("c1", declareAll(10, core("xss"))...)
	f.tamper.Read = func(id edge.Scope) error {
		if id == mem.FleetZone(1) || id == mem.FleetZone(2) {
			return nil
		}
		return errDown
	}
	report, calls := f.apply(Order{})
	f.wantCalls(calls, "list", "managed core", "read 1", "read 2", "read 3", "read 4", "write 1", "read 1", "write 2", "read 2")
	f.wantOutcomes(report, "1 converged", "2 converged")
	if report.Plan.Summary.Unknown != 8 {
		t.Errorf("%d zones unknown, want 8", report.Plan.Summary.Unknown)
	}
	f.tamper.Read = nil
	f.converge(Order{})
}

func TestPlanWritesAndRemembersNothing(t *testing.T) {
	f := newFixture(t, 2)
	f.repo.Push("c1", declareAll(2, core("xss"))...)
	f.guards = reconcile.Guards{Waves: []reconcile.Wave{{Count: 1}}, Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveAll}}}
	order := Order{Approve: []string{"x"}, DuringFreeze: "INC-1", Who: "kim"}
	f.agreed = commitSays(reconcile.Approval{Digest: "y", Kind: reconcile.Approved})
	report, calls := f.plan(order)
	f.wantCalls(calls, "list", "managed core", "read 1", "read 2")
	if len(report.Plan.Changes) != 2 || report.Err != nil || report.Results != nil {
		t.Errorf("report %+v", report)
	}
	if len(f.records.Made) != 0 || f.good.commit != "" {
		t.Errorf("records %v, good %q", f.records.Made, f.good.commit)
	}
}

func TestRunCountsItsOwnRequests(t *testing.T) {
	f := newFixture(t, 2)
	sent := int64(100)
	f.adjust = func(r *Run) { r.Requests = func() int64 { sent += 7; return sent } }
	f.repo.Push("c1", declareAll(2, core())...)
	if report, _ := f.apply(Order{}); report.Requests != 7 || report.Plan.Requests.Used != 7 {
		t.Errorf("requests %d, in the plan %d", report.Requests, report.Plan.Requests.Used)
	}
}

// What a sweep is said to take is what a look at everything sends, but for the managed
// rulesets, which a daemon reads once. Whether the daemon's schedule holds is told
// from that.
func TestSweepIsWhatALookSends(t *testing.T) {
	f := newFixture(t, 3)
	f.adjust = func(r *Run) {
		r.Lanes.All[0].Budget, r.Interval = diff.Budget{Requests: 11, Per: time.Minute}, time.Second
	}
	f.repo.Push("c1", declareAll(3, core("xss"))...)
	f.converge(Order{})
	report, _ := f.plan(Order{Zones: []string{zoneKey(1)}})
	if report.Sweep != 4 || report.Declared != 3 {
		t.Errorf("%d requests and %d zones, want 4 and 3, whatever is asked for", report.Sweep, report.Declared)
	}
	report, calls := f.plan(Order{})
	if sent := int64(len(calls)) - 1; report.Sweep != sent || report.Plan.Requests.Overload == nil {
		t.Errorf("%d requests, want %d; overload %v", report.Sweep, sent, report.Plan.Requests.Overload)
	}
}

// Deprecations are of a run over everything, and are told beside the plan.
func TestRunTellsDeprecations(t *testing.T) {
	f := newFixture(t, 1)
	asked := 0
	f.adjust = func(r *Run) {
		r.Deprecations = func(state desired.State, at time.Time) []deprecation.Notice {
			if asked++; state.Commit != "c1" || !at.Equal(f.Now()) {
				t.Errorf("asked of %s at %s", state.Commit, at)
			}
			return []deprecation.Notice{{Rule: "rate-limits", State: deprecation.PastEnd}}
		}
	}
	f.repo.Push("c1", declare(1, core("xss")))
	report, _ := f.converge(Order{})
	if len(report.Plan.Deprecations) != 1 || asked != 1 {
		t.Errorf("got %+v, asked %d times", report.Plan.Deprecations, asked)
	}
	with, _ := f.plan(Order{})
	narrow, _ := f.plan(Order{Zones: []string{zoneKey(1)}})
	f.adjust = nil
	without, _ := f.plan(Order{})
	if len(with.Plan.Deprecations) != 1 || len(narrow.Plan.Deprecations) != 0 || with.Plan.Digest != without.Plan.Digest {
		t.Errorf("got %+v; digests %s and %s", with.Plan.Deprecations, with.Plan.Digest, without.Plan.Digest)
	}
}
