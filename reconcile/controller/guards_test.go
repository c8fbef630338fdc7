package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// What people said and the clock hold back, and how it goes on.

func atMost(n int) reconcile.Guards {
	return reconcile.Guards{Rules: []guard.Rule{{Name: "fleet", Changes: &guard.Limit{Count: &n}}}}
}

func approving(what guard.Approve) reconcile.Guards {
	return reconcile.Guards{Rules: []guard.Rule{{Name: "calm", Approve: what}}}
}

// approve puts a person's word on record, as another process does.
func (f *fixture) approve(digests ...string) {
	f.t.Helper()
	var words []reconcile.Approval
	for _, digest := range digests {
		words = append(words, reconcile.Approval{Digest: digest, Kind: reconcile.Approved, Who: "kim", At: time.Now()})
	}
	must.Do(f.t, f.records.Forgetful.Approve(context.Background(), words))
}

// planned is what a plan of all that is declared says, through the same guards.
func (f *fixture) planned() diff.Plan {
	f.t.Helper()
	g := f.control.Current()
	var changes []diff.Change
	for id := range g.Zones() {
		task, _ := f.control.Task(g, id)
		sight, err := f.Controller.zones[0].worker.Read(context.Background(), task)
		must.Do(f.t, err)
		changes = append(changes, f.Controller.zones[0].worker.Plan(task, sight).Changes...)
	}
	plan := diff.Gather(g.State.Commit, g.State.Zones(), 0, changes, nil)
	facts := guard.Facts{Now: time.Now(), Rules: f.Guards.Rules, Zones: map[edge.Scope]guard.Labels{}}
	for _, z := range g.State.EachZone() {
		facts.Zones[z.Scope] = z.Labels
	}
	return guard.Check(plan, facts)
}

func TestAHeldZone(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 2)
		f.Sweep, f.Interval = cron.Every(10*time.Minute), 10*time.Minute
		f.repo.Push("c1", fleet(2, "xss")...)
		f.start()
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(2 * time.Hour), Reason: "INC-1"})
		f.pass(soon)
		f.click(1, "php")
		f.pass(20 * time.Minute)
		if got := f.off(1); got != "php" {
			t.Errorf("a held zone is written: %q", got)
		}
		f.push("c2", fleet(2, "rce")...)
		if f.off(1) != "php" || f.off(2) != "rce" {
			t.Errorf("off are %q and %q", f.off(1), f.off(2))
		}
		f.restart()
		f.pass(90 * time.Minute)
		if got := f.off(1); got != "php" {
			t.Errorf("a held zone is written after a restart: %q", got)
		}
		f.pass(10*time.Minute + soon) // its end
		f.want(2, "rce")
	})
}

// Who ends a hold waits for no sweep.
func TestAHoldThatEndsEarly(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 1)
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(9 * time.Hour)})
		f.push("c2", fleet(1, "rce")...)
		f.want(1, "xss")
		f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now()})
		f.pass(2 * f.Tick)
		f.want(1, "rce")
	})
}

// A hold that is taken while the zone is being looked at keeps it from being written.
func TestAHoldTakenRightBeforeAWrite(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 1)
		f.calls.set(func(_ context.Context, c call) error {
			if c.verb == "read" { // it has been planned as soon as this is answered
				f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(time.Hour)})
			}
			return nil
		})
		f.calls.take()
		f.push("c2", fleet(1, "rce")...)
		if got := only(f.calls.take(), "write"); len(got) > 0 {
			t.Errorf("%v", got)
		}
		if refusedBy(f.journal.take(), "hold") == 0 {
			t.Error("the refusal is not reported")
		}
		f.calls.set(nil)
		f.pass(time.Hour)
		f.want(1, "rce")
	})
}

// refusedBy counts the reports in which a guard refuses a change.
func refusedBy(reports []reconcile.Report, guard diff.Guard) (n int) {
	for _, r := range reports {
		for _, c := range r.Plan.Changes {
			if c.Refused != nil && c.Refused.Guard == guard && r.Plan.Summary.Refused+r.Plan.Summary.Waiting == 1 {
				n++
			}
		}
	}
	return n
}

// Words that cannot be read let nothing pass.
func TestWordsThatCannotBeRead(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 1)
		f.records.FailBy(failsTo("standing"))
		f.pass(10 * time.Second)
		f.push("c2", fleet(1, "rce")...)
		f.pass(time.Minute)
		f.want(1, "xss")
		f.records.FailBy(nil)
		f.pass(5 * time.Minute)
		f.want(1, "rce")
	})
}

func window(t *testing.T, expression string, length time.Duration) reconcile.Freeze {
	t.Helper()
	schedule, err := cron.ParseStandard(expression)
	must.Do(t, err)
	return reconcile.Freeze{Name: "calm", Schedule: schedule, For: length, Zone: time.UTC}
}

// A freeze holds back drift and commits, over a restart too; at its end all is done.
func TestAFreeze(t *testing.T) {
	run(t, func(t *testing.T) { // begins at midnight
		f := guarded(t, 3, reconcile.Guards{Freezes: []reconcile.Freeze{window(t, "0 6 * * *", 2*time.Hour)}})
		f.pass(time.Until(time.Date(2000, 1, 1, 6, 10, 0, 0, time.UTC)))
		f.calls.take()
		f.push("c2", but(fleet(3, "xss"), 1, "rce")...)
		f.drift(3)
		f.lookNow()
		f.restart()
		f.pass(time.Until(time.Date(2000, 1, 1, 7, 59, 59, 0, time.UTC)))
		if got := only(f.calls.take(), "write"); len(got) > 0 {
			t.Errorf("%v", got)
		}
		f.pass(soon)
		if f.off(1) != "rce" || f.off(2) != "xss" || f.off(3) != "xss" {
			t.Errorf("off are %q, %q, %q", f.off(1), f.off(2), f.off(3))
		}
	})
}

// A zone may wait for more than one thing: each of them is heard.
func TestAZoneThatWaitsForTwoThings(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 1)
		f.repo.Commit("c1", commit{State: twoDeployments("c1", "xss")})
		f.deployTwice(1)
		f.start()
		if got := f.offOf(1); got != "xss xss" {
			t.Fatalf("off are %q", got)
		}
		f.stop()
		f.Guards = approving(guard.ApproveWeakening)
		f.Guards.Freezes = []reconcile.Freeze{window(t, "0 6 * * *", 2*time.Hour)}
		f.Sweep = nil // nothing looks again by chance
		f.start()
		f.pass(time.Until(time.Date(2000, 1, 1, 6, 10, 0, 0, time.UTC)))
		// One deployment is to be weaker, which needs an approval. The other is to be
		// stronger: it waits for the end of the freeze.
		state := twoDeployments("c2", "xss")
		d := &state.Accounts[0].Zones[0].Deployments[0]
		d.Disable.Tags = append(d.Disable.Tags, desired.Declared[string]{Value: "rce"})
		state.Accounts[0].Zones[0].Deployments[1].Disable.Tags = nil
		f.repo.Commit("c2", commit{State: state})
		f.source.Poke()
		f.pass(soon)
		if got := f.offOf(1); got != "xss xss" {
			t.Fatalf("off are %q", got)
		}
		plan := f.planned()
		f.pass(time.Until(time.Date(2000, 1, 1, 8, 0, 5, 0, time.UTC)))
		if got := f.offOf(1); got != "xss " {
			t.Errorf("off are %q after the freeze", got)
		}
		for _, c := range plan.Changes {
			f.approve(c.ApprovalDigest())
		}
		f.pass(soon)
		if got := f.offOf(1); got != "rce,xss " {
			t.Errorf("off are %q after the approval", got)
		}
	})
}

// twoDeployments declares one zone that runs two managed rulesets.
func twoDeployments(commit string, tags ...string) desired.State {
	second := core(tags...)
	second.Ruleset = "credentials"
	return stateOf(commit, zoneOf(1, core(tags...), second))
}

// deployTwice has a zone run a second managed ruleset, which has the same rules.
func (f *fixture) deployTwice(i int) {
	f.t.Helper()
	rulesets := f.Platform.State().Accounts[0].Rulesets
	second := rulesets[slices.IndexFunc(rulesets, func(r edge.Ruleset) bool { return r.ID == mem.CoreRuleset })]
	second.ID, second.Name = mem.CredentialsRuleset, "Second"
	must.Do(f.t, f.Platform.SetRuleset(mem.Account, second))
	entry := f.Entry(i)
	rule := entry.Rules[0]
	rule.ID, rule.Ref = "22222222222222222222222222222222", "second"
	rule.ActionParameters = &edge.ActionParameters{ID: mem.CredentialsRuleset, Version: "latest"}
	entry.Rules = append(slices.Clone(entry.Rules), rule)
	must.Do(f.t, f.Platform.SetEntryPoint(mem.FleetZone(i), entry))
}

// offOf are the tags that are off in each deployment of a zone.
func (f *fixture) offOf(i int) string {
	text := ""
	for k, rule := range f.Entry(i).Rules {
		if k > 0 {
			text += " "
		}
		text += strings.Join(reconciletest.TagsOff(rule), ",")
	}
	return text
}

// Nothing of a commit that changes too much is written, in whatever order its zones
// come and however often the process begins anew, until somebody agrees; then all of
// it is.
func TestACommitOverALimit(t *testing.T) {
	for name, agree := range map[string]func(f *fixture){
		"the whole plan":  func(f *fixture) { f.approve(f.planned().ApprovalDigest()) },
		"what is refused": func(f *fixture) { f.approve(f.planned().Changes[0].Refused.Digest) },
		"each change": func(f *fixture) {
			for _, c := range f.planned().Changes {
				f.approve(c.ApprovalDigest())
			}
		},
	} {
		for _, restarted := range []bool{false, true} {
			runNamed(t, fmt.Sprintf("%s/restarted=%v", name, restarted), func(t *testing.T) {
				const n = 12
				f := guarded(t, n, atMost(10))
				f.push("c2", fleet(n, "rce")...)
				f.want(n, "xss")
				if restarted {
					f.restart()
					f.restart()
				}
				f.lookNow()
				f.pass(interval)
				f.want(n, "xss")
				agree(f)
				f.pass(soon)
				f.want(n, "rce")
				if left := f.record().Approvals; len(left) > 0 {
					t.Errorf("not spent: %v", left)
				}
				f.push("c3", fleet(n, "xss")...) // and it is another decision after that
				f.push("c4", fleet(n, "rce")...)
				f.want(n, "rce")
				if got := f.control.Current().State.Commit; got != "c4" {
					t.Errorf("in force is %s", got)
				}
			})
		}
	}
}

// What was approved is no part of what is counted: neither of the commit, nor of drift.
func TestWhatIsApprovedDoesNotCount(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 20
		f := guarded(t, n, atMost(5))
		f.push("c2", append(fleet(10, "rce"), fleet(n, "xss")[10:]...)...)
		if got := f.count(n, "rce"); got != 0 {
			t.Fatalf("%d zones are written", got)
		}
		f.approve(f.planned().ApprovalDigest())
		f.pass(soon)
		if got := f.count(n, "rce"); got != 10 {
			t.Fatalf("%d zones are written", got)
		}
		if got := f.record().Drifts; len(got) > 0 {
			t.Errorf("drifts on record: %v", got)
		}
		for i := 11; i <= 15; i++ { // as many as may drift
			f.click(i)
		}
		f.lookNow()
		if got := f.count(n, "xss"); got != 10 {
			t.Errorf("%d zones are as declared", got)
		}
	})
}

// Drift is counted in a window that lasts over commits, restarts and crashes.
func TestDriftKeepsToItsLimit(t *testing.T) {
	for name, between := range map[string]func(f *fixture, step int){
		"sweeps":   func(f *fixture, _ int) { f.lookNow() },
		"restarts": func(f *fixture, _ int) { f.restart() },
		"commits": func(f *fixture, step int) {
			f.push(fmt.Sprint("c", 2+step), but(fleet(40, "xss"), 40, fmt.Sprint("t", step))...)
			f.lookNow()
		},
		"crashes": func(f *fixture, _ int) { // nothing is proved or reported, ever
			f.records.FailBy(failsTo("prove"))
			f.restart()
			f.records.FailBy(nil)
		},
	} {
		runNamed(t, name, func(t *testing.T) {
			const n, most = 40, 10
			f := running(t, n)
			f.stop()
			f.Guards = atMost(most)
			f.Sweep = cron.Every(24 * time.Hour)
			f.start()
			f.drift(n - 1)
			f.calls.take()
			for step := range 5 {
				between(f, step)
				f.pass(time.Minute)
			}
			healed := map[string]bool{}
			for _, c := range only(f.calls.take(), "write") {
				if c.who != "40" {
					healed[c.who] = true
				}
			}
			if len(healed) == 0 || len(healed) > most {
				t.Errorf("%d zones are healed", len(healed))
			}
			f.pass(interval) // the window has passed
			f.lookNow()
			if got := f.count(n-1, "xss"); got <= len(healed) || got > 2*most {
				t.Errorf("%d zones are healed after the window, %d before", got, len(healed))
			}
		})
	}
}

// Who approves of all drift that a rule holds back has it healed, though it is looked
// at zone by zone.
func TestAnApprovalOfAllDrift(t *testing.T) {
	for name, guards := range map[string]reconcile.Guards{"approval": approving(guard.ApproveAll), "limit": atMost(0)} {
		runNamed(t, name, func(t *testing.T) {
			const n = 20
			f := guarded(t, n, guards)
			f.drift(n)
			f.lookNow()
			if got := f.count(n, "xss"); got != 0 {
				t.Fatalf("%d zones are healed", got)
			}
			f.approve(f.planned().ApprovalDigest())
			f.pass(soon)
			f.want(n, "xss")
			if left := f.record().Approvals; len(left) > 0 {
				t.Errorf("not spent: %v", left)
			}
		})
	}
}

// One approval of all that a rule holds back in a zone counts for each of its
// deployments.
func TestAnApprovalOfAZoneWithTwoDeployments(t *testing.T) {
	for _, drift := range []bool{false, true} {
		run(t, func(t *testing.T) {
			f := newFixture(t, 1)
			f.repo.Commit("c1", commit{State: twoDeployments("c1", "xss")})
			f.deployTwice(1)
			f.start()
			f.guard(approving(guard.ApproveAll))
			want := "xss xss"
			if drift {
				entry := f.Entry(1)
				for i := range entry.Rules {
					entry.Rules[i].ActionParameters.Overrides = nil
				}
				must.Do(t, f.Platform.SetEntryPoint(mem.FleetZone(1), entry))
				f.lookNow()
			} else {
				want = "rce rce"
				f.repo.Commit("c2", commit{State: twoDeployments("c2", "rce")})
				f.source.Poke()
				f.pass(soon)
			}
			if got := f.offOf(1); got == want {
				t.Fatalf("off are %q, and nobody has agreed", got)
			}
			f.approve(f.planned().Changes[0].Refused.Digest)
			f.pass(soon)
			if got := f.offOf(1); got != want {
				t.Errorf("drift %v: off are %q", drift, got)
			}
			if left := f.record().Approvals; len(left) > 0 {
				t.Errorf("not spent: %v", left)
			}
		})
	}
}

// Approvals that cannot be written down yet do not lose a commit its zones.
func TestApprovalsThatCannotBeRecorded(t *testing.T) {
	for _, op := range []string{"approve", "spend"} {
		runNamed(t, op, func(t *testing.T) {
			const n = 4
			f := guarded(t, n, approving(guard.ApproveAll))
			f.lookNow()
			f.push("c2", fleet(n, "rce")...)
			digest := f.planned().ApprovalDigest()
			f.push("c3", fleet(n, "xss")...)
			f.records.FailBy(failsTo(op))
			f.repo.Commit("c4", commit{
				State:     stateOf("c4", fleet(n, "rce")...),
				Approvals: []reconcile.Approval{{Digest: digest, Kind: reconcile.Approved, Who: "kim"}},
			})
			f.source.Poke()
			f.pass(soon)
			f.records.FailBy(nil)
			f.pass(time.Minute)
			f.want(n, "rce")
		})
	}
}

// An approval that a commit carries counts at once.
func TestACommitThatCarriesItsApproval(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 4
		f := guarded(t, n, approving(guard.ApproveAll))
		f.push("c2", fleet(n, "rce")...)
		plan := f.planned()
		f.repo.Commit("c3", commit{
			State:     stateOf("c3", fleet(n, "rce")...),
			Approvals: []reconcile.Approval{{Digest: plan.ApprovalDigest(), Kind: reconcile.Approved, Who: "kim"}},
		})
		f.source.Poke()
		f.pass(soon)
		f.want(n, "rce")
	})
}

// A label that a commit takes away does not take its own guard away, not once the change is
// proved and not by a restart: a person has to agree.
func TestGuardsGoByTheLabelsLastProvedToo(t *testing.T) {
	run(t, func(t *testing.T) {
		const n = 2
		gold := fleet(n, "xss")
		for i := range gold {
			gold[i].Labels = map[string]string{"tier": "gold"}
		}
		f := newFixture(t, n)
		f.repo.Push("c1", gold...)
		f.start()
		f.guard(reconcile.Guards{Rules: []guard.Rule{{Name: "gold", Labels: guard.Labels{"tier": "gold"}, Approve: guard.ApproveAll}}})
		f.push("c2", fleet(n, "rce")...)
		f.want(n, "xss")
		f.restart()
		f.want(n, "xss")
		f.approve(f.planned().ApprovalDigest())
		for _, c := range f.planned().Changes {
			f.approve(c.ApprovalDigest())
		}
		f.pass(soon)
		f.want(n, "rce")
		f.restart()
		f.push("c3", fleet(n, "php")...)
		f.want(n, "rce")
		for _, l := range f.leaving() {
			f.approve(l.Digest)
		}
		f.pass(soon)
		f.want(n, "php")
		f.restart()
		f.push("c4", fleet(n, "sqli")...)
		f.want(n, "sqli")
	})
}

// leaving is what would leave settings of the configuration with the accepted commit.
func (f *fixture) leaving() []diff.Leaving {
	f.t.Helper()
	record, err := f.records.Restore(context.Background())
	must.Do(f.t, err)
	leaving, _ := control.Departures(record, f.Guards, f.control.Current().State)
	return leaving
}

// A write of unknown outcome is sent once more only where it still may be: meanwhile the
// zone was held, or the commit was reverted.
func TestAWriteOfUnknownOutcomeIsNotSentAgainRegardless(t *testing.T) {
	for name, meanwhile := range map[string]func(f *fixture){
		"held": func(f *fixture) {
			f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(time.Hour)})
		},
		"reverted": func(f *fixture) {
			f.repo.Push("c3", fleet(1, "xss")...)
			f.source.Poke()
			time.Sleep(time.Second)
		},
	} {
		runNamed(t, name, func(t *testing.T) {
			f := running(t, 1)
			f.calls.answerBy(func(c call, send func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
				meanwhile(f)
				return nil, fmt.Errorf("%w: reset", edge.ErrOutcomeUnknown)
			})
			f.calls.take()
			f.push("c2", fleet(1, "rce")...)
			if got := only(f.calls.take(), "write"); len(got) != 1 {
				t.Errorf("%v", got)
			}
			f.calls.answerBy(nil)
			f.pass(2 * time.Hour)
			f.want(1, map[string]string{"held": "rce", "reverted": "xss"}[name])
		})
	}
}

// Drift counts for limits over a crash too that came before the declarations in force
// were on record.
func TestDriftCountsWhereTheStateIsNotOnRecord(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 2)
		f.Sweep, f.Interval, f.Guards = cron.Every(10*time.Minute), 10*time.Minute, atMost(1)
		f.records.FailBy(failsTo("save"))
		f.repo.Push("c1", fleet(2)...)
		f.start()
		for i := 1; i <= 2; i++ {
			f.click(i, "php")
			f.lookNow()
			f.restart()
		}
		f.lookNow()
		if off := []string{f.off(1), f.off(2)}; !slices.Equal(off, []string{"", "php"}) {
			t.Errorf("off are %q, want the second drift to wait", off)
		}
	})
}

// Each drift counts over restarts for as long as the window lasts, whatever was healed after it.
func TestDriftsAtSeveralTimesCountOverARestart(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 3)
		f.stop()
		f.Guards, f.Sweep = atMost(2), cron.Every(24*time.Hour)
		f.start()
		for i := 1; i <= 3; i++ {
			f.click(i, "php")
			f.lookNow()
			f.pass(time.Minute)
			f.restart()
		}
		f.lookNow()
		if off := []string{f.off(1), f.off(2), f.off(3)}; !slices.Equal(off, []string{"xss", "xss", "php"}) {
			t.Errorf("off are %q, want the third drift to wait", off)
		}
	})
}

// What was written because of a commit counts until another one is accepted, however often
// the process begins anew before it is proved.
func TestACommitIsCountedOnceOverRestarts(t *testing.T) {
	for name, between := range map[string]func(f *fixture){
		"none": func(*fixture) {}, "restart": (*fixture).restart, "two": func(f *fixture) { f.restart(); f.restart() },
	} {
		runNamed(t, name, func(t *testing.T) {
			f := newFixture(t, 3)
			f.Guards = atMost(1)
			f.records.FailBy(failsTo("prove"))
			f.repo.Push("c1", but(fleet(3), 1, "xss")...)
			f.start()
			f.pass(soon)
			f.want(1, "xss")
			between(f)
			f.click(2, "php")
			f.lookNow()
			f.pass(soon)
			if off := f.off(2); off != "php" {
				t.Errorf("off is %q: a second zone is written", off)
			}
			f.records.FailBy(nil)
			f.push("c2", but(fleet(3), 1, "xss")...) // another commit counts from nothing
			f.lookNow()
			f.pass(soon)
			if off := f.off(2); off != "" {
				t.Errorf("off is %q after another commit", off)
			}
		})
	}
}
