package once

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestKeepTakesBackWhatWasOurs(t *testing.T) {
	f := newFixture(t, 1)
	f.Click(1, switchedOff("wordpress"))
	f.repo.Push("c1", declare(1, keeping(core("xss", "php"))))
	f.converge(Order{})
	f.repo.Push("c2", declare(1, keeping(core("php"))))
	f.converge(Order{})
	f.wantOff(1, "php", "wordpress")
}

// While a change waits, what the last applied commit owned stays remembered.
func TestKeepRemembersAcrossFailures(t *testing.T) {
	for name, spoil := range map[string]func(*fixture){
		"it cannot be read":      func(f *fixture) { f.tamper.Read = failZone(1, errDown) },
		"it cannot be written":   func(f *fixture) { f.tamper.Write = failWrite(1, errForbidden) },
		"the record is not made": func(f *fixture) { f.records.Fails = func(string) error { return errFull } },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 1)
			f.repo.Push("c1", declare(1, keeping(core("xss", "php"))))
			f.converge(Order{})
			f.repo.Push("c2", declare(1, keeping(core("php"))))
			spoil(f)
			if report, _ := f.apply(Order{}); report.Converged() {
				t.Error("converged")
			}
			f.tamper.Read, f.tamper.Write, f.records.Fails = nil, nil, nil
			f.repo.Push("c3", declare(1, keeping(core("php", "sqli"))))
			f.converge(Order{})
			f.wantOff(1, "php", "sqli")
		})
	}
}

// What a change is about to own is on record before it is sent, beside what was owned;
// the proof narrows it.
func TestOwnershipIsWidenedThenNarrowed(t *testing.T) {
	f := newFixture(t, 1)
	f.repo.Push("c1", declare(1, keeping(core("xss"))))
	f.converge(Order{})
	xss := f.recall().Applied[deploymentID(1)]
	f.repo.Push("c2", declare(1, keeping(core("php"))))
	f.tamper.Write = failWrite(1, errForbidden)
	f.apply(Order{})
	union := f.recall().Applied[deploymentID(1)]
	f.tamper.Write = nil
	f.converge(Order{})
	php := f.recall().Applied[deploymentID(1)]
	if len(xss) == 0 || len(php) == 0 || len(union) <= len(xss) {
		t.Fatalf("owned %v, then %v, then %v", xss, union, php)
	}
	for _, member := range slices.Concat(xss, php) {
		if !slices.Contains(union, member) {
			t.Errorf("%v is not owned while it is in doubt", member)
		}
	}
	if slices.Equal(xss, php) {
		t.Errorf("owned %v", php)
	}
	f.records.Made = nil
	f.converge(Order{})
	if slices.Contains(f.records.Made, "widen") {
		t.Errorf("an apply without a change records %v", f.records.Made)
	}
}

func TestUndecidedStaysUntilDecided(t *testing.T) {
	for decision, c := range map[string]struct {
		decide func(desired.Deployment) desired.Deployment
		off    []string
	}{
		"keep":   {keeping, []string{"php", "xss"}},
		"remove": {removing, []string{"xss"}},
	} {
		t.Run(decision, func(t *testing.T) {
			f := newFixture(t, 1)
			f.Click(1, switchedOff("php"))
			f.repo.Push("c1", declare(1, core("xss")))
			for i := range 2 {
				report, calls := f.apply(Order{})
				if len(report.Plan.Problems) != 1 || report.Plan.Problems[0].State != diff.Undecided || report.Converged() {
					t.Fatalf("problems %+v", report.Plan.Problems)
				}
				if writes(calls) != 1-i {
					t.Fatalf("calls %v", calls)
				}
				f.wantOff(1, "php", "xss")
			}
			f.repo.Push("c2", declare(1, c.decide(core("xss"))))
			f.converge(Order{})
			f.wantOff(1, c.off...)
		})
	}
}

// credentials declares a deployment of the other managed ruleset.
func credentials() desired.Deployment {
	d := core("exposed-credentials")
	d.Ruleset = "credentials"
	return d
}

// deployBoth has zone 1 run both managed rulesets.
func (f *fixture) deployBoth() {
	f.t.Helper()
	entry := f.Entry(1)
	second := entry.Rules[0]
	second.ID, second.Ref = "", "credentials"
	second.ActionParameters = &edge.ActionParameters{ID: mem.CredentialsRuleset, Version: "latest"}
	entry.Rules = append(entry.Rules, second)
	must.Do(f.t, f.Platform.SetEntryPoint(mem.FleetZone(1), entry))
}

// A deployment that left the repository is forgotten: when it comes back, what
// hands have put there meanwhile does not pass for ours.
func TestDeploymentThatLeftIsForgotten(t *testing.T) {
	for name, c := range map[string]struct {
		without []desired.Zone
		spoil   func(*fixture)
	}{
		"its zone":                   {[]desired.Zone{declare(2, core())}, func(*fixture) {}},
		"only it":                    {[]desired.Zone{declare(1), declare(2, core())}, func(*fixture) {}},
		"only it, and nothing works": {[]desired.Zone{declare(1, keeping(credentials())), declare(2, core("sqli"))}, func(f *fixture) { f.tamper.Read = func(edge.Scope) error { return errDown } }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 2)
			f.deployBoth()
			f.repo.Push("c1", declare(1, keeping(core("xss", "php"))))
			f.converge(Order{})
			gone := diff.ID{Scope: mem.FleetZone(3), Ruleset: mem.CoreRuleset} // never settled
			must.Do(f.t, f.records.NonConvergent(t.Context(), gone, "f"))
			f.repo.Push("c2", c.without...)
			c.spoil(f)
			f.apply(Order{AllowShrink: true}) // all that there was is gone, whatever is added
			f.tamper.Read = nil
			if got := f.recall(); got.Applied[deploymentID(1)] != nil || len(got.NonConvergent) != 0 {
				t.Fatalf("still remembered: %v", got)
			}
			f.repo.Push("c3", declare(1, keeping(core("xss"))))
			f.converge(Order{AllowShrink: true})
			f.wantOff(1, "php", "xss")
		})
	}
}

// What cannot be told to be gone is not forgotten.
func TestDeploymentThatCannotBeToldIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*fixture)
		order Order
	}{
		"the list cannot be read": {func(f *fixture) { f.tamper.List = func(edge.AccountID) error { return errDown } }, Order{}},
		"the name is wrong":       {func(f *fixture) { f.repo.Commits["c2"].State.Accounts[0].Rulesets[0].Name = "Core Rulesets" }, Order{}},
		"a run over other zones":  {func(*fixture) {}, Order{Zones: []string{zoneKey(1)}}},
		"the commit is invalid":   {func(f *fixture) { f.repo.Commit("c3", commit{Problems: []desired.Problem{mistake("no")}}) }, Order{}},
		"the commit has shrunk":   {func(f *fixture) { f.repo.Push("c3") }, Order{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 2)
			f.repo.Push("c1", declareAll(2, core("xss"))...)
			f.converge(Order{})
			must.Do(f.t, f.records.NonConvergent(t.Context(), deploymentID(2), "f"))
			f.repo.Push("c2", declare(1, core("php")), declare(2, core("xss")))
			c.spoil(f)
			f.apply(c.order)
			got := f.recall()
			if _, ok := got.Applied[deploymentID(2)]; !ok || got.NonConvergent[deploymentID(2)] != "f" || got.Proofs[mem.FleetZone(2)].Fingerprint == "" {
				t.Errorf("remembered %+v", got)
			}
		})
	}
}

// Nothing is proved of a commit that is refused as a whole: what is in force stays what
// the record is about.
func TestRefusedCommitProvesNothing(t *testing.T) {
	f := newFixture(t, 4)
	f.repo.Push("c1", declareAll(4, keeping(core("xss")))...)
	f.converge(Order{})
	before := f.recall()
	f.repo.Push("c2", declare(1, keeping(core("php"))), declare(2, keeping(core("xss"))))
	f.Click(1, switchedOff("php"))
	f.guards.Shrink = guard.Shrink{Percent: 10}
	f.apply(Order{})
	if got := f.recall(); fmt.Sprint(got.Proofs) != fmt.Sprint(before.Proofs) || fmt.Sprint(got.Applied) != fmt.Sprint(before.Applied) {
		t.Errorf("on record %+v, before %+v", got, before)
	}
}

// A proof is of a whole zone: of one of which a deployment is not as declared there is
// none.
func TestProofIsOfTheWholeZone(t *testing.T) {
	f := newFixture(t, 1)
	f.deployBoth()
	labelled := declare(1, core("xss"), credentials())
	labelled.Labels = map[string]string{"tier": "gold"}
	f.repo.Push("c1", labelled)
	n := 0
	f.tamper.Write = failEach(func() bool { n++; return n == 2 }, errForbidden)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged", "1 failed")
	if got := f.recall(); len(got.Proofs) != 0 || len(got.Applied[deploymentID(1)]) == 0 {
		t.Errorf("on record %+v", got)
	}
	f.tamper.Write = nil
	f.converge(Order{})
	want := reconcile.Proof{
		Scope: mem.FleetZone(1), Commit: "c1", Labels: guard.Labels{"tier": "gold"},
		Fingerprint: labelled.Fingerprint(f.repo.Commits["c1"].State.Accounts[0]),
	}
	if got := f.recall().Proofs[mem.FleetZone(1)]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("proved %+v, want %+v", got, want)
	}
}

// A fleet that comes and goes leaves nothing behind.
func TestNothingGrowsOverManyRuns(t *testing.T) {
	f := newFixture(t, 5)
	f.tamper.Read = failZone(4, errDown)
	for i := range 20 {
		f.repo.Push(fmt.Sprint("c", i), declare(1+i%2, core("xss")), declare(3+i%2, core("php")))
		f.apply(Order{})
	}
	if got := f.recall(); len(got.Applied) > 2 || len(got.NonConvergent) != 0 || len(got.Proofs) > 2 || len(got.Approvals) != 0 {
		t.Errorf("on record %+v", got)
	}
}

// What could not be forgotten, or narrowed, is told and made up for by the next run.
func TestRecordsThatFailAtTheEnd(t *testing.T) {
	for _, call := range []string{"forget", "prove", "spend"} {
		t.Run(call, func(t *testing.T) {
			f := newFixture(t, 2)
			f.deployBoth()
			f.repo.Push("c1", declare(1, core("xss"), credentials()), declare(2, core()))
			f.converge(Order{})
			f.guards = calm
			f.repo.Push("c2", declare(1, core("xss")), declare(2, core()), declare(3))
			f.repo.Commits["c2"].State.Accounts[0].Zones[1] = declare(2, core("php"))
			report, _ := f.plan(Order{})
			order := approving(report.Plan.ApprovalDigest())
			f.records.Fails = func(c string) error {
				if c == call {
					return errFull
				}
				return nil
			}
			report, _ = f.apply(order)
			if !errors.Is(report.Err, errFull) || report.Converged() {
				t.Errorf("error %v, results %v", report.Err, outcomes(report))
			}
			f.records.Fails = nil
			f.apply(order)
			got := f.recall()
			if len(got.Applied) != 2 || got.Proofs[mem.FleetZone(2)].Commit != "c2" {
				t.Errorf("on record %+v", got)
			}
		})
	}
}
