package once

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

func atMost(n int) reconcile.Guards {
	return reconcile.Guards{Rules: []guard.Rule{{Name: "fleet", Changes: &guard.Limit{Count: &n}}}}
}

var calm = reconcile.Guards{Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveWeakening}}}

func approving(digest string) Order { return Order{Approve: []string{digest}, Who: "kim"} }

// overLimit are four zones that a commit changes, where three are allowed.
func overLimit(t *testing.T) *fixture {
	f := newFixture(t, 4)
	f.repo.Push("c1", declareAll(4, removing(core("xss")))...)
	f.converge(Order{})
	f.guards = atMost(3)
	f.repo.Push("c2", declareAll(4, removing(core("php")))...)
	return f
}

// Nothing of it is written until a person agrees; then all of it is, once.
func TestTooMuchAtOnce(t *testing.T) {
	f := overLimit(t)
	var digest, set string
	for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply, f.apply} {
		report, calls := do(Order{})
		f.wantRefused(report, "limit", "limit", "limit", "limit")
		if writes(calls) != 0 {
			t.Fatalf("it writes: %v", calls)
		}
		digest, set = report.Plan.ApprovalDigest(), report.Plan.Changes[0].Refused.Digest
	}
	for name, agree := range map[string]func(*fixture) Order{
		"the plan":        func(*fixture) Order { return approving(digest) },
		"what is refused": func(*fixture) Order { return approving(set) },
		"on record": func(f *fixture) Order {
			must.Do(f.t, f.records.Approve(t.Context(), []reconcile.Approval{{Digest: digest, Kind: reconcile.Approved, Who: "kim"}}))
			return Order{}
		},
		"by the commit": func(f *fixture) Order {
			f.agreed = commitSays(reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: "kim"})
			return Order{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := overLimit(t)
			if name != "by the commit" {
				f.apply(Order{})
			}
			order := agree(f)
			planned, _ := f.plan(order)
			if got := refusals(planned); len(got) != 0 {
				t.Errorf("a plan refuses %v", got)
			}
			report, _ := f.converge(order)
			if len(report.Results) != 4 {
				t.Errorf("results %v", outcomes(report))
			}
			if left := f.recall().Approvals; len(left) != 0 {
				t.Errorf("not spent: %+v", left)
			}
			for i := 1; i <= 4; i++ { // as it was before, so that the very same would be done
				f.Click(i, switchedOff("xss"))
			}
			report, _ = f.apply(Order{})
			if report.Plan.Changes[0].Refused == nil || report.Plan.Changes[0].Refused.Digest != set {
				t.Errorf("an approval counts twice: %v", outcomes(report))
			}
		})
	}
}

// A zone that cannot be read is not written by itself once it can be: all that is asked
// for counts as one plan.
func TestALimitIsNotOutflankedByRetries(t *testing.T) {
	f := newFixture(t, 5)
	f.repo.Push("c1", declareAll(5, removing(core("xss")))...)
	f.converge(Order{})
	f.guards = atMost(3)
	f.repo.Push("c2", declareAll(5, removing(core("php")))...)
	f.tamper.Read = failZone(2, errDown)
	f.apply(Order{})
	f.tamper.Read = nil
	report, calls := f.apply(Order{})
	if got := refusals(report); writes(calls) != 0 || len(got) != 5 {
		t.Errorf("refused %v, calls %v", got, calls)
	}
}

// Of what was agreed to as a whole, the rest is done later without asking again, and
// nothing else is.
func TestAnApprovalOutlivesAPartialRun(t *testing.T) {
	f := newFixture(t, 3)
	f.repo.Push("c1", declareAll(3, core())...)
	f.converge(Order{})
	f.guards = calm
	f.repo.Push("c2", declareAll(3, core("xss"))...)
	report, _ := f.plan(Order{})
	f.wantRefused(report, "approval", "approval", "approval")
	f.tamper.Write = failWrite(2, errForbidden)
	report, _ = f.apply(approving(report.Plan.ApprovalDigest()))
	f.wantOutcomes(report, "1 converged", "2 failed", "3 converged")
	left := f.recall().Approvals
	if len(left) != 1 || left[0].Who != "kim" || left[0].Reason != "prod / "+zoneKey(2)+" / core" || left[0].Kind != reconcile.Approved || !left[0].At.Equal(f.Now()) {
		t.Errorf("on record is %+v", left)
	}
	f.tamper.Write = nil
	f.Click(3, switchedOff()) // and drift that would weaken is another matter
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "2 converged")
	f.wantRefused(report, "approval")
	if left := f.recall().Approvals; len(left) != 0 {
		t.Errorf("not spent: %+v", left)
	}
}

// What a person has said is on record before it is acted on, and nothing is done
// without.
func TestApprovalThatCannotBeRecorded(t *testing.T) {
	f := overLimit(t)
	report, _ := f.plan(Order{})
	f.records.Fails = func(call string) error { return map[string]error{"approve": errFull}[call] }
	report, calls := f.apply(approving(report.Plan.ApprovalDigest()))
	if !errors.Is(report.Err, errFull) || writes(calls) != 0 {
		t.Errorf("error %v, calls %v", report.Err, calls)
	}
}

// A commit's own approvals count from the run that meets it on, are on record with its
// acceptance, and are not renewed by the next run: they are spent with their change.
func TestCommitCarriesApprovals(t *testing.T) {
	f := newFixture(t, 1)
	f.guards = calm
	f.repo.Push("c1", declare(1, core("xss")))
	report, _ := f.plan(Order{})
	f.wantRefused(report, "approval")
	digest := report.Plan.ApprovalDigest()

	f.agreed = func(context.Context, string) ([]reconcile.Approval, error) {
		return nil, errors.New("the file of keys is missing")
	}
	report, _ = f.plan(Order{})
	f.wantRefused(report, "approval")

	f.agreed = commitSays(reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: "alice"})
	f.tamper.Write = failWrite(1, errForbidden)
	report, _ = f.apply(Order{})
	f.wantOutcomes(report, "1 failed")
	if left := f.recall().Approvals; len(left) != 1 || left[0].Who != "alice" {
		t.Errorf("on record is %+v", left)
	}
	f.tamper.Write = nil
	f.converge(Order{})
	f.Click(1, switchedOff())
	report, _ = f.apply(Order{})
	f.wantRefused(report, "approval")
	if left := f.recall().Approvals; len(left) != 0 {
		t.Errorf("renewed: %+v", left)
	}
}

// A commit that takes a label from a zone does not take with it what the label asks for.
func TestLabelsThatWereProvedCount(t *testing.T) {
	f := newFixture(t, 1)

	push := func(name, tier, tag string) {
		z := declare(1, removing(core(tag)))
		z.Labels = map[string]string{"tier": tier}
		f.repo.Push(name, z)
	}
	push("c1", "gold", "xss")
	f.converge(Order{})
	f.guards = reconcile.Guards{Rules: []guard.Rule{{Name: "gold", Labels: guard.Labels{"tier": "gold"}, Approve: guard.ApproveAll}}}
	push("c2", "free", "php")
	report, _ := f.apply(Order{})
	f.wantRefused(report, "approval")
	f.converge(approving(report.Plan.ApprovalDigest()))
	push("c3", "free", "xss")
	f.converge(Order{}) // as free it was proved
}

// Between plan and write somebody protected the zone better; sending the same
// declaration would weaken it, and nobody has agreed to that.
func TestAChangeThatHasBecomeWorse(t *testing.T) {
	for name, c := range map[string]struct {
		guards reconcile.Guards
		writes int
	}{
		"nobody minds": {reconcile.Guards{}, 1},
		"somebody":     {calm, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.repo.Push("c1", declare(1, removing(core("php"))))
			f.converge(Order{})
			f.guards = c.guards
			f.Click(1, switchedOff("php", "xss")) // mending it strengthens
			f.adjust = func(r *Run) {
				r.Progress = func(stage string, _, _ int) {
					if stage == "observing zones" { // and that took longer than a read is fresh
						f.Advance(2 * time.Minute)
						f.Click(1, switchedOff())
					}
				}
			}
			report, calls := f.apply(Order{})
			if n := writes(calls); n != c.writes {
				t.Errorf("%d writes, want %d: %v", n, c.writes, outcomes(report))
			}
		})
	}
}

// Drift and a new commit are told and not written while a hold lasts.
func TestAHeldZoneIsLeftAlone(t *testing.T) {
	f := newFixture(t, 2)
	f.repo.Push("c1", declareAll(2, removing(core("xss")))...)
	f.converge(Order{})
	hold := diff.Hold{Zone: zoneKey(1), Until: f.Now().Add(2 * time.Hour), Reason: "INC-1"}
	f.records.Hold(hold)
	f.Click(1, switchedOff())
	for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply} {
		report, calls := do(Order{})
		f.wantRefused(report, "hold")
		if writes(calls) != 0 || report.Converged() {
			t.Errorf("calls %v", calls)
		}
		if d := cmp.Diff([]diff.Hold{hold}, report.Plan.Holds); d != "" {
			t.Errorf("holds (-want +got):\n%s", d)
		}
	}
	f.repo.Push("c2", declareAll(2, removing(core("php")))...)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "2 converged")
	f.Advance(2 * time.Hour)
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "1 converged")
	if len(report.Plan.Holds) != 0 {
		t.Errorf("it is over, and told: %v", report.Plan.Holds)
	}
}

// An apply that is on its way does not write what somebody holds, or what is frozen, or
// what another commit declares, since it has begun.
func TestSaidMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*fixture)
		outcome   string
		guard     string
		err       error
	}{
		"held": {func(f *fixture) {
			f.records.Hold(diff.Hold{Zone: zoneKey(2), Until: f.Now().Add(time.Hour), Reason: "INC-1"})
		}, "2 not_started", "hold", nil},
		"frozen": {func(f *fixture) {
			f.guards.Freezes[0] = window(t, "0 * * * *", time.Hour)
		}, "2 not_started", "freeze", nil},
		"not known": {func(f *fixture) {
			f.records.Fails = func(call string) error { return map[string]error{"widen": errFull}[call] }
		}, "2 failed", "", errFull},
		"overtaken": {func(f *fixture) {
			must.Do(f.t, f.records.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c9"}))
		}, "2 not_started", "", reconcile.ErrSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 2)
			f.guards.Freezes = []reconcile.Freeze{{}}
			f.repo.Push("c1", declareAll(2, core("xss"))...)
			f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
				answer, err := send()
				c.meanwhile(f)
				return answer, err
			}
			report, calls := f.apply(Order{})
			f.wantOutcomes(report, "1 converged", c.outcome)
			if writes(calls) != 1 || report.Converged() {
				t.Errorf("calls %v", calls)
			}
			second := report.Results[1]
			if got := second.Change.Refused; (got == nil) != (c.guard == "") || got != nil && string(got.Guard) != c.guard {
				t.Errorf("refused %+v", got)
			}
			if !errors.Is(second.Err, c.err) {
				t.Errorf("error %v", second.Err)
			}
			f.tamper.Write, f.records.Fails, f.guards = nil, nil, reconcile.Guards{}
			f.Advance(time.Hour)
			report, _ = f.converge(Order{})
			f.wantOutcomes(report, "2 converged")
		})
	}
}

// A write that has waited for its turn is not sent after somebody has held its zone, or
// another commit was accepted.
func TestSaidWhileAWriteWaits(t *testing.T) {
	for name, meanwhile := range map[string]func(*fixture){
		"held": func(f *fixture) {
			f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: f.Now().Add(time.Hour), Reason: "INC-1"})
		},
		"overtaken": func(f *fixture) {
			must.Do(f.t, f.records.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: "c9"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.repo.Push("c1", declare(1, core("xss")))
			f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
				f.Advance(time.Second)
				meanwhile(f)
				return send()
			}
			report, _ := f.apply(Order{})
			f.wantOutcomes(report, "1 not_started")
			f.wantOff(1)
		})
	}
}

// A freeze that begins meanwhile holds a zone by the labels that it was proved with, too.
func TestFrozenMeanwhileByTheLabelsProved(t *testing.T) {
	f := newFixture(t, 2)
	gold := declareAll(2, removing(core("xss")))
	for i := range gold {
		gold[i].Labels = map[string]string{"tier": "gold"}
	}
	f.repo.Push("c1", gold...)
	f.converge(Order{})
	f.guards.Freezes = []reconcile.Freeze{{Labels: guard.Labels{"tier": "gold"}}}
	f.repo.Push("c2", declareAll(2, removing(core("php")))...)
	f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) {
		f.guards.Freezes[0] = window(t, "0 * * * *", time.Hour)
		f.guards.Freezes[0].Labels = guard.Labels{"tier": "gold"}
		return send()
	}
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged", "2 not_started")
}

// A commit that another process accepted while this one was reading is newer than what
// this one has read.
func TestOvertakenWhileReading(t *testing.T) {
	for by, want := range map[string]error{"c2": nil, "c9": reconcile.ErrSuperseded} {
		t.Run(by, func(t *testing.T) {
			f := newFixture(t, 1)
			f.repo.Push("c1", declare(1, removing(core("xss"))))
			f.converge(Order{})
			f.repo.Push("c2", declare(1, removing(core("php"))))
			f.tamper.Read = func(edge.Scope) error {
				f.tamper.Read = nil
				return f.records.AcceptCommit(t.Context(), reconcile.Acceptance{Commit: by, Size: guard.Size{Zones: 1, Deployments: 1}})
			}
			report, calls := f.apply(Order{})
			if !errors.Is(report.Err, want) || (writes(calls) == 0) != (want != nil) || f.recall().Accepted.Commit != by {
				t.Errorf("error %v, calls %v, accepted %q", report.Err, calls, f.recall().Accepted.Commit)
			}
		})
	}
}

// window is a freeze by the clock of UTC.
func window(t *testing.T, expression string, length time.Duration) reconcile.Freeze {
	t.Helper()
	schedule, err := reconcile.ParseSchedule(expression, time.UTC)
	must.Do(t, err)
	return reconcile.Freeze{Name: "w", Schedule: schedule, For: length, Zone: time.UTC}
}

// A commit and drift wait for the end of a freeze; the commit is accepted all the same,
// and what would have been done is done after it.
func TestAFreezeIsANoOpInTime(t *testing.T) {
	f := newFixture(t, 3)
	f.repo.Push("c1", declareAll(3, removing(core("xss")))...)
	f.converge(Order{})
	f.guards.Freezes = []reconcile.Freeze{window(t, "0 6 * * *", 2*time.Hour)}
	f.Advance(7 * time.Hour)
	f.repo.Push("c2", append(declareAll(2, removing(core("php"))), declare(3, removing(core("xss"))))...)
	f.Click(3, switchedOff())
	for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply} {
		report, calls := do(Order{})
		f.wantRefused(report, "freeze", "freeze", "freeze")
		if writes(calls) != 0 || report.Converged() || report.Commit != "c2" {
			t.Errorf("calls %v, commit %q", calls, report.Commit)
		}
	}
	if got := f.recall().Accepted.Commit; got != "c2" {
		t.Errorf("accepted %q", got)
	}
	f.Advance(time.Hour) // 08:00, its end
	report, calls := f.converge(Order{})
	f.wantOutcomes(report, "1 converged", "2 converged", "3 converged")
	if n := writes(calls); n != 3 {
		t.Errorf("%d writes", n)
	}
}

func TestOverridingAFreeze(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, core("xss")))
	open, closed := window(t, "0 0 * * *", time.Hour), window(t, "0 0 * * *", time.Hour)
	open.Override, open.Name = true, "open"
	order := Order{DuringFreeze: "INC-7", Who: "kim"}

	f.guards.Freezes = []reconcile.Freeze{open, closed}
	report, _ := f.apply(order)
	f.wantRefused(report, "freeze") // by the other one
	f.guards.Freezes, f.records.Overridden = []reconcile.Freeze{open}, nil
	report, _ = f.apply(Order{Who: "kim"})
	f.wantRefused(report, "freeze") // nobody gave a reason
	if got := f.records.Overridden; len(got) != 0 {
		t.Errorf("on record is %+v", got)
	}
	f.converge(order)
	want := reconcile.Approval{Digest: "freezes.open", Kind: reconcile.Overridden, Who: "kim", Reason: "INC-7", At: f.Now()}
	if got := f.records.Overridden; len(got) != 1 || got[0] != want {
		t.Errorf("on record is %+v", got)
	}
}
